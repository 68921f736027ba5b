//! Forgetting: what a selection takes out of a log, and the same log without it. Pure: it reads a log and writes nothing.
//!
//! [`KnownPeople`] finds whom a name means. [`ForgetPlan::of_each`] reads the logs and finds everything that a [`Selection`]
//! takes: the words themselves, the turns that answered them, what was made of them as far as that is recorded, and copies of
//! them anywhere in the log. [`ForgetPlan::redact`] gives the payload of an event without it.
//!
//! An event that lost words keeps its number, time, kind, ids and counts, so folding and replaying go on. Its payload begins
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
