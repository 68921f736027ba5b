//! Lexical and hybrid retrieval over conversations and facts, without I/O and without a model.
//!
//! An [`Index`] contains [`Unit`]s: turns of conversations, or single facts. A [`SearchQuery`] returns
//! [`SearchMatch`]es. The score of a match is the weighted mean of its [`Feature`]s: which words of the query occur in
//! the unit, in its neighbours and in its session, who speaks, whether the unit follows a question, whether its time
//! matches, how informative it is, and its vector similarity if there are vectors. [`ScoreParts`] contain the
//! contribution of each feature. [`pack`] chooses the matches that fit a token budget. [`Ranking::PlainBm25`] is the
//! baseline for comparison.
//!
//! Everything is a pure function of its arguments: no clock, no randomness, no I/O. [`named_times`] finds the times
//! that a text names, relative to when it was said. [`terms`] returns the terms that are compared; [`words`] and
//! [`base_form`] are the steps that lead to them. [`support`] computes the trust of a text that was made from others,
//! from which of them supply its words. [`ComparableText`] says whether two texts say the same.
//!
//! Stability: experimental. The weights and features come from measurements. Better measurements will change them, and
//! with them the scores and the order. A snapshot of another version is rejected, never misread.

mod analyse;
mod config;
mod dates;
mod index;
mod pack;
mod passages;
mod query;
mod search;
mod similarity;
mod snapshot;
pub mod support;
mod text_features;
mod unit;
mod weights;

pub use analyse::{base_form, is_stop_word, terms, words};
pub use config::Config;
pub use dates::{NamedTime, named_times};
pub use index::{Index, Insertion, Removal};
pub use pack::{ItemRole, PackItem, Packed, pack};
pub use passages::passages;
pub use query::{Ranking, SearchMatch, SearchQuery};
pub use similarity::{ComparableText, denies};
pub use snapshot::SnapshotDecodeError;
pub use text_features::asks;
pub use unit::{Speaker, Unit};
pub use weights::{Feature, ScoreParts, Weights};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
