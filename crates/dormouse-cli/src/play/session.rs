//! Carrying out lines of input.

use dormouse::SystemClock;
use dormouse_contracts::{AssistantId, Clock, ReadEvents, Seq, Words};
use dormouse_engine::{Activity, ClearError, Handle, Memory, Rest, Status};
use dormouse_sandbox::{Act, ActError, Sandbox, Seen};
use dormouse_store::RedbLog;
use tokio::sync::watch;

use super::{Pumped, Waiting};
use crate::{
    compose::{Body, Household},
    describe,
    exit::Report,
    input::{self, Command, Input, lines::LineError},
    item::{Item, OwnAct, World, act_name},
    screen::Screen,
};

/// The session cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    /// The world counts deliveries that the assistant has long heard: it is older than the log.
    #[error(
        "the world is older than the log: it made delivery {made}, and the log remembers {remembered}. Restore \
         world.redb and log.redb from the same backup"
    )]
    OldWorld {
        /// The delivery just made.
        made: u64,
        /// The last one the log remembers.
        remembered: u64,
    },
}

/// Whether the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It does.
    Go,
    /// Somebody asked to leave.
    Quit,
}

/// One player at one input.
#[derive(Debug)]
pub(super) struct Session {
    sandbox: Sandbox,
    log: RedbLog,
    handle: Handle,
    screen: Screen,
    key: AssistantId,
    resident: Body,
    player: Body,
    pumped: watch::Receiver<Pumped>,
    /// The last delivery the log remembered at the start.
    remembered: u64,
    /// The last delivery to the assistant that came of the player's acts.
    sent: u64,
}

impl Session {
    pub(super) fn new(
        household: &Household,
        screen: &Screen,
        pumped: watch::Receiver<Pumped>,
    ) -> Self {
        let remembered = pumped.borrow().done;
        Self {
            sandbox: household.sandbox.clone(),
            log: household.log.clone(),
            handle: household.handle.clone(),
            screen: screen.clone(),
            key: household.key.clone(),
            resident: household.resident.clone(),
            player: household.player.clone(),
            pumped,
            remembered,
            sent: 0,
        }
    }

    pub(super) fn key(&self) -> &AssistantId {
        &self.key
    }

    pub(super) fn resident(&self) -> &str {
        &self.resident.name
    }

    pub(super) fn player(&self) -> &str {
        &self.player.name
    }

    pub(super) fn status(&self) -> Status {
        self.handle.status()
    }

    pub(super) fn waiting(&self) -> Waiting {
        let status = self.handle.status();
        Waiting {
            count: status.waiting,
            stopped: matches!(status.activity, Activity::Stopped(_)),
        }
    }

    /// Carries out one line.
    pub(super) async fn line(
        &mut self,
        number: u64,
        text: Result<String, LineError>,
    ) -> Result<Flow, SessionError> {
        let text = match text {
            Ok(text) => text,
            Err(error) => return Ok(self.reject(number, error.to_string()).await),
        };
        match input::parse(&text, &self.resident.name) {
            Ok(Input::Command(command)) => Ok(self.command(command).await),
            Ok(Input::Act(act)) => self.act(number, act).await,
            Ok(Input::Go { way, speech }) => {
                let act = self.go_or_say(way, speech).await;
                self.act(number, act).await
            }
            Err(error) => Ok(self.reject(number, error.to_string()).await),
        }
    }

    async fn reject(&self, line: u64, reason: String) -> Flow {
        self.screen.show(Item::Rejected { line, reason }).await;
        Flow::Go
    }

    async fn act(&mut self, number: u64, act: Act) -> Result<Flow, SessionError> {
        let name = act_name(&act);
        let acted = match self.sandbox.act(&self.player.id, act).await {
            Ok(acted) => acted,
            Err(error) => return Ok(self.reject(number, refusal(&error)).await),
        };
        let own = OwnAct::new(SystemClock.now(), &self.player.name, name, &acted.seen);
        self.screen.show(Item::World(World::Own(own))).await;
        let heard = acted
            .deliveries
            .iter()
            .filter(|(who, _)| *who == self.resident.id);
        for (_, delivery) in heard {
            if *delivery <= self.remembered {
                return Err(SessionError::OldWorld {
                    made: *delivery,
                    remembered: self.remembered,
                });
            }
            self.sent = self.sent.max(*delivery);
        }
        Ok(Flow::Go)
    }

    /// Going, if there is such a way out of here; the line as speech otherwise.
    async fn go_or_say(&self, way: String, speech: Words) -> Act {
        let here = self.sandbox.act(&self.player.id, Act::Look).await;
        let leads_out = match here.map(|acted| acted.seen) {
            Ok(Seen::Room(view)) => view.exits.iter().any(|exit| is_way(&way, &exit.direction)),
            // The act that follows says what is wrong with the world.
            Ok(_) | Err(_) => true,
        };
        if leads_out {
            Act::Move { direction: way }
        } else {
            input::speak_to(&self.resident.name, speech)
        }
    }

    async fn command(&self, command: Command) -> Flow {
        let lines = match command {
            Command::Quit => return Flow::Quit,
            Command::Help => vec![input::HELP.to_owned()],
            Command::Status => vec![describe::status(&self.handle.status())],
            Command::Memories => self.memories().await,
            Command::Log(count) => self.last_events(count).await,
            Command::Clear => vec![self.clear().await],
        };
        for text in lines {
            self.screen.show(Item::Notice { text }).await;
        }
        Flow::Go
    }

    async fn clear(&self) -> String {
        match self.handle.clear_stop(self.player.name.clone()).await {
            Ok(()) => "The emergency stop is cleared; what was waiting goes on.".to_owned(),
            Err(ClearError::NotActive) => {
                "There is nothing to clear: the emergency stop is not on.".to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    async fn memories(&self) -> Vec<String> {
        let Some(state) = self.handle.inspect().await else {
            return vec!["the assistant is not running".to_owned()];
        };
        if state.memories.is_empty() {
            return vec!["It remembers nothing yet.".to_owned()];
        }
        let line = |memory: &Memory| {
            let Memory {
                at,
                text,
                from,
                trust,
                ..
            } = memory;
            format!("{at}  {text} (from {from}, trust {trust})")
        };
        state.memories.iter().map(line).collect()
    }

    async fn last_events(&self, count: usize) -> Vec<String> {
        let after = Seq(self.handle.status().seq.0.saturating_sub(count as u64));
        match self.log.read(&self.key, after, count).await {
            Ok(events) if events.is_empty() => vec!["The log is empty.".to_owned()],
            Ok(events) => events.iter().map(describe::event).collect(),
            Err(error) => vec![Report(&error).to_string()],
        }
    }

    /// Waits until everything the player did has reached the assistant, and the assistant has come to rest.
    pub(super) async fn settle(&mut self) -> Rest {
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

    async fn nothing_after(&self, done: u64) -> bool {
        let more = self.sandbox.perceptions(&self.resident.id, done, 1).await;
        more.map_or(true, |more| more.is_empty())
    }
}

/// Whether somebody who types `way` means the exit `direction`: the word itself, or its first letter.
fn is_way(way: &str, direction: &str) -> bool {
    let way = way.to_lowercase();
    way == direction || (way.chars().count() == 1 && direction.starts_with(&way))
}

fn refusal(error: &ActError) -> String {
    match error {
        ActError::Refused(refusal) => refusal.to_string(),
        error => Report(error).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_meant_by_its_word_or_its_first_letter() {
        assert!(is_way("North", "north") && is_way("n", "north"));
        assert!(!is_way("no", "north") && !is_way("on", "north"));
    }
}
