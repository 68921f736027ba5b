//! What the clients of all servers share: an address, one request sent once, and what a server says made harmless.

mod address;
mod client;
mod complaint;
mod failure;
mod limits;
mod network;
mod pause;
mod redact;
mod tape;

pub use address::{ServerConfigError, check_base_url};
#[cfg(test)]
pub(crate) use failure::RequestSize;
pub use network::{CertificateError, Network, Patience};
pub(crate) use {
    address::{base, below, root},
    client::{Access, HttpClient, Key},
    complaint::Complaint,
    failure::Failure,
    limits::{rate_limits, request_id},
    pause::LONGEST as LONGEST_PAUSE,
    redact::Redact,
};
