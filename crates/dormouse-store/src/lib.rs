//! The append-only event log of assistants, and their snapshots, in one file when it is closed.
//!
//! [`RedbLog`] implements the log traits of `dormouse-contracts`. An append names the sequence number that it expects
//! at the end of the log, so two writers cannot interleave. Many appends share one commit, and are answered when it is
//! on disk. While the log is open, and after a crash, the newest commits are in a second file ([`write_ahead_file`]). Every event has a checksum over its content, its assistant and its sequence number. A file that cannot be
//! opened is never reset: [`LogOpenError`] says what is wrong, what is intact and what to do, and [`salvage`] copies
//! the intact events. [`LogView`] reads a file that cannot be written, or that another process has open.
//! `docs/format.md` describes the file byte by byte.
//!
//! The log does not know what events mean, and no type of redb is in its interface. redb can panic on damaged files; such
//! a panic is caught and becomes an error, so build with unwinding panics, the default.
//!
//! Stability: the functions may still change; later versions read files of formats 1 and 2.

mod committer;
mod events;
mod fault;
#[cfg(test)]
mod flaky;
mod frame;
mod log;
mod moment;
mod open;
mod recent;
mod rewrite;
mod rows;
mod salvage;
mod scan;
mod signature;
mod snapshots;
mod stats;
mod verify;
mod view;
mod wal;

pub use log::RedbLog;
pub use moment::LogMoment;
pub use open::LogOpenError;
pub use rewrite::{RewriteError, RewriteEvents, RewriteReport};
pub use rows::{MAX_KIND_BYTES, MAX_PAYLOAD_BYTES, MAX_SNAPSHOT_BYTES};
pub use salvage::{SalvageError, SalvageReport, salvage};
pub use scan::{Readable, Stop};
pub use signature::Creation;
pub use stats::WriteStats;
pub use verify::{AssistantReport, VerifyReport};
pub use view::LogView;
pub use wal::write_ahead_file;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
