//! The HTTP client of all providers: addresses, requests, error bodies.

mod address;
mod client;
mod error_body;
mod failure;
mod limits;
mod network;
mod pause;
mod redact;
mod transport;

pub use address::{ServerConfigError, check_base_url};
#[cfg(test)]
pub(crate) use failure::RequestSize;
pub use network::{CertificateError, Network, NetworkTimeouts};
pub(crate) use {
    address::{base, below, root},
    client::{Credentials, HttpClient, Key},
    error_body::ErrorBody,
    failure::Failure,
    limits::{rate_limits, request_id},
    pause::LONGEST as LONGEST_PAUSE,
    redact::Redact,
};
