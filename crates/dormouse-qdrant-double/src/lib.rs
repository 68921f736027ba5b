//! A Qdrant server for tests, in process, that fails on request.
//!
//! It speaks the real protocol over a real connection on the loopback interface, with the server side of
//! qdrant-client's generated code. It stores the points in a map. It supports the requests of the adapter in
//! `dormouse-vectors` and refuses all others. Where the adapter reads an error text, it uses the text of a real server.
//! Do not use it as an index: each search sorts all points.
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
