//! Lexical and hybrid retrieval over conversations and facts, without I/O and without a model.
//!
//! Stability: experimental. The weights and the features are measured and will change with better measurements, and
//! with them scores and order.

mod analyse;
mod config;
mod dates;
mod index;
mod pack;
mod query;
mod search;
mod snapshot;
mod traits;
mod unit;
mod weights;

pub use analyse::terms;
pub use config::Config;
pub use dates::{NamedTime, named_times};
pub use index::{Index, Insertion, Removal};
pub use pack::{Item, Packed, Standing, pack};
pub use query::{Match, Query, Ranking};
pub use snapshot::DecodeError;
pub use unit::Unit;
pub use weights::{Feature, ScoreParts, Weights};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
