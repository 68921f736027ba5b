//! How an assistant's memory follows from its log.
//!
//! The log is the truth. What the memory holds of it is a projection with a checkpoint inside the memory's own file, so
//! that an empty memory beside an old log fills itself, and one that was left behind by a crash catches up.

mod catch_up;
mod context;
mod mapping;
mod place;
mod reading;
mod rebind;

pub use catch_up::{CatchUpError, CaughtUp, catch_up, check_log};
pub(crate) use mapping::{is_for_memory, words_of};
pub use rebind::{Rebound, rebind};
