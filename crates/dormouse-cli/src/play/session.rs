//! Carrying out lines of input.

use dormouse_contracts::{Clock, PERCEPTIONS_PAGE, Perception, Sender, Senses, WorldErrorKind};
use dormouse_engine::{Handle, Rest, Status};
use dormouse_host::{Pumped, SystemClock, pause};
use dormouse_sandbox::{Act, ActError, ActRefusal, Acted, Character, Sandbox};
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    operator::{Flow, Operator},
    others::{Others, PATIENCE_WITH_OTHERS},
    visited::Visited,
    waiting::{Waiting, asking, senders},
};
use crate::{
    exit::Report,
    grammar::listed,
    input::{self, Input, lines::LineError},
    item::{Item, OwnAct, World, act_name},
    screen::Screen,
};

pub(super) mod surroundings;

use surroundings::{Meaning, meaning, refusal};

/// What the session is doing. A command must not overtake a line that is about to reach the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is no line.
    Idle,
    /// A line is being carried out.
    CarryingOut,
    /// A line waits for the world, or for the assistant's answer.
    Waiting,
}

/// What happens to a line that the world cannot accept at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// The player learns why, and can type it again.
    IsRefused,
    /// It waits.
    Waits,
}

/// One player at one input.
#[derive(Debug)]
pub(super) struct Session {
    sandbox: Sandbox,
    handle: Handle,
    operator: Operator,
    screen: Screen,
    resident: Character,
    others: Others,
    /// The name of the assistant to which plain lines are said.
    addressee: String,
    player: Character,
    pumped: watch::Receiver<Pumped>,
    /// Whether the assistant goes on after the visit, so that messages of others need not be waited for.
    is_guest: bool,
    /// The number of the last delivery to the player that was handed to the screen.
    shown: watch::Receiver<u64>,
    /// The number of the last delivery to the assistant that the player's acts caused.
    sent: u64,
    unwritten: Unwritten,
    /// The line that waits for the world, and why.
    stuck: Option<StuckLine>,
    /// Whether a line was meant as a command that does not exist, or names somebody who does not exist.
    misread: bool,
    last_line: watch::Sender<u64>,
    /// Whether the visit has to end after the line under way.
    ending: watch::Receiver<bool>,
    phase: watch::Sender<Phase>,
    /// Whether the player leaves without waiting for answers.
    leaving: watch::Sender<bool>,
}

/// A line of input that waits until the world can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StuckLine {
    number: u64,
    cause: String,
}

impl StuckLine {
    /// What is printed if the program ends first.
    pub(super) fn rejected(self) -> Item {
        let Self { number, cause } = self;
        let reason = format!(
            "the program ended before the world could be written ({cause}). The input after this line was not carried \
             out either"
        );
        Item::Rejected {
            line: number,
            reason,
        }
    }
}

/// Waits until a flag is set. If its sender is gone, it never is.
pub(super) async fn is_set(mut flag: watch::Receiver<bool>) {
    if flag.wait_for(|set| *set).await.is_err() {
        std::future::pending().await
    }
}

impl Session {
    pub(super) fn new(
        visited: &Visited,
        screen: &Screen,
        (shown, unwritten): (watch::Receiver<u64>, Unwritten),
    ) -> Self {
        Self {
            sandbox: visited.sandbox.clone(),
            handle: visited.handle.clone(),
            operator: Operator::new(visited, screen),
            screen: screen.clone(),
            resident: visited.resident.clone(),
            others: Others::new(visited),
            addressee: visited.resident.name.clone(),
            player: visited.player.clone(),
            // Nothing is handed over before the assistant runs.
            pumped: watch::Sender::default().subscribe(),
            is_guest: false,
            shown,
            sent: 0,
            unwritten,
            stuck: None,
            misread: false,
            last_line: watch::Sender::new(0),
            // Without a sender it is never set.
            ending: watch::Sender::default().subscribe(),
            phase: watch::Sender::new(Phase::Idle),
            leaving: watch::Sender::new(false),
        }
    }

    /// The session, once the perceptions of the assistant are handed over.
    pub(super) fn with_pumped(mut self, pumped: watch::Receiver<Pumped>) -> Self {
        self.pumped = pumped;
        self
    }

