//! The service over HTTP: every assistant of a host as a REST API and as pages, and its events as a stream.
//!
//! Layer 6. It has no logic of its own. It shows the results of queries of a state, a log or a memory. It changes
//! things by commands of the host, or by events that say who wanted them. It reads no environment and no command line.
//!
//! Read in this order: [`TokenStore`] (who may do what), [`Server`] (what listens), `guard` (what every request passes), `api`
//! (one module for each domain), `pages` (the same for people with a browser), `mcp` (the same for agents), `problem` (every way in which a request is refused), and
//! [`McpBridge`] (the client side of `mcp`, for programs that speak on standard input and output).
//!
//! Stability: paths, fields and codes of problems are kept once released; [`openapi`] describes them. The Rust interface may
//! still change.

mod api;
mod bridge;
mod connection;
mod extract;
mod file_body;
mod guard;
mod idempotency;
mod looking_back;
mod mcp;
mod metrics;
mod openapi;
mod pages;
mod problem;
mod server;
mod service;
mod tokens;

pub use bridge::{McpBridge, ServiceAddress, ServiceAddressError};
pub use openapi::openapi;
pub use server::{Server, ServerError, ServerSettings};
pub use tokens::{Fact, NewToken, Right, StoredToken, TokenSecret, TokenStore, TokenStoreError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
