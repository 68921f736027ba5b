//! What the clients of all servers share: an address, one request sent once, and what a server says made harmless.

mod address;
mod client;
mod complaint;
mod failure;
mod pause;
mod redact;

pub use address::ServerConfigError;
pub(crate) use {
    address::{base, below, root},
    client::HttpClient,
    complaint::Complaint,
    failure::{Failure, Fault},
    pause::LONGEST as LONGEST_PAUSE,
    redact::Redact,
};