    /// The session of a guest: it waits for what its player said, however busy others keep the assistant.
    pub(super) fn of_guest(self) -> Self {
        Self {
            is_guest: true,
            ..self
        }
    }

    /// The session, which ends after the line under way once this is set.
    pub(super) fn with_ending(mut self, ending: watch::Receiver<bool>) -> Self {
        self.ending = ending;
        self
    }

    /// Waits until the visit has to end after the line under way.
    pub(super) fn ending(&self) -> impl Future<Output = ()> + use<> {
        is_set(self.ending.clone())
    }

    pub(super) fn operator(&self) -> &Operator {
        &self.operator
    }

    pub(super) fn phase(&self) -> watch::Sender<Phase> {
        self.phase.clone()
    }

    /// Setting this to `true` ends every wait of the session.
    pub(super) fn leaving(&self) -> watch::Sender<bool> {
        self.leaving.clone()
    }

    pub(super) fn is_leaving(&self) -> bool {
        *self.leaving.borrow()
    }

    pub(super) fn status(&self) -> Status {
        self.handle.status()
    }

    /// The line that waits for the world, if one does.
    pub(super) fn stuck(&mut self) -> Option<StuckLine> {
        self.stuck.take()
    }

    /// What waits for an answer: of a guest, only what the guest said.
    pub(super) async fn waiting(&self) -> Waiting {
        let unheard = self.unheard().await;
        let state = self.handle.inspect().await;
        let is_counted = |sender: &Sender| !self.is_guest || self.is_player(sender);
        let activity = self.handle.status().activity;
        Waiting::new(activity, state.as_ref(), &unheard, is_counted)
    }

    /// What the assistant has not received yet.
    async fn unheard(&self) -> Vec<Perception> {
        let done = self.pumped.borrow().done;
        let unheard = self
            .sandbox
            .perceptions(&self.resident.id, done, PERCEPTIONS_PAGE);
        // If the world cannot be read, that has already been reported.
        unheard.await.unwrap_or_default()
    }

    fn is_player(&self, sender: &Sender) -> bool {
        sender.id() == Some(&self.player.id)
    }

    /// Whether a line from a pipe was not a valid line. At a terminal the player has seen the refusal.
    pub(super) fn is_misread(&self) -> bool {
        self.misread && self.unwritten == Unwritten::Waits
    }

    /// The last line that was carried out.
    pub(super) fn last_line(&self) -> watch::Receiver<u64> {
        self.last_line.subscribe()
    }

    /// Carries out one line.
    pub(super) async fn line(&mut self, number: u64, text: Result<String, LineError>) -> Flow {
        let flow = self.carry_out(number, text).await;
        self.last_line.send_replace(number);
        flow
    }

    async fn carry_out(&mut self, number: u64, text: Result<String, LineError>) -> Flow {
        let text = match text {
            Ok(text) => text,
            Err(error) => return self.reject(number, error.to_string()).await,
        };
        match input::parse(&text, &self.addressee) {
            Ok(Input::Command(command)) => self.operator.carry_out(command).await,
            Ok(Input::SpeakTo(name)) => self.speak_to(number, &name).await,
            Ok(input) => {
                let (world, id) = (&self.sandbox, &self.player.id);
                match meaning(world, id, &self.addressee, input).await {
                    Ok(Meaning::Act(act)) => self.act(number, act).await,
                    Ok(Meaning::Sight(name, seen)) => {
                        let by = &self.player.name;
                        self.show(OwnAct::look_at(SystemClock.now(), by, name, seen))
                            .await;
                        Flow::Go
                    }
                    Err(reason) => self.reject(number, reason).await,
                }
            }
            Err(error) => {
                self.misread |= error.is_of_a_command();
                self.reject(number, error.to_string()).await
            }
        }
    }

    /// From now on plain lines are said to this assistant.
    async fn speak_to(&mut self, number: u64, name: &str) -> Flow {
        match self.others.named(name).await {
            Ok(known) => {
                if let Err(error) = self.others.wake(&known.key).await {
                    self.misread = true;
                    return self.reject(number, error.to_string()).await;
                }
                self.show_notice(format!("Plain lines are said to {} now.", known.name))
                    .await;
                self.addressee = known.name;
                Flow::Go
            }
            Err(reason) => {
                self.misread = true;
                self.reject(number, reason).await
            }
        }
    }

