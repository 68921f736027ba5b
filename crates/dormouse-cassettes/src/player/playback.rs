//! A recorded answer.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::exchange::{Chunk, Ending, Exchange};

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Playback {
    index: usize,
    exchange: Arc<Exchange>,
}

impl Playback {
    pub(super) fn new(index: usize, exchange: Arc<Exchange>) -> Self {
        Self { index, exchange }
    }

    /// Returns its index in the cassette, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the recorded exchange.
    #[must_use]
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Returns the status; `None` if the server was never reached.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        let response = self.exchange.response.as_ref()?;
        StatusCode::from_u16(response.status).ok()
    }

    /// Returns the recorded response headers, without invalid ones.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        let headers = self
            .exchange
            .response
            .iter()
            .flat_map(|response| &response.headers);
        let headers = headers.filter_map(|header| {
            let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
            let value = HeaderValue::from_bytes(header.value.as_bytes()).ok()?;
            Some((name, value))
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        map
    }

    /// Returns the time until the status arrived.
    #[must_use]
    pub fn waited(&self) -> Duration {
        let response = self.exchange.response.as_ref();
        Duration::from_millis(response.map_or(0, |response| response.waited_ms))
    }

    /// Returns the body in the recorded pieces; empty without a response.
    #[must_use]
    pub fn chunks(&self) -> &[Chunk] {
        let response = self.exchange.response.as_ref();
        response.map_or(&[], |response| &response.chunks)
    }

    /// Returns how the replay ends: as recorded, or [`Ending::CutOff`] if the recorder truncated the body.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.exchange.replayed_ending()
    }
}

impl Chunk {
    /// Returns the time since the previous piece.
    #[must_use]
    pub fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }
}
