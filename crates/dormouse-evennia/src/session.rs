//! The connection of one resident to the game. It decides what to do next from what happened and from the time. Nothing here
//! waits or does I/O.

mod asked;
mod pace;

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use crate::{
    event::GameEvent,
    frame::{
        FeedPosition, FromGame, GameError, GameHello, Password, ServerEvent, StaffCommand, ToGame,
    },
    notice::Notice,
    room::{EntityKind, GameEntity},
};
use asked::Asked;
pub(crate) use asked::{Answer, Ask, AskId};
use pace::Pace;

/// The interval at which an unanswered request is repeated, because the server loses input while it reloads.
const LOGIN_AGAIN: Duration = Duration::from_secs(4);
const HELLO_AGAIN: Duration = Duration::from_secs(1);

/// After this many greetings without an answer the game does not have the package.
const HELLOS: u32 = 8;

/// After this many greetings without an answer, if the game is known to have the package, the connection is closed and opened
/// again. A restart takes up to half a minute.
const HELLOS_OF_OLD: u32 = 40;

/// After this many refused logins nothing more is tried, because the game locks the address out after five.
const LOGINS: u32 = 3;

/// The pause before the next connection, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The pause after another client logged in to the account. That may have been a check of the connection, which takes seconds.
const TAKEN_OVER: Duration = Duration::from_secs(15);

/// The pause between greetings of a game that has no package.
const LONG_PAUSE: Duration = Duration::from_secs(60);

/// After this long in the game a connection counts as good, and the next pause is the first again.
const SETTLED: Duration = Duration::from_secs(10);

/// The interval at which the connection is tested, and how long it may be silent until it counts as lost.
const PING_EVERY: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(50);

/// How often something is typed, so that the game's idle time-out does not end the session.
const IDLE_EVERY: Duration = Duration::from_secs(170);

/// Acknowledgements are collected for this long.
const ACK_WITHIN: Duration = Duration::from_millis(200);

/// The server prints this, without attestation, when it was restarted.
const RESTARTED: &str = "Server restarted";

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Connect,
    /// Close the connection, in the way that leaves no ghost in the game.
    HangUp,
    Send(ToGame),
    Ping,
    /// Store an entry of the feed, and report that with [`Session::stored`].
    Store(Box<GameEvent>),
    /// Something of a game without the package, for the observer.
    Watch(String),
    /// Entries of the feed are lost.
    Lost {
        after: u64,
        count: u64,
    },
    Answer(AskId, Answer),
    Staff(StaffCommand),
    Report(Notice),
}

/// Where the connection is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Not connected, until then.
    Away {
        until: Instant,
    },
    Connecting,
    LoggingIn {
        again: Instant,
        tried: u32,
        refused: u32,
        was_answered: bool,
    },
    /// Logged in; the package was greeted this often. Until the package answers, what is sent may be lost.
    Greeting {
        again: Instant,
        tried: u32,
    },
    Ready {
        since: Instant,
    },
    /// Logged in to a game without the package.
    Watching {
        again: Instant,
    },
    /// Nothing is tried any more.
    Stopped,
}

/// The connection of one resident.
#[derive(Debug)]
pub(crate) struct Session {
    account: String,
    /// The id of the game that the account is in.
    game: Option<String>,
    password: Password,
    phase: Phase,
    failures: u32,
    /// When anything was last received, and when the connection was last tested.
    heard: Instant,
    pinged: Instant,
    typed: Instant,
    hello: Option<GameHello>,
    /// Whether it takes up its character if the next answer of the package says that it plays nobody.
    may_enter: bool,
    /// Whether it ever does; a check of the connection changes nothing in the game.
    enters: bool,
    /// The newest entry of the feed that is stored.
    stored: Option<FeedPosition>,
    /// The newest entry that was received since the last greeting.
    received: Option<u64>,
    ack_at: Option<Instant>,
    asked: Asked,
    pace: Pace,
    actions: VecDeque<Action>,
    /// Frames that wait because the game accepts only so many in a second.
    sends: VecDeque<ToGame>,
}

