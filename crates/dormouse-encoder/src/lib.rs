//! A text encoder that runs in this process.
//!
//! Layer 2. [`LocalEncoder`] loads a BERT model from a folder and implements
//! [`Embedder`](dormouse_contracts::Embedder). It downloads nothing and uses no server.
//!
//! Stability: the constructor and the format of the folder are stable.

mod encoder;
mod error;
mod file;
mod folder;
mod model;
mod pooling;

pub use encoder::LocalEncoder;
pub use error::LocalEncoderError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
