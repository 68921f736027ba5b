//! What was asked of the game, until it is answered.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use crate::{
    frame::{ActDone, ActState, GameError, Hearers, ToGame},
    room::RoomState,
};

/// How long a request waits for a connection.
const UNSENT: Duration = Duration::from_secs(10);

/// How long a request waits for its answer, counted from when it was first sent. The engine waits 30 s for an act.
const UNANSWERED: Duration = Duration::from_secs(25);

/// How often it is sent again. A game carries out a key once, so this is safe for acts as well.
const AGAIN: Duration = Duration::from_secs(4);

/// The number of a request.
pub(crate) type AskId = u64;

/// A request to the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Carry out a command line, if nobody hears it who must not.
    Act {
        key: String,
        line: String,
        only: Option<Hearers>,
    },
    /// What became of an act.
    Receipt { key: String },
    /// Who and what is around.
    State,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Done(ActDone),
    Seen(Box<RoomState>),
    /// The game refused it, and did nothing.
    Refused(String),
    /// Somebody else would hear it now. Nothing was done.
    Changed,
    /// The game does not know whether it happened, or did not answer.
    Unknown,
    /// It was certainly not carried out.
    NotReached,
}

#[derive(Debug)]
struct Pending {
    ask: Ask,
    since: Instant,
    /// When it was first sent, and when it was last sent. The last time is absent if the connection has ended since.
    first_sent: Option<Instant>,
    last_sent: Option<Instant>,
}

impl Pending {
    fn frame(&self, id: AskId) -> ToGame {
        match &self.ask {
            Ask::Act { key, line, only } => ToGame::Act {
                key: key.clone(),
                line: line.clone(),
                only: only.clone(),
            },
            Ask::Receipt { key } => ToGame::Receipt(key.clone()),
            Ask::State => ToGame::State(id),
        }
    }

    fn deadline(&self) -> Instant {
        match self.first_sent {
            Some(sent) => sent + UNANSWERED,
            None => self.since + UNSENT,
        }
    }

    /// How it ends if it is not answered.
    fn unanswered(&self) -> Answer {
        match (&self.ask, self.first_sent) {
            (Ask::Act { .. }, Some(_)) => Answer::Unknown,
            _ => Answer::NotReached,
        }
    }

    fn is_about(&self, key: &str) -> bool {
        match &self.ask {
            Ask::Act { key: own, .. } | Ask::Receipt { key: own } => own == key,
            Ask::State => false,
        }
    }
}

/// All requests that were not answered.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pending: BTreeMap<AskId, Pending>,
}

/// What is due.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) answers: Vec<(AskId, Answer)>,
    pub(super) frames: Vec<ToGame>,
}

impl Asked {
    pub(super) fn add(&mut self, id: AskId, ask: Ask, now: Instant) {
        let pending = Pending {
            ask,
            since: now,
            first_sent: None,
            last_sent: None,
        };
        self.pending.insert(id, pending);
    }

    /// The connection ended, or the server lost the requests that were sent.
    pub(super) fn disconnected(&mut self) {
        for pending in self.pending.values_mut() {
            pending.last_sent = None;
        }
    }

    pub(super) fn next_at(&self, is_ready: bool) -> Option<Instant> {
        let times = self.pending.values().map(|pending| {
            let again = match pending.last_sent {
                Some(sent) => sent + AGAIN,
                None => pending.since,
            };
            match is_ready {
                true => pending.deadline().min(again),
                false => pending.deadline(),
            }
        });
        times.min()
    }

    /// What has to be sent now, and what is given up.
    pub(super) fn due(&mut self, is_ready: bool, may_wait: bool, now: Instant) -> Due {
        let mut due = Due::default();
        self.pending.retain(|id, pending| {
            let is_over = pending.deadline() <= now || (!may_wait && !is_ready);
            if is_over {
                due.answers.push((*id, pending.unanswered()));
            }
            !is_over
        });
        if is_ready {
            for (id, pending) in &mut self.pending {
                if pending.last_sent.is_none_or(|sent| sent + AGAIN <= now) {
                    pending.last_sent = Some(now);
                    pending.first_sent.get_or_insert(now);
                    due.frames.push(pending.frame(*id));
                }
            }
        }
        due
    }

    /// The game reports an act.
    pub(super) fn done(&mut self, done: ActDone) -> Option<(AskId, Answer)> {
        let of_this = |(_, pending): &(&AskId, &Pending)| pending.is_about(&done.key);
        let (id, pending) = self.pending.iter().find(of_this)?;
        let id = *id;
        let is_act = matches!(pending.ask, Ask::Act { .. });
        if is_act && done.state == ActState::Begun && done.running {
            return None;
        }
        self.pending.remove(&id);
        Some((id, Answer::Done(done)))
    }

    /// The game reports what is around.
    pub(super) fn seen(&mut self, state: RoomState) -> Option<(AskId, Answer)> {
        let id = state.req;
        let is_asked = self.pending.get(&id).is_some_and(|it| it.ask == Ask::State);
        is_asked.then(|| {
            self.pending.remove(&id);
            (id, Answer::Seen(Box::new(state)))
        })
    }

    /// The game refuses an act.
    pub(super) fn refused(&mut self, error: &GameError) -> Option<(AskId, Answer)> {
        let key = error.about.as_deref()?;
        let (id, _) = self
            .pending
            .iter()
            .find(|(_, pending)| pending.is_about(key))?;
        let id = *id;
        self.pending.remove(&id);
        let answer = match error.code.as_str() {
            "changed" => Answer::Changed,
            _ => Answer::Refused(error.error.clone()),
        };
        Some((id, answer))
    }
}
