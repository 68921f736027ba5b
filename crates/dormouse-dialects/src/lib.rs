//! Parses tool calls from the replies that real models produce, and learns which models call tools natively.
//!
//! Layer 1, and pure: [`parse_reply`] turns a reply into a [`ParsedReply`], and a [`DialectBook`] turns evidence into a
//! [`CallingChange`]. Nothing here calls a model, reads a clock or a file, or checks arguments against a schema.
//!
//! Read in this order: [`ToolCalling`] (how tools are offered), [`parse_reply`] (the content of a reply), [`Signs`]
//! (its anomalies), [`ToolProbe`] (a request that tests a model), [`DialectBook`] (what is known about models).
//!
//! Stability: the corpus and the set of parsed formats grow; later versions still parse every call that this version
//! parses. The names of [`CallFormat`] and [`Anomaly`] and the JSON of a [`DialectBook`] are formats that may only be
//! extended.

mod book;
mod calling;
#[cfg(feature = "corpus")]
pub mod corpus;
mod parse;
mod probe;
mod reply;
mod signs;
mod text;
mod thoughts;

pub use book::{BookError, CallingChange, DialectBook, Evidence, Learnt};
pub use calling::ToolCalling;
pub use parse::{NATIVE_CALLS_LIMIT, call_among_words, parse_reply};
pub use probe::{ProbeVerdict, ToolProbe};
pub use reply::{Content, ParsedCall, ParsedReply};
pub use signs::{Anomaly, CallFormat, Signs};
pub use text::PRINTED_CALLS_LIMIT;

#[cfg(all(doctest, feature = "corpus"))]
#[doc = include_str!("../README.md")]
struct Readme;
