//! An answer that was recorded.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::exchange::{Chunk, Ending, Exchange};

/// What a request is answered with.
#[derive(Clone, Debug)]
pub struct Playback {
    index: usize,
    exchange: Arc<Exchange>,
}

impl Playback {
    pub(super) fn new(index: usize, exchange: Arc<Exchange>) -> Self {
        Self { index, exchange }
    }

    /// Its place in the cassette, counted from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The exchange as it was recorded.
    #[must_use]
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The status; `None` if the server was never reached.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        let response = self.exchange.response.as_ref()?;
        StatusCode::from_u16(response.status).ok()
    }

    /// The recorded headers of the response. What is no header is left out.
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

    /// How long the status was waited for.
    #[must_use]
    pub fn waited(&self) -> Duration {
        let response = self.exchange.response.as_ref();
        Duration::from_millis(response.map_or(0, |response| response.waited_ms))
    }

    /// The body in the pieces it arrived in; none if there was no response.
    #[must_use]
    pub fn chunks(&self) -> &[Chunk] {
        let response = self.exchange.response.as_ref();
        response.map_or(&[], |response| &response.chunks)
    }

    /// How the replay ends after the last chunk: as recorded, or [`Ending::CutOff`] if the recorder left out the end.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.exchange.replayed_ending()
    }
}

impl Chunk {
    /// How long after the piece before it this one came.
    #[must_use]
    pub fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }
}
