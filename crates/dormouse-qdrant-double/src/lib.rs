//! A Qdrant server for tests, in process, that fails on request.
//!
//! It speaks the real protocol over a real connection on the loopback interface, made from the server side of
//! qdrant-client's own generated code; behind it is a map. It answers what the adapter of `dormouse-vectors` asks and
//! refuses the rest, in the words of a server where the adapter reads them. It is not an index to use: a search sorts all
//! points.
//!
//! A dev-dependency only.
//!
//! Stability: none; it grows with the tests.

mod collections;
mod fault;
mod filter;

mod points;
mod rpc;
mod server;
mod store;

pub use fault::QdrantFault;
pub use server::{AfterRestart, QdrantDouble};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
