//! Commands to the program.

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_engine::{ClearError, Memory};

use super::{Flow, Session};
use crate::{
    describe,
    exit::Report,
    input::{self, Command},
    item::Item,
};

impl Session {
    pub(super) async fn command(&self, command: Command) -> Flow {
        let lines = match command {
            Command::Quit => return Flow::Quit,
            Command::Help => vec![input::HELP.to_owned()],
            Command::Status => vec![self.status_line().await],
            Command::Memories => self.memories().await,
            Command::Log(count) => self.last_events(count).await,
            Command::Clear => vec![self.clear().await],
        };
        for text in lines {
            self.screen.show(Item::Notice { text }).await;
        }
        Flow::Go
    }

    async fn status_line(&self) -> String {
        let given_up = self.handle.inspect().await;
        let given_up = given_up.map_or(0, |state| state.given_up.len());
        describe::status(&self.handle.status(), given_up)
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
}
