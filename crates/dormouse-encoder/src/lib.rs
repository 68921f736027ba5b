//! A text encoder that runs in this process.
//!
//! Layer 2. [`LocalEncoder`] is all there is: it reads a model of the BERT kind from a folder and implements
//! [`Embedder`](dormouse_contracts::Embedder). It fetches nothing, and knows no server.
//!
//! Stability: the constructor and what a folder may hold are kept.

mod encoder;
mod error;
mod folder;
mod model;
mod pooling;

pub use encoder::LocalEncoder;
pub use error::LocalEncoderError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
