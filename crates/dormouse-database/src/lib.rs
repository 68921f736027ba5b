//! Opens and creates redb files atomically, with errors that name the problem and the remedy.
//!
//! Layer 1. A [`FileKind`] describes what a file contains. [`open`] and [`open_existing`] open a file or return a
//! [`DatabaseOpenError`]. [`open_view`] opens one for reading: it writes nothing to the folder and works while another
//! process has the file open. A [`DatabaseHandle`] can be reopened after a failure of the disk. [`begin_write`] begins
//! a transaction that is on disk when its commit returns. [`contained`] turns redb's panics on damaged pages into a
//! [`DatabaseFault`]. [`unique_id`] identifies a file. [`PendingCommits`] are on disk outside of the file, and are applied
//! when it is opened.
//!
//! The crate does not know the content of the tables. Its signatures contain redb's types: it is for crates that use
//! redb as an implementation detail.
//!
//! Stability: the interface may change; later versions open the files of this one.

mod create;
mod database;
mod deferred;
mod error;
mod fault;
mod forward;
mod frozen;
mod handle;
mod header;
mod identity;
mod kind;
mod leftover;
mod measured;
mod open;
mod pending;
mod storage;

pub use create::{FileIdentity, create_private_file};
pub use database::{Database, begin_write, begin_write_in_memory};
pub use error::DatabaseOpenError;
pub use fault::{DatabaseFault, catch_panic, contained};
pub use handle::{DatabaseHandle, DatabaseSource};
pub use identity::unique_id;
pub use kind::{FileKind, FileSignature, SignatureFound};
pub use leftover::{sweep_leftovers, temporary_name};
pub use measured::StorageMeter;
pub use open::{DatabaseView, open, open_damaged, open_existing, open_view};
pub use pending::{PendingCommits, PendingError, PendingTarget};
pub use storage::FileStorage;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