impl Session {
    pub(crate) fn new(account: &str, password: Password, now: Instant) -> Self {
        Self {
            account: account.to_owned(),
            game: None,
            password,
            phase: Phase::Away { until: now },
            failures: 0,
            heard: now,
            pinged: now,
            typed: now,
            hello: None,
            may_enter: false,
            enters: false,
            stored: None,
            received: None,
            ack_at: None,
            asked: Asked::default(),
            pace: Pace::default(),
            actions: VecDeque::new(),
            sends: VecDeque::new(),
        }
    }

    /// Continues what an earlier program left: `game` is the id of the game that the account was in, `stored` the newest entry
    /// of its feed that is stored.
    pub(crate) fn resumes(self, game: Option<String>, stored: Option<FeedPosition>) -> Self {
        Self {
            game,
            stored,
            enters: true,
            ..self
        }
    }

    /// The resident in the game, once the package has named it.
    pub(crate) fn you(&self) -> Option<&GameEntity> {
        self.hello.as_ref().map(|hello| &hello.you)
    }

    /// The account in the game.
    pub(crate) fn account(&self) -> &str {
        &self.account
    }

    /// The id of the resident's life in the game. The game makes one for each account of a resident.
    pub(crate) fn life(&self) -> Option<&str> {
        self.hello.as_ref().map(|hello| &*hello.life)
    }

    /// The next thing to do. If nothing is due, wait until [`next_at`](Self::next_at).
    pub(crate) fn next(&mut self, now: Instant) -> Option<Action> {
        self.advance(now);
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        if !self.pace.allows(now) {
            return None;
        }
        let frame = self.sends.pop_front()?;
        self.pace.note(now);
        Some(Action::Send(frame))
    }

