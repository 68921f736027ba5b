//! Lexical and hybrid retrieval over conversations and facts, without I/O and without a model.
//!
//! An [`Index`] holds [`Unit`]s: turns of conversations, or facts that stand alone. A [`Query`] is answered with
//! [`Match`]es, whose score is the weighted mean of [`Feature`]s: which of the query's words occur in the unit and how far
//! around it, in its session as a whole, who speaks, whether it follows a question, the time that is asked for, how much
//! it says, and what an encoder makes of it if there is one. [`ScoreParts`] say what each contributed, and
//! [`pack`] chooses what fits a budget of tokens. Plain BM25 is there as a yardstick: [`Ranking::PlainBm25`].
//!
//! Everything is a pure function of its arguments: no clock, no chance, no I/O. [`named_times`] reads what times a text
//! names, given when it was said; [`terms`] tells how text is compared.
//!
//! Stability: experimental. The weights and the features are measured and will change with better measurements, and
//! with them scores and order. A snapshot of another version is refused, never misread.

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
