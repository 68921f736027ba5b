//! How an assistant's memory follows from its log.
//!
//! The log is authoritative. The memory's content is a projection of it with a checkpoint in the memory's own file. So
//! an empty memory next to an old log fills itself, and one that is behind after a crash catches up.

mod catch_up;
mod context;
mod journal;
mod logged;
mod mapping;
mod place;
mod reading;

pub(crate) use catch_up::LastPosition;
pub use catch_up::{CatchUpError, CaughtUp, catch_up, check_log};
pub use logged::{LoggedChangeError, LoggedMemory};
pub(crate) use mapping::is_for_memory;
