//! Turns a game that neither numbers events nor remembers acts into a world that assistants can live in.
//!
//! An assistant needs two things that few games have: numbered deliveries that are kept until they are acknowledged
//! ([`Senses`](dormouse_contracts::Senses)), and a memory of which act was carried out
//! ([`Perform`](dormouse_contracts::Perform), [`Inquire`](dormouse_contracts::Inquire)). A [`BridgeFile`] has both.
//!
//! Read in this order: [`Report`] (what a game reports), [`DeliveryQueue`] (where it is numbered and kept), [`Receipts`]
//! (the outcome of each act), [`Game`] (what a game has to do), [`Bridge`] (a game together with its queue and receipts, as a
//! [`Habitat`](dormouse_contracts::Habitat)).
//!
//! Layer 2. It does not depend on the engine, classification, models or the event log.
//!
//! Stability: the interface may change; later versions open the files of this one.

mod bridge;
mod copy;
mod file;
mod game;
mod queue;
mod receipts;
mod report;
mod store_error;

pub use bridge::Bridge;
pub use copy::{BridgeMoment, BridgeRecord, ChangeRecord, count_changed, rewrite_bridge};
pub use file::{BridgeFile, BridgeOpenError};
pub use game::{Game, Performed, say_tool};
pub use queue::{DeliveryQueue, PEER_IDS_REMEMBERED, QueueError, QueueErrorKind};
pub use receipts::{Begun, Receipts};
pub use report::Report;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
