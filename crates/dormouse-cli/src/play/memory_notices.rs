//! Notices about a memory that cannot read new events.

use dormouse_contracts::AssistantId;
use dormouse_engine::{Event, RecallFailure, catch_up};
use dormouse_memory::Memory;
use dormouse_store::RedbLog;

use super::visited::Visited;
use crate::exit::Report;

/// Notices when the memory fails, once, and when it works again.
#[derive(Debug)]
pub(super) struct MemoryNotices {
    log: RedbLog,
    key: AssistantId,
    memory: Memory,
    name: String,
    is_failing: bool,
}

impl MemoryNotices {
    pub(super) fn new(visited: &Visited) -> Self {
        Self {
            log: visited.log.clone(),
            key: visited.key.clone(),
            memory: visited.memory.clone(),
            name: visited.resident.name.clone(),
            is_failing: false,
        }
    }

    /// The notice after this event, if there is one.
    pub(super) async fn after(&mut self, event: &Event) -> Option<String> {
        let Event::Recollected(recollected) = event else {
            return None;
        };
        match recollected.failure {
            Some(RecallFailure::Memory) if !self.is_failing => {
                // The event does not contain the error. If catching up succeeds now, there is nothing to report.
                let error = catch_up(&self.log, &self.key, &self.memory).await.err()?;
                self.is_failing = true;
                Some(format!(
                    "{} answers without its memory: {}. Everything is in the log; the memory takes it in as soon as it \
                     can be written.",
                    self.name,
                    Report(&error)
                ))
            }
            None if self.is_failing => {
                self.is_failing = false;
                let name = &self.name;
                Some(format!(
                    "{name}'s memory can be written again, and is up to date."
                ))
            }
            _ => None,
        }
    }
}
