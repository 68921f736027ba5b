//! The append-only event log of assistants, and their snapshots, in one file.
//!
//! [`RedbLog`] implements the log's ports of `dormouse-contracts`: an append names the place it expects the log
//! to end at, so that two writers cannot interleave; many appends share one commit and are answered after it
//! reached the disk; every event carries a checksum over all of itself, its owner and its place. A file that
//! cannot be opened is never reset: [`LogOpenError`] says what is wrong, what is intact and what to do, and
//! [`salvage`] copies what is intact. [`LogView`] reads one that
//! cannot be written, or that another process has open. `docs/format.md` describes the file byte by byte.
//!
//! The log does not know what events mean, and no type of the database below it appears here. A panic inside
//! that database (it can happen on damaged files) is caught and becomes an error, so build with unwinding
//! panics, the default.
//!
//! Stability: the functions may still change; files of format 1 will stay readable.

mod bytes;
mod committer;
mod fault;
#[cfg(test)]
mod flaky;
mod frame;
mod head;
mod log;
mod meta;
mod open;
mod reading;
mod record;
mod salvage;
mod scan;
mod snapshot;
mod stats;
mod survey;
mod tables;
mod verify;
mod view;

pub use log::RedbLog;
pub use meta::Origin;
pub use open::LogOpenError;
pub use record::{MAX_KIND_BYTES, MAX_PAYLOAD_BYTES};
pub use salvage::{SalvageError, SalvageReport, salvage};
pub use scan::{Readable, Stop};
pub use snapshot::MAX_SNAPSHOT_BYTES;
pub use stats::WriteStats;
pub use verify::{AssistantReport, VerifyReport};
pub use view::LogView;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
