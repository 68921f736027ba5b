//! The work of a night, in its order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an assistant does while it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SleepPhase {
    /// Facts are made from what happened. A message that arrives meanwhile wakes the assistant at the next commit
    /// point.
    Compacting,
    /// The memory is tidied. A message wakes the assistant at once.
    Dreaming,
}

impl fmt::Display for SleepPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compacting => "compacting",
            Self::Dreaming => "dreaming",
        })
    }
}

/// A work step of a night. It may take several sleep ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SleepStep {
    /// A model scores the entries of the journal whose importance is only computed by the formula so far.
    ScoreJournal,
    /// Facts are made from what was heard.
    ConsolidateMemory,
    /// Records that belong together are linked.
    LinkMemories,
    /// Attributes are made from observations about people, five people a tick.
    ConsolidatePeople,
    /// Conclusions are drawn from the journal, if enough entries have accumulated.
    Reflect,
    /// Earlier turns are shortened in the prompt.
    CompactHistory,
    /// Conversations that nobody continued are closed.
    ClearConversations,
    /// Old and unimportant entries are removed from the journal.
    PruneJournal,
}

/// All work steps of a night, in order: first those of compacting, then those of dreaming.
pub const SLEEP_STEPS: [SleepStep; 8] = [
    SleepStep::ScoreJournal,
    SleepStep::ConsolidateMemory,
    SleepStep::LinkMemories,
    SleepStep::ConsolidatePeople,
    SleepStep::Reflect,
    SleepStep::CompactHistory,
    SleepStep::ClearConversations,
    SleepStep::PruneJournal,
];

impl SleepStep {
    /// The phase that the step belongs to.
    #[must_use]
    pub fn phase(self) -> SleepPhase {
        match self {
            Self::ScoreJournal | Self::ConsolidateMemory => SleepPhase::Compacting,
            Self::LinkMemories
            | Self::ConsolidatePeople
            | Self::Reflect
            | Self::CompactHistory
            | Self::ClearConversations
            | Self::PruneJournal => SleepPhase::Dreaming,
        }
    }
}

impl fmt::Display for SleepStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ScoreJournal => "scoring entries of the journal",
            Self::ConsolidateMemory => "making facts of what was heard",
            Self::LinkMemories => "linking what belongs together",
            Self::ConsolidatePeople => "making attributes of what was noticed about people",
            Self::Reflect => "drawing conclusions from the journal",
            Self::CompactHistory => "showing earlier turns shorter",
            Self::ClearConversations => "closing conversations that nobody continued",
            Self::PruneJournal => "pruning the journal",
        })
    }
}
