//! Commands to the program.

use std::collections::VecDeque;

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_engine::{ClearError, RetryError, catch_up};
use dormouse_memory::{Derivation, Record};

use super::{Flow, Session};
use crate::{
    describe,
    exit::Report,
    grammar::identified,
    input::{self, Command},
    item::Item,
};

/// How many records are read at a time.
const PAGE: usize = 1_000;
/// The most memories that are shown, the newest.
const MEMORIES: usize = 100;

impl Session {
    pub(super) async fn command(&self, command: Command) -> Flow {
        let lines = match command {
            Command::Quit => return Flow::Quit,
            Command::Help => vec![input::HELP.to_owned()],
            Command::Status => vec![self.status_line()],
            Command::Memories => self.memories().await,
            Command::Log(count) => self.last_events(count).await,
            Command::Stop => vec![self.stop().await],
            Command::Clear => vec![self.clear().await],
            Command::Retry => vec![self.ask_again().await],
        };
        for text in lines {
            self.screen.show(Item::Notice { text }).await;
        }
        Flow::Go
    }

    fn status_line(&self) -> String {
        describe::status(&self.handle.status())
    }

    async fn stop(&self) -> String {
        match self.handle.stop(self.player.name.clone()).await {
            Ok(()) => {
                "The emergency stop is on. Messages are kept and answered after /clear.".to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    async fn clear(&self) -> String {
        match self.handle.clear_stop(self.player.name.clone()).await {
            Ok(()) => {
                "The emergency stop is cleared; messages that waited are answered now.".to_owned()
            }
            Err(ClearError::NotActive) => {
                "There is nothing to clear: the emergency stop is not on.".to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    async fn ask_again(&self) -> String {
        match self.retry().await {
            Ok(()) => "The model is called again now.".to_owned(),
            Err(RetryError::NotWaiting) => {
                "There is no pause to end: the model can be called already.".to_owned()
            }
            Err(error) => error.to_string(),
        }
    }

    /// What was stored on purpose, the newest last.
    async fn memories(&self) -> Vec<String> {
        if let Err(error) = catch_up(&self.log, &self.key, &self.memory).await {
            return vec![Report(&error).to_string()];
        }
        let mut stored = VecDeque::new();
        let mut after = None;
        loop {
            let page = match self.memory.records(after, PAGE).await {
                Ok(page) => page,
                Err(error) => return vec![Report(&error).to_string()],
            };
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            stored.extend(page.iter().filter(|it| is_stored(it)).map(told));
            let surplus = stored.len().saturating_sub(MEMORIES);
            stored.drain(..surplus);
        }
        if stored.is_empty() {
            return vec!["It remembers nothing yet.".to_owned()];
        }
        stored.into()
    }

    async fn last_events(&self, count: usize) -> Vec<String> {
        let after = Seq(self.handle.status().seq.0.saturating_sub(count as u64));
        match self.log.read(&self.key, after, count).await {
            Ok(events) if events.is_empty() => vec!["The log is empty.".to_owned()],
            Ok(events) => events.iter().map(describe::event).collect(),
            Err(error) => vec![Report(&error).to_string()],
        }
    }
}

fn is_stored(record: &Record) -> bool {
    record.lineage.derivation == Derivation::Stored && record.is_in_use()
}

fn told(record: &Record) -> String {
    let Record {
        at, text, trust, ..
    } = record;
    let speaker = record.speaker.as_ref();
    let from = speaker.map_or_else(
        || "someone".to_owned(),
        |speaker| identified(&speaker.name, speaker.entity.as_ref()),
    );
    format!("{at}  {text} (from {from}, trust {trust})")
}
