//! The work of a night, in its order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an assistant does while it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SleepPhase {
    /// What happened is made into what is known. A message that comes meanwhile wakes it at the next commit point.
    Compacting,
    /// What is known is put in order. A message wakes it at once.
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

/// A piece of the work of a night. It may take several sleep ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SleepStep {
    /// A model scores entries of the journal of which only the formula knows the importance.
    ScoreJournal,
    /// Facts are made of what was heard.
    ConsolidateMemory,
    /// Records that belong together are linked.
    LinkMemories,
    /// Attributes are made of what was noticed about people, five people a tick.
    ConsolidatePeople,
    /// Conclusions are drawn from the journal, if enough has come together.
    Reflect,
    /// Earlier turns are shown shorter.
    CompactHistory,
    /// Conversations that nobody continued are closed.
    ClearConversations,
    /// Entries that are old and unimportant leave the journal.
    PruneJournal,
}

/// All work of a night, in its order: first what belongs to compacting, then what belongs to dreaming.
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
    /// The phase that it belongs to.
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
