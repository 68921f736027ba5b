//! A local server with each vendor's dialect and every fault of the matrix.
//!
//! A reply, or a fault, is written once, in terms of the port; a [`Dialect`] converts it to a vendor's format. A [`Host`]
//! sends it: plain threads and sockets, without an HTTP library, so that every anomaly can be sent, and without a
//! runtime, so that the client's clock may be paused.

mod answer;
mod anthropic;
mod chat_completions;
mod dialect;
mod host;
mod ollama;
mod request;
mod responses;
mod tls;

pub(crate) use self::{
    answer::{Answer, Step},
    dialect::{Counted, Dialect, Streamed, dialects},
    host::{Host, Seen},
    request::Request,
    tls::{AUTHORITY, Channel},
};
/// The configured key. Any output that contains it is a fault.
pub(crate) const KEY: &str = "sk-secret-key";
