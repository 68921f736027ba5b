//! The append-only event log of assistants, and their snapshots, on a cluster of NATS JetStream.
//!
//! [`NatsLog`] implements the log traits of `dormouse-contracts`. All lives are in one stream, with a subject for each; the events
//! of one append are one message, so they are stored all or none. An append names the stream sequence of the message that it
//! follows, and the server refuses it if another one is last. That check is made by the leader alone, so the log does not rely on
//! it: each message also carries the hash of the one before and the epoch of its owner, and every reader verifies them. A log that
//! is not what its owners wrote is reported and not written any more ([`ChainBreak`]).
//!
//! What the answers of the servers mean is decided in pure functions. A refusal that passes, and silence, are answered by sending
//! the same message with the same id again, for a bounded time. The server recognises the id, and so does the hash.
//!
//! Servers acknowledge events before they are on disk unless they are configured not to. [`NatsLog::connect`] asks them over the
//! system account, and refuses those; see [`NatsDurability`].
//!
//! The log does not know what events mean, and no type of the client library is in its interface.
//!
//! Stability: experimental. The format of messages has a number, and later versions read this one.

mod api;
mod chain;
mod config;
mod connect;
mod fault;
mod frame;
mod hosting;
mod life;
mod log;
mod outcome;
mod ownership;
#[cfg(test)]
mod simulation;
mod snapshots;
mod walk;

pub use chain::ChainBreak;
pub use config::{NatsConfig, NatsDurability, NatsLogin};
pub use connect::NatsConnectError;
pub use fault::NatsFault;
pub use hosting::{HostAssistants, HostConfig, HostingError, Stay};
pub use log::{LifeReport, NatsLog};
pub use ownership::{HostName, HostNameError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
