//! Standing orders: lasting requests of people.

mod clause;
mod compile;
mod learnt;
mod recognise;
mod sentence;
mod subject;

use std::time::Duration;

use dormouse_contracts::{EntityId, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::{line::TextLine, profile::Name};

pub use compile::{LeftOut, OrderPolicy, StandingOrders, compile};
pub use learnt::order_features;
pub use recognise::{FoundOrder, orders_in, recognise};
pub use subject::subject_of;

/// The id of a standing order: the id of its record or event, in any form that the caller chooses.
pub type OrderId = TextLine<128>;
/// The request, in the person's own words.
pub type OrderText = TextLine<300>;
/// The subject of an order. Of two orders of one person on the same subject, the newer one counts.
pub type OrderSubject = TextLine<64>;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OrderKind {
    /// What the assistant should do or not do.
    Instruction,
    /// What the person likes.
    Preference,
    /// That an earlier request of the person no longer holds.
    Withdrawal,
}

impl std::fmt::Display for OrderKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Instruction => "instruction",
            Self::Preference => "preference",
            Self::Withdrawal => "withdrawal",
        })
    }
}

/// How long a request lasts that says so itself: "answer in French for today".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderPeriod {
    /// A day.
    Day,
    /// A week.
    Week,
}

impl OrderPeriod {
    /// The length, counted from when it is said.
    #[must_use]
    pub fn duration(self) -> Duration {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        match self {
            Self::Day => DAY,
            Self::Week => DAY * 7,
        }
    }
}

/// The period of validity: from one time until just before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderValidity {
    /// The first valid moment.
    pub since: Timestamp,
    /// The first moment after the period, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl OrderValidity {
    /// Valid from this time, without an end.
    #[must_use]
    pub fn since(since: Timestamp) -> Self {
        Self { since, until: None }
    }

    /// Whether the period includes this time.
    #[must_use]
    pub fn holds(&self, at: Timestamp) -> bool {
        self.since <= at && self.until.is_none_or(|until| at < until)
    }
}

/// A lasting request of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandingOrder {
    /// The id.
    pub id: OrderId,
    /// The request.
    pub text: OrderText,
    /// The kind of request.
    pub kind: OrderKind,
    /// The person; if the entity was merged into another, that other one.
    pub from: EntityId,
    /// The name of the person.
    pub from_name: Name,
    /// How far it is believed that this person really said it.
    pub trust: Trust,
    /// The time of the request.
    pub at: Timestamp,
    /// The period of validity.
    pub valid: OrderValidity,
    /// The subject; by default that of [`subject_of`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<OrderSubject>,
}
