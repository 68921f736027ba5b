//! How often something failed: the state of trying again, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How often writing failed for each source. Keep it for as long as one sleep, and begin the next one with an empty one:
/// what was passed over is tried again then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attempts {
    failures: BTreeMap<String, u32>,
}

impl Attempts {
    /// After so many failures a source is passed over.
    pub const MOST: u32 = 3;

    /// How often the source of this key failed since it last succeeded.
    #[must_use]
    pub fn failures(&self, key: &str) -> u32 {
        self.failures.get(key).copied().unwrap_or(0)
    }

    /// Whether the source of this key is passed over.
    #[must_use]
    pub fn gave_up(&self, key: &str) -> bool {
        self.failures(key) >= Self::MOST
    }

    pub(super) fn failed(&mut self, key: &str) {
        let failures = self.failures.entry(key.to_owned()).or_default();
        *failures = failures.saturating_add(1);
    }

    pub(super) fn succeeded(&mut self, key: &str) {
        self.failures.remove(key);
    }
}
