//! Which host should have which assistant. Nothing here does I/O, reads a clock or is random.
//!
//! A *lease* names the host that should have an assistant. It holds while that host's *beats* arrive. Both are only hints: a host
//! may be paused between its look at a lease and what it does next. What decides is the epoch in the assistant's log, which
//! begins with the first append of the new owner. So [`Ownership`] decides quickly and may be wrong for a moment.

mod directory;
mod machine;
mod rendezvous;

pub(crate) use directory::{Entry, Key, Value};
pub use directory::{HostName, HostNameError};
pub(crate) use machine::{Action, Gone, Identity, Input, Look, Ownership, Pace, Written};
