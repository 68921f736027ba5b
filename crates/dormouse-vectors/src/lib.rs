//! Vector indexes: an exact scan in process, a Qdrant server, and Qdrant edge.
//!
//! All of them implement the same trait, [`VectorIndex`](dormouse_contracts::VectorIndex).
//!
//! Stability: experimental.

mod direction;
#[cfg(feature = "qdrant-edge")]
mod edge;
mod exact;
#[cfg(feature = "qdrant")]
mod qdrant;
mod rank;

#[cfg(feature = "qdrant-edge")]
pub use edge::{Edge, EdgeError};
pub use exact::Exact;
#[cfg(feature = "qdrant")]
pub use qdrant::{
    ApiKey, CollectionLayout, CollectionPrefix, Qdrant, QdrantConfig, QdrantConfigError, QdrantUrl,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
