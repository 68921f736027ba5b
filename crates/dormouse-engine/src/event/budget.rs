//! What may be spent on a call of a model.

use dormouse_contracts::Usd;
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// A model is about to be called; this much of the budgets is reserved for it. It counts as spent until the reply says how
/// much it was, and for ever if no reply comes and the provider may have charged for it.
///
/// Written only by assistants that have a budget, and for servers of tools also in a turn for a task of another assistant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReserved {
    /// For whom.
    pub by: ReservedBy,
    /// The tokens of the prompt, and the most tokens of the reply.
    pub tokens: u64,
    /// What they cost; absent if the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// The most tokens of the reply, as they are requested.
    pub reply_tokens: u32,
    /// What is left of the budget that has the least left, if that is little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<LowBudget>,
    /// What is reserved in addition for the next calls of the tick; absent if each of them reserves its own. What no call took is given
    /// back when the tick ends, or when more is reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<ReservedAhead>,
    /// Whether it is a part of what an earlier call of the tick reserved ahead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_ahead: bool,
}

/// What the next calls of a tick may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservedAhead {
    /// The tokens of prompts and replies.
    pub tokens: u64,
    /// What they cost; absent if the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
}

/// Who calls a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReservedBy {
    /// A turn.
    Turn,
    /// A consolidation.
    Consolidation,
    /// A server of tools that asks the model while the assistant calls it. All that was reserved stays spent.
    Server,
}

/// The span of time that a budget is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetSpan {
    /// One tick.
    Tick,
    /// Any 60 minutes.
    Hour,
    /// Any 24 hours.
    Day,
    /// The whole life of the assistant.
    Life,
}

/// Little is left of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowBudget {
    /// The span that it is for.
    pub span: BudgetSpan,
    /// How much is left, in percent.
    pub percent: u32,
}
