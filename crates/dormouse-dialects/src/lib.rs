//! Reads tool calls out of what models really answer, and learns which of them call tools natively.
//!
//! Layer 1, and pure: a reply in, a [`Reading`] out; an observation in, a [`Change`] of a [`DialectBook`] out. Nothing here
//! talks to a model, reads a clock or a file, or checks arguments against a schema.
//!
//! Read in this order: [`ToolCalling`] (how tools are offered), [`read`] (what a reply holds), [`Signs`] (what was odd
//! about it), [`Probe`] (how a model is asked what it can do), [`DialectBook`] (what is known of models).
//!
//! Stability: the corpus grows, and with it what is read; what is read as a call today stays one. The words of
//! [`Form`] and [`Oddity`] and the JSON of a [`DialectBook`] are formats, and only grow.

mod book;
mod calling;
#[cfg(feature = "corpus")]
pub mod corpus;
mod probe;
mod read;
mod reading;
mod signs;
mod text;
mod thoughts;

pub use book::{BookError, Change, DialectBook, Evidence, Learnt};
pub use calling::ToolCalling;
pub use probe::{Probe, ProbeVerdict};
pub use read::{NATIVE_CALLS_LIMIT, read};
pub use reading::{Content, ReadCall, Reading};
pub use signs::{Form, Oddity, Signs};
pub use text::PRINTED_CALLS_LIMIT;

#[cfg(all(doctest, feature = "corpus"))]
#[doc = include_str!("../README.md")]
struct Readme;
