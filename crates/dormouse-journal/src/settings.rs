//! The bounds of a journal.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    entry::Importance,
    importance::{ImportanceRule, ScoringPolicy},
    reflection::ReflectionPolicy,
};

/// The settings of a journal. Only functions that decide something read them. The decisions are in the changes, so
/// folding needs no settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalSettings {
    /// The most entries. If there are more, the oldest are pruned. Default: 100.
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
    /// The names of the assistant. A conclusion with one of them as its subject is about the assistant itself, and is
    /// refused.
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

/// When an entry says nearly the same as an earlier one: both have the same source, share most of their words, and have
/// the same denials, questions and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NearRule {
    /// The least share of common terms and pairs of terms, in `0.0..=1.0`: 0.85. More than 1 links only the same text.
    pub similarity: f32,
    /// How far apart in time they may be. Default: 24 hours.
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
    /// The highest importance of an entry that may be pruned. Default: 3.
    pub importance: Importance,
    /// Entries of this age in days, or younger, stay. Default: 30.
    pub age_days: u32,
    /// The most entries that one call prunes. Default: 10.
    pub limit: usize,
    /// Whether entries that are in long-term memory stay. Default: yes.
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

/// The time `days` days before `now`.
pub(crate) fn days_before(now: Timestamp, days: u32) -> Timestamp {
    let span = i64::try_from((DAY * days).as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_sub(span))
}
