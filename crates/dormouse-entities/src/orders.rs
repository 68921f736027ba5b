//! Standing orders: what people asked for, once and for all.

mod compile;
mod recognise;
mod sentence;
mod subject;

use dormouse_contracts::{EntityId, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::{line::Line, profile::Name};

pub use compile::{LeftOut, OrderPolicy, StandingOrders, compile};
pub use recognise::{FoundOrder, orders_in, recognise};
pub use subject::subject_of;

/// What tells a standing order from others: the id of its record or event, as the caller writes it.
pub type OrderId = Line<128>;
/// What was asked for, in the words of who asked.
pub type OrderText = Line<300>;
/// What an order is about. Of two orders of one person about the same, the newer one counts.
pub type Subject = Line<64>;

/// What kind of thing was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OrderKind {
    /// What the assistant is to do or not to do.
    Instruction,
    /// How the one who says it likes things to be.
    Preference,
}

impl std::fmt::Display for OrderKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Instruction => "instruction",
            Self::Preference => "preference",
        })
    }
}

/// When something holds: from one time on, until just before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// The first moment.
    pub since: Timestamp,
    /// The first moment at which it no longer holds, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl Validity {
    /// From a time on, without an end.
    #[must_use]
    pub fn since(since: Timestamp) -> Self {
        Self { since, until: None }
    }

    /// Does it hold at this time?
    #[must_use]
    pub fn holds(&self, at: Timestamp) -> bool {
        self.since <= at && self.until.is_none_or(|until| at < until)
    }
}

/// Something a person asked for, to be kept in mind from then on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandingOrder {
    /// Tells it from others.
    pub id: OrderId,
    /// What was asked for.
    pub text: OrderText,
    /// What kind of thing that is.
    pub kind: OrderKind,
    /// Who asked, with merges followed.
    pub from: EntityId,
    /// The name of who asked.
    pub from_name: Name,
    /// How far the server's word goes that this person said so.
    pub trust: Trust,
    /// When.
    pub at: Timestamp,
    /// When it holds.
    pub valid: Validity,
    /// What it is about; found by [`subject_of`] where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
}
