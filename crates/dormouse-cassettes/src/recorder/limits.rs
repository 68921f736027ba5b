//! The limits of a recorder.

use crate::exchange::{Body, Exchange};

/// The limits of a recorder. The cassette states what was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderLimits {
    /// Maximum size of all exchanges, in bytes of the file. An exchange that does not fit is stored without its bodies, or
    /// only counted.
    pub cassette_bytes: usize,
    /// Maximum size of both bodies of an exchange, in bytes. The rest is left out.
    pub exchange_bytes: usize,
    /// Maximum number of exchanges, including running ones.
    pub exchanges: usize,
    /// Maximum number of separate chunks in a body; further ones are appended to the last.
    pub chunks: usize,
}

impl Default for RecorderLimits {
    /// 32 MiB in all, 8 MiB for an exchange, 10,000 exchanges of at most 50,000 chunks.
    fn default() -> Self {
        Self {
            cassette_bytes: 32 << 20,
            exchange_bytes: 8 << 20,
            exchanges: 10_000,
            chunks: 50_000,
        }
    }
}

/// Whether a cassette contains hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hosts {
    /// Host and port are dropped: they may belong to a company.
    #[default]
    Dropped,
    /// Host and port are kept.
    Kept,
}

/// Removes the bodies of an exchange, and returns their size.
pub(super) fn leave_bodies_out(exchange: &mut Exchange) {
    let request = &mut exchange.request;
    let body = std::mem::replace(&mut request.body, Body::Empty).to_bytes();
    request.left_out_bytes = request.left_out_bytes.saturating_add(body.len() as u64);
    if let Some(response) = &mut exchange.response {
        let bytes = response.chunks.iter().map(|chunk| chunk.bytes.len() as u64);
        let bytes = bytes.fold(0, u64::saturating_add);
        response.chunks.clear();
        response.left_out_bytes = response.left_out_bytes.saturating_add(bytes);
    }
}
