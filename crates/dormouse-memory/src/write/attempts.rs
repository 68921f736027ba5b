//! How often writing failed for each source: the state of retries, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How often requests about each source failed. The key of a source is the id of a record or of an entity. Keep it for
/// one night, or one run of a command, and begin the next with an empty one, so that skipped sources are tried again.
/// It follows from the log: each failure is an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attempts {
    failures: BTreeMap<String, u32>,
}

impl Attempts {
    /// After this many failures a source is skipped.
    pub const MOST: u32 = 3;

    /// How often the source of this key failed since it last succeeded.
    #[must_use]
    pub fn failures(&self, key: &str) -> u32 {
        self.failures.get(key).copied().unwrap_or(0)
    }

    /// Whether the source of this key is skipped.
    #[must_use]
    pub fn gave_up(&self, key: &str) -> bool {
        self.failures(key) >= Self::MOST
    }

    /// The keys of the sources that are skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &str> {
        let failed = self.failures.iter();
        failed.filter_map(|(key, failures)| (*failures >= Self::MOST).then_some(key.as_str()))
    }

    /// Counts a failure of the source of this key.
    pub fn failed(&mut self, key: &str) {
        let failures = self.failures.entry(key.to_owned()).or_default();
        *failures = failures.saturating_add(1);
    }

    /// Forgets the failures of the source of this key.
    pub fn succeeded(&mut self, key: &str) {
        self.failures.remove(key);
    }
}
