//! A redb file that is never half made, and errors that say what is wrong with one and how to mend it.
//!
//! Layer 1. A [`FileKind`] says what a file holds; [`open`] and [`open_existing`] open it, or say in an [`OpenError`] why
//! not; [`begin_write`] begins a transaction whose commit is on disk when it answers; [`contained`] keeps the panics of
//! the library on damaged pages from getting out, as a [`DatabaseFault`].
//!
//! It does not know what stands in the tables. Its signatures have redb's types in them: it is for crates that use redb,
//! and keep it to themselves.
//!
//! Stability: the interface may still change; a file that was made by this version opens in later ones.

mod create;
mod database;
mod error;
mod fault;
mod kind;
mod leftover;
mod measured;
mod open;

pub use database::{Database, begin_write};
pub use error::OpenError;
pub use fault::{DatabaseFault, contained};
pub use kind::FileKind;
pub use open::{open, open_existing};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
