//! The forecast and the report of a run.

use dormouse_contracts::{EntityId, ModelErrorKind, Seq};
use dormouse_memory::{MemoryChange, write::Decision};
use serde::Serialize;

/// The first requests of a run. Doubtful facts lead to further requests, which depend on the replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConsolidationForecast {
    /// How many requests, within the limit of the run.
    pub requests: u64,
    /// The tokens of their prompts.
    pub prompt_tokens: u64,
    /// How many records were not searched for facts yet.
    pub records: u64,
    /// How many entities have observations that are due.
    pub people: u64,
}

/// Why a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConsolidationEnd {
    /// Nothing is left, except what was skipped.
    #[default]
    Done,
    /// The most requests of one run were made.
    MaxRequests,
    /// The emergency stop of the assistant is on, so no model is asked for it.
    Stopped,
    /// The budgets of the assistant allow no further request for now.
    BudgetSpent,
    /// The model failed. The rest can be done later.
    ModelFailed {
        /// How.
        kind: ModelErrorKind,
        /// The reason, for people: what the provider reported, or else what is known.
        reason: String,
    },
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Consolidated {
    /// How many requests were answered.
    pub requests: u64,
    /// How many recorded replies of an earlier run were used. They were not paid for again.
    pub resumed: u64,
    /// The tokens of the prompts, as the provider counted them, or as the engine did.
    pub prompt_tokens: u64,
    /// The tokens of the replies, counted in the same way.
    pub completion_tokens: u64,
    /// How many records were read.
    pub records: u64,
    /// How many facts were added.
    pub added: u64,
    /// How many of them superseded a record.
    pub superseded: u64,
    /// How many of them were linked with a record.
    pub linked: u64,
    /// How many facts were not kept, by the rule or by the model. Each is a change with its reason.
    pub ignored: u64,
    /// How many facts in replies were unusable: without text or source.
    pub unusable: u64,
    /// Whose observations were consolidated.
    pub people: Vec<EntityId>,
    /// The records and entities that were skipped, because the model gave no usable reply to them three times.
    pub skipped: Vec<String>,
    /// The events that changed records. Each can be undone.
    pub events: Vec<Seq>,
    /// Why it ended.
    pub end: ConsolidationEnd,
}

impl Consolidated {
    /// Counts a change of records.
    pub(super) fn count(&mut self, event: Option<Seq>, change: &MemoryChange, added: usize) {
        let MemoryChange::Extracted { facts, records, .. } = change else {
            return;
        };
        self.records += records.len() as u64;
        self.added += added as u64;
        for fact in facts {
            match fact.decision {
                Decision::Add => {}
                Decision::Supersede { .. } => self.superseded += 1,
                Decision::Link { .. } => self.linked += 1,
                Decision::Ignore { .. } => self.ignored += 1,
            }
        }
        self.events.extend(event.filter(|_| added > 0));
    }
}