    async fn show_notice(&self, text: String) {
        self.screen.show(Item::Notice { text }).await;
    }

    async fn reject(&self, line: u64, reason: String) -> Flow {
        self.screen.show(Item::Rejected { line, reason }).await;
        Flow::Go
    }

    async fn act(&mut self, number: u64, act: Act) -> Flow {
        let name = act_name(&act);
        let to_addressee = self.is_to_addressee(&act);
        self.others.wake_for(&act).await;
        let acted = match self.carried_out(number, act).await {
            Ok(acted) => acted,
            Err(ActError::Refused(ActRefusal::NobodyHere { here, .. })) if to_addressee => {
                return self.reject(number, self.absent(&here)).await;
            }
            Err(error) => return self.reject(number, refusal(&error)).await,
        };
        let own = OwnAct::new(SystemClock.now(), &self.player.name, name, &acted.seen);
        self.show(own).await;
        let heard = acted
            .deliveries
            .iter()
            .filter(|(who, _)| *who == self.resident.id);
        for (_, delivery) in heard {
            self.sent = self.sent.max(*delivery);
        }
        self.others.note(&acted);
        Flow::Go
    }

    /// Asks the world to carry out an act. While the world cannot be written, a line from a pipe waits, because nobody
    /// could type it again.
    async fn carried_out(&mut self, number: u64, act: Act) -> Result<Acted, ActError> {
        let mut failures = 0;
        loop {
            let acted = self.sandbox.act(&self.player.id, act.clone()).await;
            let cause = match &acted {
                Err(ActError::World(error))
                    if self.unwritten == Unwritten::Waits
                        && error.kind() == WorldErrorKind::NotReached =>
                {
                    Report(error).to_string()
                }
                Ok(_) | Err(_) => {
                    self.stuck = None;
                    return acted;
                }
            };
            if self.stuck.is_none() {
                let text = format!(
                    "Line {number} of the input waits until the world can be written: {cause}"
                );
                self.screen.show(Item::Notice { text }).await;
                self.stuck = Some(StuckLine { number, cause });
                self.phase.send_replace(Phase::Waiting);
            }
            select! {
                () = sleep(pause(failures)) => {}
                () = self.left() => {
                    self.stuck = None;
                    return acted;
                }
            }
            failures += 1;
        }
    }

    /// Waits until the player leaves without waiting for answers.
    async fn left(&self) {
        let mut leaving = self.leaving.subscribe();
        // The session has a sender, so this ends only when the value is set.
        drop(leaving.wait_for(|leaving| *leaving).await);
    }

    async fn show(&self, own: OwnAct) {
        self.screen.show(Item::World(World::Own(own))).await;
    }

    fn is_to_addressee(&self, act: &Act) -> bool {
        match act {
            Act::SayTo { to, .. } | Act::Whisper { to, .. } => {
                to.to_lowercase() == self.addressee.to_lowercase()
            }
            _ => false,
        }
    }

    fn absent(&self, here: &[String]) -> String {
        let name = &self.addressee;
        let others = if here.is_empty() {
            "nobody is".to_owned()
        } else {
            format!("only {}", listed(here))
        };
        format!("{name} is not here ({others}). `page {name} = TEXT` reaches it anywhere")
    }

    /// Waits until everything the player did has reached the assistant, and the assistant has come to rest. By then,
    /// everything the player perceives of it is queued for printing.
    pub(super) async fn settle(&mut self) -> Rest {
        let rest = self.rest().await;
        self.all_shown().await;
        rest
    }

    /// Like [`Session::settle`], but ends early if the player leaves.
    pub(super) async fn settle_or_leave(&mut self) {
        let mut leaving = self.leaving.subscribe();
        select! {
            _rest = self.settle() => {}
            _left = leaving.wait_for(|leaving| *leaving) => {}
        }
    }

