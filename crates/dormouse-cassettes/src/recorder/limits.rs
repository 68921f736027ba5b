//! How much a recorder takes in.

use crate::exchange::{Body, Exchange};

/// How much a recorder takes in at most. What is left out is told in the cassette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderLimits {
    /// The exchanges of a cassette together, in bytes as they are in the file. An exchange that does not fit is kept
    /// without its bodies; if there is no room even for that, it is only counted.
    pub cassette_bytes: usize,
    /// The two bodies of an exchange together, in bytes. The end of what is longer is left out.
    pub exchange_bytes: usize,
    /// How many exchanges there are at most, those under way included.
    pub exchanges: usize,
    /// How many chunks of a body stay apart; further ones are added to the last of them.
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

/// Whether a cassette tells whom the requests went to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hosts {
    /// Host and port are dropped: they may be a company's own.
    #[default]
    Dropped,
    /// Host and port are kept.
    Kept,
}

/// Takes the bodies out of an exchange, and tells how much that was.
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
