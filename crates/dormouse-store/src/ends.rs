//! Where the logs end that were written last.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{AssistantId, Seq};

/// How many ends are known at most.
const KEPT: usize = 1_024;

/// Where the logs end that were written last. A reader that follows a log reads mostly at its end, many times for each event
/// that is written; such a read needs neither the file nor a thread.
#[derive(Debug, Default)]
pub(crate) struct KnownEnds(Mutex<HashMap<AssistantId, Seq>>);

impl KnownEnds {
    /// Whether a log is known to end with this event.
    pub(crate) fn is_end(&self, assistant: &AssistantId, seq: Seq) -> bool {
        self.lock().get(assistant) == Some(&seq)
    }

    /// These events are on disk, and each is the last one of its log.
    pub(crate) fn committed(&self, written: &HashMap<AssistantId, Seq>) {
        let mut ends = self.lock();
        if ends.len() >= KEPT {
            ends.clear();
        }
        ends.extend(
            written
                .iter()
                .map(|(assistant, end)| (assistant.clone(), *end)),
        );
    }

    /// Forgets all ends, because it is not known what the file contains.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AssistantId, Seq>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
