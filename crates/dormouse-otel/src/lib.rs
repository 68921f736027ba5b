//! What assistants did, as OpenTelemetry spans, and their export to a collector.
//!
//! Layer 5. [`Projection`] makes spans of events; it is pure, so spans of yesterday can be made today. [`export`] sends the spans of
//! logs as they are, and [`Follower`] those of logs that are being written. Nothing in a log depends on any of this.
//!
//! Stability: names of attributes follow the conventions for generative AI, which are in development.

mod collector;
mod export;
mod follow;
mod outbox;
mod projection;
mod sent;
mod span;
#[cfg(test)]
mod testing;
mod wire;

pub use collector::{Collector, CollectorError, SendError, SendErrorKind};
pub use export::{ExportRange, SpanExportError, export};
pub use follow::{FollowError, FollowNotice, FollowSettings, Follower, Logs};
pub use outbox::ExportReport;
pub use projection::{Projection, SpanContent};
pub use sent::SentFileError;
pub use span::{Life, Span, SpanValue};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
