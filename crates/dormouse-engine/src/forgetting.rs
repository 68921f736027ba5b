//! Forgetting: finds what a selection removes from a log, and computes the log without it. It reads a log and writes
//! nothing.
//!
//! [`KnownPeople`] finds the person that a name means. [`ForgetPlan::of_each`] reads the logs and finds everything that
//! a [`Selection`] removes: the words themselves, the turns that answered them, recorded things that were made from
//! them, and copies of them anywhere in the log. [`ForgetPlan::redact`] returns the payload of an event without all
//! that.
//!
//! An event that lost words keeps its number, time, kind, ids and counts, so it can still be folded and replayed. Its
//! payload begins
//! with the field `forgotten`.

mod collect;
mod journal;
mod messages;
mod names;
mod people;
mod plan;
mod redact;
mod requests;
mod retention;
mod selection;
mod tasks;
mod words;

pub use messages::messages_behind;
pub use people::{KnownPeople, Person, WhoError};
pub use plan::{ForgetPlan, LogRewrite};
pub(crate) use redact::IDS;
pub use redact::lost_words;
pub use requests::{ForgetRequest, forget_requests};
pub use retention::unreferred;
pub use selection::Selection;
