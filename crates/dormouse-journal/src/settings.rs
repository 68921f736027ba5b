//! The bounds of a journal.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    entry::Importance,
    importance::{ImportanceRule, ScoringPolicy},
    reflection::ReflectionPolicy,
};

/// How a journal is kept. Only deciding reads it; what was decided is in the changes, so folding them needs no settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalSettings {
    /// The most entries; the oldest go when there are more: 100.
    pub max_entries: usize,
    /// The formula for importance.
    pub importance: ImportanceRule,
    /// How importance is scored by a model.
    pub scoring: ScoringPolicy,
    /// Which entries say nearly the same.
    pub near: NearRule,
    /// Which entries are pruned.
    pub pruning: PruningRule,
    /// How the assistant reflects.
    pub reflection: ReflectionPolicy,
    /// The names of the assistant: what begins with one of them is about itself, and nothing that it concludes.
    pub names: Vec<String>,
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self {
            max_entries: 100,
            importance: ImportanceRule::default(),
            scoring: ScoringPolicy::default(),
            near: NearRule::default(),
            pruning: PruningRule::default(),
            reflection: ReflectionPolicy::default(),
            names: Vec::new(),
        }
    }
}

/// When an entry says nearly the same as an earlier one: they are from the same source, neither denies, asks or counts what the
/// other does not, and they share most of their words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NearRule {
    /// The least share of common terms and pairs of terms, in `0.0..=1.0`: 0.85. More than 1 links only the same text.
    pub similarity: f32,
    /// How far apart in time they may be: 24 hours.
    pub within: Duration,
}

impl Default for NearRule {
    fn default() -> Self {
        Self {
            similarity: 0.85,
            within: DAY,
        }
    }
}

/// Which entries are old and unimportant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PruningRule {
    /// The highest importance of an entry that may go: 3.
    pub importance: Importance,
    /// Entries of this age in days or younger stay: 30.
    pub age_days: u32,
    /// The most entries that go in one call: 10.
    pub limit: usize,
    /// Whether entries that are in long-term memory stay: yes.
    pub preserve_consolidated: bool,
}

impl Default for PruningRule {
    fn default() -> Self {
        Self {
            importance: Importance::clamped(3),
            age_days: 30,
            limit: 10,
            preserve_consolidated: true,
        }
    }
}

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The time so many days before another.
pub(crate) fn days_before(now: Timestamp, days: u32) -> Timestamp {
    let span = i64::try_from((DAY * days).as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_sub(span))
}