    /// When something has to be done if nothing happens until then.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Away { until } => Some(until),
            Phase::LoggingIn { again, .. }
            | Phase::Greeting { again, .. }
            | Phase::Watching { again } => Some(again),
            Phase::Connecting | Phase::Ready { .. } | Phase::Stopped => None,
        };
        let tested = self
            .is_open()
            .then(|| (self.heard + SILENCE).min(self.pinged + PING_EVERY));
        let typed = self.is_logged_in().then(|| self.typed + IDLE_EVERY);
        let paced = (!self.sends.is_empty())
            .then(|| self.pace.next_at())
            .flatten();
        let acknowledged = self.ack_at.filter(|_| self.is_ready());
        let asked = self.asked.next_at(self.is_ready());
        let times = [phase, tested, typed, paced, acknowledged, asked];
        times.into_iter().flatten().min()
    }

    fn is_open(&self) -> bool {
        !matches!(
            self.phase,
            Phase::Away { .. } | Phase::Connecting | Phase::Stopped
        )
    }

    fn is_logged_in(&self) -> bool {
        matches!(
            self.phase,
            Phase::Greeting { .. } | Phase::Ready { .. } | Phase::Watching { .. }
        )
    }

    fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready { .. })
    }

    /// Whether requests may still be answered.
    fn may_get_ready(&self) -> bool {
        !matches!(self.phase, Phase::Watching { .. } | Phase::Stopped)
    }

    fn send(&mut self, frame: ToGame) {
        self.sends.push_back(frame);
    }

    fn report(&mut self, notice: Notice) {
        self.actions.push_back(Action::Report(notice));
    }

    /// Asks the game for something. The answer follows in any case.
    pub(crate) fn ask(&mut self, id: AskId, ask: Ask, now: Instant) {
        self.asked.add(id, ask, now);
    }

    /// The answer of the operator's program to a staff command.
    pub(crate) fn staff_done(&mut self, id: String, text: String, ok: bool) {
        self.send(ToGame::StaffDone { id, text, ok });
    }

    fn advance(&mut self, now: Instant) {
        match self.phase {
            Phase::Away { until } if until <= now => {
                self.phase = Phase::Connecting;
                self.actions.push_back(Action::Connect);
            }
            Phase::LoggingIn {
                again,
                tried,
                refused,
                was_answered,
            } if again <= now => {
                let refused = refused + u32::from(was_answered);
                if refused >= LOGINS {
                    self.stop(Notice::NotLetIn {
                        account: self.account.clone(),
                    });
                } else {
                    self.log_in(tried, refused, now);
                }
            }
            Phase::Greeting { again, tried } if again <= now => {
                match (tried < HELLOS, &self.hello) {
                    (true, _) => self.greet(tried, now),
                    (false, None) => self.watch(now),
                    // It has the package, so something else is wrong with this connection.
                    (false, Some(_)) if tried >= HELLOS_OF_OLD => {
                        self.actions.push_back(Action::HangUp);
                        self.closed("the game does not answer".to_owned(), now);
                    }
                    (false, Some(_)) => self.greet(tried, now),
                }
            }
            Phase::Watching { again } if again <= now => {
                self.phase = Phase::Watching {
                    again: now + LONG_PAUSE,
                };
                let position = self.stored.clone();
                self.send(ToGame::Hello(position));
            }
            _ => {}
        }
        self.keep_alive(now);
        if self.ack_at.is_some_and(|at| at <= now) && self.is_ready() {
            self.ack_at = None;
            if let Some(seq) = self.stored.as_ref().map(|it| it.seq) {
                self.send(ToGame::Ack(seq));
            }
        }
        let (is_ready, may_wait) = (self.is_ready(), self.may_get_ready());
        let due = self.asked.due(is_ready, may_wait, now);
        for (id, answer) in due.answers {
            self.actions.push_back(Action::Answer(id, answer));
        }
        for frame in due.frames {
            self.send(frame);
        }
    }

    fn keep_alive(&mut self, now: Instant) {
        if !self.is_open() {
            return;
        }
        if self.heard + SILENCE <= now {
            self.actions.push_back(Action::HangUp);
            self.closed("nothing was heard for too long".to_owned(), now);
            return;
        }
        if self.pinged + PING_EVERY <= now {
            self.pinged = now;
            self.actions.push_back(Action::Ping);
            // Of a server that was killed behind its portal nothing is heard. What it kept and did not send comes now.
            self.look_again();
        }
        if self.is_logged_in() && self.typed + IDLE_EVERY <= now {
            self.typed = now;
            self.send(ToGame::Idle);
        }
    }

    fn log_in(&mut self, tried: u32, refused: u32, now: Instant) {
        self.phase = Phase::LoggingIn {
            again: now + LOGIN_AGAIN,
            tried: tried + 1,
            refused,
            was_answered: false,
        };
        let (account, password) = (self.account.clone(), self.password.clone());
        self.send(ToGame::Login { account, password });
    }

    fn greet(&mut self, tried: u32, now: Instant) {
        self.phase = Phase::Greeting {
            again: now + HELLO_AGAIN,
            tried: tried + 1,
        };
        self.ack_at = None;
        self.send(ToGame::Hello(self.stored.clone()));
    }

    /// Asks the game who and where the resident is, and for what it keeps for it.
    fn look_again(&mut self) {
        if self.is_ready() {
            self.send(ToGame::Hello(self.stored.clone()));
        }
    }

    fn watch(&mut self, now: Instant) {
        self.phase = Phase::Watching {
            again: now + LONG_PAUSE,
        };
        self.report(Notice::Observing);
    }

    /// Ends the connection for good.
    pub(crate) fn stop(&mut self, why: Notice) {
        self.phase = Phase::Stopped;
        self.actions.push_back(Action::HangUp);
        self.report(why);
    }

    /// The connection is open.
    pub(crate) fn opened(&mut self, now: Instant) {
        (self.heard, self.pinged, self.typed) = (now, now, now);
        self.log_in(0, 0, now);
    }

    /// The connection ended, or could not be opened.
    pub(crate) fn closed(&mut self, why: String, now: Instant) {
        if matches!(self.phase, Phase::Stopped | Phase::Away { .. }) {
            return;
        }
        if let Phase::Ready { since } = self.phase
            && since + SETTLED <= now
        {
            self.failures = 0;
        }
        let pause = FIRST_PAUSE
            .saturating_mul(1 << self.failures.min(10))
            .min(LONGEST_PAUSE);
        // Frames of this connection mean nothing to the next one.
        self.sends.clear();
        self.asked.disconnected();
        self.ack_at = None;
        if self.failures == 0 {
            self.report(Notice::Disconnected { why });
        }
        self.failures = self.failures.saturating_add(1);
        self.phase = Phase::Away { until: now + pause };
    }

    /// An entry of the feed is stored.
    pub(crate) fn stored(&mut self, position: FeedPosition, now: Instant) {
        self.stored = Some(position);
        self.ack_at.get_or_insert(now + ACK_WITHIN);
    }

    /// A frame could not be read.
    pub(crate) fn skipped(&mut self, why: String, now: Instant) {
        self.heard = now;
        self.report(Notice::Skipped { why });
    }

    /// Something other than a frame came, such as the answer to a test of the connection.
    pub(crate) fn is_alive(&mut self, now: Instant) {
        self.heard = now;
    }

    /// A frame came.
    pub(crate) fn received(&mut self, frame: FromGame, now: Instant) {
        self.heard = now;
        match frame {
            FromGame::LoggedIn => {
                if matches!(self.phase, Phase::LoggingIn { .. }) {
                    self.may_enter = self.enters;
                    self.send(ToGame::Options);
                    self.greet(0, now);
                }
            }
            FromGame::Text(text) => self.text(&text, now),
            FromGame::Hello(hello) => self.greeted(*hello, now),
            FromGame::Event(event) => self.event(event, now),
            FromGame::Done(done) => {
                if let Some((id, answer)) = self.asked.done(done) {
                    self.actions.push_back(Action::Answer(id, answer));
                }
            }
            FromGame::State(state) => {
                if let Some((id, answer)) = self.asked.seen(*state) {
                    self.actions.push_back(Action::Answer(id, answer));
                }
            }
            FromGame::Server(event) => {
                self.report(match event {
                    ServerEvent::Reloading => Notice::Reloading,
                    ServerEvent::Stopping => Notice::Stopping,
                });
                self.interrupted(now);
            }
            FromGame::You => self.look_again(),
            FromGame::Staff(command) => self.actions.push_back(Action::Staff(command)),
            FromGame::Error(error) => self.refused(error, now),
            FromGame::Other => {}
        }
    }

    /// The server does not receive for a while. Requests without an answer are sent again when the server answers a greeting.
    fn interrupted(&mut self, now: Instant) {
        if self.is_ready() || matches!(self.phase, Phase::Greeting { .. }) {
            self.asked.disconnected();
            self.phase = Phase::Greeting {
                again: now + HELLO_AGAIN,
                tried: 0,
            };
        }
    }

    fn text(&mut self, text: &str, now: Instant) {
        match &mut self.phase {
            Phase::LoggingIn {
                was_answered,
                tried,
                ..
            } => {
                let text = text.to_lowercase();
                let is_final = [
                    "password is incorrect",
                    "too many login failures",
                    // Each further try would count against all accounts of this address.
                    "you have been banned",
                ];
                if is_final.iter().any(|words| text.contains(words)) {
                    let account = self.account.clone();
                    self.stop(Notice::NotLetIn { account });
                } else if *tried > 1 && !text.contains(&RESTARTED.to_lowercase()) {
                    // The first text is the game's greeting.
                    *was_answered = true;
                }
            }
            Phase::Ready { .. } | Phase::Greeting { .. } if text.contains(RESTARTED) => {
                self.asked.disconnected();
                let played = |you: &GameEntity| you.kind == EntityKind::Object;
                self.may_enter |= self.enters && self.you().is_some_and(played);
                self.greet(0, now);
            }
            Phase::Watching { .. } => self.actions.push_back(Action::Watch(text.to_owned())),
            _ => {}
        }
    }

    fn greeted(&mut self, hello: GameHello, now: Instant) {
        if !matches!(
            self.phase,
            Phase::Greeting { .. } | Phase::Watching { .. } | Phase::Ready { .. }
        ) {
            return;
        }
        if hello.v != crate::frame::PROTOCOL {
            self.stop(Notice::Version { game: hello.v });
            return;
        }
        self.received = None;
        // The same numbers are other people there, who must not hear what those of this game may hear.
        if self.game.as_ref().is_some_and(|it| *it != hello.life) {
            let account = self.account.clone();
            self.stop(Notice::AnotherGame { account });
            return;
        }
        self.game = Some(hello.life.clone());
        if hello.restored {
            self.report(Notice::Restored);
        }
        if hello.lost > 0 {
            // The place is what distinguishes this loss from another one of the same length.
            let after = self.stored.as_ref().map_or(hello.seq, |it| it.seq);
            self.actions.push_back(Action::Lost {
                after,
                count: hello.lost,
            });
            self.report(Notice::Lost { count: hello.lost });
        }
        let is_first = self.hello.as_ref().map(|it| &it.problems) != Some(&hello.problems);
        if is_first {
            for problem in hello.problems.clone() {
                self.report(Notice::Problem { problem });
            }
        }
        if !self.is_ready() {
            self.report(Notice::Ready {
                name: hello.you.key.clone(),
                game: hello.game.clone(),
                evennia: hello.evennia.clone(),
                package: hello.package.clone(),
            });
            self.phase = Phase::Ready { since: now };
        }
        // A login while the server starts, or in a game that lets players choose, ends without a character. Once for each
        // login and restart: later, staff may take the character away.
        if std::mem::take(&mut self.may_enter) && hello.you.kind == EntityKind::Account {
            self.send(ToGame::Enter);
        }
        self.hello = Some(hello);
    }

    /// Whether this entry of the feed was stored before. Numbers never repeat in one life.
    fn has_stored(&self, seq: u64) -> bool {
        let is_behind =
            |stored: &FeedPosition| Some(&*stored.life) == self.life() && seq <= stored.seq;
        self.stored.as_ref().is_some_and(is_behind)
    }

    fn event(&mut self, event: Box<GameEvent>, now: Instant) {
        if !self.is_ready() {
            return;
        }
        if self.has_stored(event.seq) {
            return;
        }
        match self.received {
            // It came twice.
            Some(last) if event.seq <= last => {}
            // Acknowledging it would also acknowledge what is missing, so that is asked for first.
            Some(last) if event.seq > last + 1 => self.greet(0, now),
            _ => {
                self.received = Some(event.seq);
                self.actions.push_back(Action::Store(event));
            }
        }
    }

    fn refused(&mut self, error: GameError, now: Instant) {
        match error.code.as_str() {
            "not_logged_in" | "hello_first" => {
                if self.is_ready() {
                    self.greet(0, now);
                }
            }
            "not_resident" => self.stop(Notice::NotResident {
                account: self.account.clone(),
            }),
            "version" => self.stop(Notice::Version { game: 0 }),
            "taken_over" => {
                self.report(Notice::TakenOver);
                self.asked.disconnected();
                self.phase = Phase::Greeting {
                    again: now + TAKEN_OVER,
                    tried: 0,
                };
            }
            _ => match self.asked.refused(&error) {
                Some((id, answer)) => self.actions.push_back(Action::Answer(id, answer)),
                None => self.report(Notice::Refused { error: error.error }),
            },
        }
    }
}

#[cfg(test)]
mod tests;
