//! Carrying out lines of input.

use dormouse::SystemClock;
use dormouse_contracts::{AssistantId, Clock, WorldErrorKind};
use dormouse_engine::{Handle, Rest, RetryError, Status};
use dormouse_memory::Memory;
use dormouse_providers::GuardedModel;
use dormouse_sandbox::{Act, ActError, ActRefusal, Acted, Sandbox};
use dormouse_store::RedbLog;
use tokio::{sync::watch, time::sleep};

use super::{Pumped, Waiting, pump::pause};
use crate::{
    compose::{Body, Household},
    exit::Report,
    grammar::listed,
    input::{self, Input, lines::LineError},
    item::{Item, OwnAct, World, act_name},
    screen::Screen,
};

mod commands;
mod surroundings;

/// Whether the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It does.
    Go,
    /// Somebody asked to leave.
    Quit,
}

/// What becomes of a line that the world cannot take at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// It is told why, and can be typed again.
    IsRefused,
    /// It waits.
    Waits,
}

/// One player at one input.
#[derive(Debug)]
pub(super) struct Session {
    sandbox: Sandbox,
    log: RedbLog,
    memory: Memory,
    handle: Handle,
    models: Vec<GuardedModel>,
    screen: Screen,
    key: AssistantId,
    resident: Body,
    player: Body,
    pumped: watch::Receiver<Pumped>,
    /// The last delivery to the player that was handed to the screen.
    told: watch::Receiver<u64>,
    /// The last delivery to the assistant that came of the player's acts.
    sent: u64,
    unwritten: Unwritten,
}

impl Session {
    pub(super) fn new(
        household: &Household,
        screen: &Screen,
        pumped: watch::Receiver<Pumped>,
        told: watch::Receiver<u64>,
        unwritten: Unwritten,
    ) -> Self {
        Self {
            sandbox: household.sandbox.clone(),
            log: household.log.clone(),
            memory: household.memory.clone(),
            handle: household.handle.clone(),
            models: household.models.clone(),
            screen: screen.clone(),
            key: household.key.clone(),
            resident: household.resident.clone(),
            player: household.player.clone(),
            pumped,
            told,
            sent: 0,
            unwritten,
        }
    }

    /// Has the model asked again, whoever leaves it alone.
    pub(super) async fn retry(&self) -> Result<(), RetryError> {
        for model in &self.models {
            model.guard().configuration_changed();
        }
        self.handle.retry(self.player.name.clone()).await
    }

    pub(super) fn status(&self) -> Status {
        self.handle.status()
    }

    pub(super) fn waiting(&self) -> Waiting {
        let Status {
            waiting, activity, ..
        } = self.handle.status();
        Waiting {
            count: waiting,
            activity,
        }
    }

    /// Carries out one line.
    pub(super) async fn line(&mut self, number: u64, text: Result<String, LineError>) -> Flow {
        let text = match text {
            Ok(text) => text,
            Err(error) => return self.reject(number, error.to_string()).await,
        };
        match input::parse(&text, &self.resident.name) {
            Ok(Input::Command(command)) => self.command(command).await,
            Ok(Input::Act(act)) => self.act(number, act).await,
            Ok(Input::Go { way, speech }) => {
                let act = self.go_or_say(way, speech).await;
                self.act(number, act).await
            }
            Ok(Input::GoNowhere) => {
                let reason = self.where_to().await;
                self.reject(number, reason).await
            }
            Ok(Input::LookAt { thing, speech }) => self.look_or_say(number, &thing, speech).await,
            Err(error) => self.reject(number, error.to_string()).await,
        }
    }

    async fn reject(&self, line: u64, reason: String) -> Flow {
        self.screen.show(Item::Rejected { line, reason }).await;
        Flow::Go
    }

    async fn act(&mut self, number: u64, act: Act) -> Flow {
        let name = act_name(&act);
        let to_resident = self.is_to_resident(&act);
        let acted = match self.carried_out(act).await {
            Ok(acted) => acted,
            Err(ActError::Refused(ActRefusal::NobodyHere { here, .. })) if to_resident => {
                return self.reject(number, self.absent(&here)).await;
            }
            Err(error) => return self.reject(number, refusal(&error)).await,
        };
        let own = OwnAct::new(SystemClock.now(), &self.player.name, name, &acted.seen);
        self.tell(own).await;
        let heard = acted
            .deliveries
            .iter()
            .filter(|(who, _)| *who == self.resident.id);
        for (_, delivery) in heard {
            self.sent = self.sent.max(*delivery);
        }
        Flow::Go
    }

    /// Has the world carry out an act. While the world cannot be written, a line out of a pipe waits: nobody is there to
    /// type it again.
    async fn carried_out(&self, act: Act) -> Result<Acted, ActError> {
        let mut failures = 0;
        loop {
            let acted = self.sandbox.act(&self.player.id, act.clone()).await;
            match &acted {
                Err(ActError::World(error))
                    if self.unwritten == Unwritten::Waits
                        && error.kind() == WorldErrorKind::NotReached =>
                {
                    if failures == 0 {
                        let why = Report(error);
                        let text =
                            format!("A line of input waits until the world can be written: {why}");
                        self.screen.show(Item::Notice { text }).await;
                    }
                }
                Ok(_) | Err(_) => return acted,
            }
            sleep(pause(failures)).await;
            failures += 1;
        }
    }

    async fn tell(&self, own: OwnAct) {
        self.screen.show(Item::World(World::Own(own))).await;
    }

    fn is_to_resident(&self, act: &Act) -> bool {
        match act {
            Act::SayTo { to, .. } | Act::Whisper { to, .. } => {
                to.to_lowercase() == self.resident.name.to_lowercase()
            }
            _ => false,
        }
    }

    fn absent(&self, here: &[String]) -> String {
        let name = &self.resident.name;
        let others = if here.is_empty() {
            "nobody is".to_owned()
        } else {
            format!("only {}", listed(here))
        };
        format!("{name} is not here ({others}). `page {name} = TEXT` reaches it anywhere")
    }

    /// Waits until everything the player did has reached the assistant, and the assistant has come to rest.
    /// What the player perceives of that is on its way to be printed by then.
    pub(super) async fn settle(&mut self) -> Rest {
        let rest = self.rest().await;
        self.all_told().await;
        rest
    }

    async fn rest(&mut self) -> Rest {
        loop {
            let sent = self.sent;
            let reached = self
                .pumped
                .wait_for(|pumped| pumped.done >= sent || pumped.held)
                .await;
            let Ok(Pumped { done, held }) = reached.map(|pumped| *pumped) else {
                return Rest::Gone;
            };
            let rest = self.handle.at_rest().await;
            if rest != Rest::Settled {
                return rest;
            }
            if !held && self.nothing_after(done).await {
                return rest;
            }
            // What the assistant did may have reached its own senses; that is heard, too, before the end.
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

    /// Waits until everything the player has perceived is on its way to be printed.
    async fn all_told(&mut self) {
        loop {
            let told = *self.told.borrow_and_update();
            let more = self.sandbox.perceptions(&self.player.id, told, 1).await;
            // If the world cannot be asked, whoever watches it says so.
            if more.map_or(true, |more| more.is_empty()) || self.told.changed().await.is_err() {
                return;
            }
        }
    }

    async fn nothing_after(&self, done: u64) -> bool {
        let more = self.sandbox.perceptions(&self.resident.id, done, 1).await;
        more.map_or(true, |more| more.is_empty())
    }
}

fn refusal(error: &ActError) -> String {
    match error {
        ActError::Refused(refusal) => refusal.to_string(),
        error => Report(error).to_string(),
    }
}
