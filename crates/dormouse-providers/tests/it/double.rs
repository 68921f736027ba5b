//! A server on this machine that speaks each vendor's dialect, and does it wrong in every way that is wanted.
//!
//! A reply, or what is wrong with it, is written down once, in the words of the port; a [`Dialect`] puts it into a
//! vendor's. A [`Host`] sends it: plain threads and sockets without an HTTP library, so that every oddity can be sent, and
//! without a runtime, so that the client's clock may be paused.

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
/// The key that is configured, where the vendor wants one. Whatever tells it has a fault.
pub(crate) const KEY: &str = "sk-secret-key";