    /// Waits until the assistant has received everything the player did, or accepts nothing at the moment.
    pub(super) async fn hand_over(&mut self) {
        let sent = self.sent;
        let taken_in = |pumped: &Pumped| pumped.done >= sent || pumped.held;
        // The pump ends when the assistant does, which is reported elsewhere.
        drop(self.pumped.wait_for(taken_in).await);
    }

    /// Waits until the assistant is at rest, and also all others that the player spoke to or that were given a task.
    async fn rest(&mut self) -> Rest {
        let late = Instant::now() + PATIENCE_WITH_OTHERS;
        loop {
            let rest = match self.is_guest {
                true => self.rest_of_guest().await,
                false => self.rest_of_resident().await,
            };
            match self.others.rest(&self.handle, late).await {
                // Meanwhile the assistant may have received something.
                Ok(true) if rest != Rest::Gone => {}
                Ok(_) => return rest,
                Err(who) => {
                    let seconds = PATIENCE_WITH_OTHERS.as_secs();
                    let text = format!(
                        "{who} has not answered within {seconds} s. The answer is kept for the next visit."
                    );
                    self.show_notice(text).await;
                    return rest;
                }
            }
        }
    }

    /// Waits until the assistant has received what the player's acts caused, or does not accept it for now; `None` if it has
    /// ended.
    async fn handed_over(&mut self) -> Option<Pumped> {
        let sent = self.sent;
        let is_over = |pumped: &Pumped| pumped.done >= sent || pumped.held;
        self.pumped.wait_for(is_over).await.ok().map(|it| *it)
    }

    async fn rest_of_resident(&mut self) -> Rest {
        loop {
            let Some(Pumped { done, held }) = self.handed_over().await else {
                return Rest::Gone;
            };
            let rest = self.handle.at_rest().await;
            if rest != Rest::Settled {
                return rest;
            }
            if !held && self.nothing_after(done).await {
                return rest;
            }
            // The assistant may perceive its own acts. It must receive those, too, before the end.
            if self
                .pumped
                .wait_for(|pumped| pumped.done > done || pumped.held != held)
                .await
                .is_err()
            {
                return Rest::Gone;
            }
        }
    }

    /// Waits until the assistant has handled everything that the player said, or handles nothing for now.
    async fn rest_of_guest(&mut self) -> Rest {
        let mut handle = self.handle.clone();
        loop {
            let sent = self.sent;
            let Some(Pumped { done, .. }) = self.handed_over().await else {
                return Rest::Gone;
            };
            let before = handle.status();
            let Some(state) = handle.inspect().await else {
                return Rest::Gone;
            };
            let waits = senders(&state).any(|sender| self.is_player(sender));
            // Something that was said before this visit may not have been received yet.
            let unheard = self.unheard().await;
            let is_unheard = asking(&unheard).any(|sender| self.is_player(sender));
            if done >= sent && !waits && !is_unheard {
                return Rest::Settled;
            }
            let goes_on = async {
                // A turn has ended, or the next one has begun.
                let mark = |status: &Status| (status.waiting, status.ticks);
                while let Some(status) = handle.status_changed().await
                    && mark(&status) == mark(&before)
                {}
            };
            let other = self.handle.clone();
            let rest = select! {
                rest = other.at_rest() => rest,
                () = goes_on => continue,
            };
            if rest != Rest::Settled {
                return rest;
            }
            // Messages that the assistant did not accept are handed over again.
            if (done < sent || is_unheard) && self.pumped.changed().await.is_err() {
                return Rest::Gone;
            }
        }
    }

    /// Waits until everything the player has perceived is queued for printing.
    pub(super) async fn all_shown(&mut self) {
        loop {
            let last = *self.shown.borrow_and_update();
            let more = self.sandbox.perceptions(&self.player.id, last, 1).await;
            // If the world cannot be read, the task that watches it reports that.
            if more.map_or(true, |more| more.is_empty()) || self.shown.changed().await.is_err() {
                return;
            }
        }
    }

    async fn nothing_after(&self, done: u64) -> bool {
        let more = self.sandbox.perceptions(&self.resident.id, done, 1).await;
        more.map_or(true, |more| more.is_empty())
    }
}
