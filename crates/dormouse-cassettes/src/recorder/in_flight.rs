//! An exchange in progress.

use std::{fmt, time::Duration};

use http::{HeaderMap, Method, StatusCode};

use super::{Hosts, Recorder, RequestParts, Target};
use crate::{
    exchange::{Body, Chunk, Ending, Exchange, RecordedRequest, RecordedResponse},
    headers::{self, Side},
    scrub::{Scrubber, Stream},
    slices::boundary,
};

/// An exchange that is being recorded: report what happens, and finally how it ended. If it is dropped before that, it
/// is recorded as [`Ending::Abandoned`].
pub struct RecordingExchange {
    recorder: Recorder,
    /// Its position in the cassette; `None` if it does not fit.
    slot: Option<usize>,
    raw: Option<Raw>,
    is_over: bool,
}

/// The data so far, not scrubbed yet.
struct Raw {
    method: Method,
    url: String,
    request_headers: Vec<(String, String)>,
    request: KeptBody,
    status: Option<StatusCode>,
    waited_ms: u64,
    response_headers: Vec<(String, String)>,
    response: KeptBody,
    pauses_ms: Vec<u64>,
    joined_chunks: u64,
    reason: String,
}

/// The kept part of a body.
struct KeptBody {
    stream: Stream,
    /// The number of bytes that were not kept.
    beyond: u64,
}

impl KeptBody {
    fn new() -> Self {
        Self {
            stream: Stream::default(),
            beyond: 0,
        }
    }

    /// Keeps as much of `bytes` as fits into `limit`, as a new chunk or as part of the last one.
    fn take(&mut self, bytes: &[u8], limit: usize, place: Place) {
        let room = limit.saturating_sub(self.stream.len());
        let (taken, beyond) = bytes.split_at(bytes.len().min(room));
        self.beyond = self.beyond.saturating_add(beyond.len() as u64);
        match place {
            Place::Own => self.stream.push(taken),
            Place::Last => self.stream.extend(taken),
        }
    }
}

impl KeptBody {
    /// Truncates the body at the limit, and returns how many bytes are missing in total.
    fn cut(&mut self, limit: usize) -> u64 {
        let cut = self.stream.cut(limit) as u64;
        cut.saturating_add(self.beyond)
    }
}

#[derive(Clone, Copy)]
enum Place {
    Own,
    Last,
}

impl RecordingExchange {
    /// How many bytes beyond the limit are kept until scrubbing, so that a secret that crosses the limit is found as a
    /// whole.
    const MARGIN_BYTES: usize = 16 << 10;

    pub(super) fn new(recorder: Recorder, slot: Option<usize>, parts: RequestParts<'_>) -> Self {
        let raw = slot.map(|_| {
            let further = recorder.state().scrubber.rules().headers().to_vec();
            let mut request = KeptBody::new();
            request.take(parts.body, Self::most_kept(&recorder), Place::Own);
            Raw {
                method: parts.method.clone(),
                url: parts.url.to_owned(),
                request_headers: headers::harmless(Side::Request, parts.headers, &further),
                request,
                status: None,
                waited_ms: 0,
                response_headers: Vec::new(),
                response: KeptBody::new(),
                pauses_ms: Vec::new(),
                joined_chunks: 0,
                reason: String::new(),
            }
        });
        Self {
            recorder,
            slot,
            raw,
            is_over: false,
        }
    }

    /// Records status and headers, `waited` after the request. A second call replaces the first.
    pub fn answered(&mut self, status: StatusCode, headers: &HeaderMap, waited: Duration) {
        if let Some(raw) = &mut self.raw {
            let further = self.recorder.state().scrubber.rules().headers().to_vec();
            raw.status = Some(status);
            raw.waited_ms = millis(waited);
            raw.response_headers = headers::harmless(Side::Response, headers, &further);
        }
    }

    /// Records a piece of the body, `pause` after the previous one or after the status. Copies the bytes within the
    /// limits.
    pub fn chunk(&mut self, bytes: &[u8], pause: Duration) {
        let limit = Self::most_kept(&self.recorder);
        let most = self.recorder.shared.limits.chunks.max(1);
        let Some(raw) = &mut self.raw else {
            return;
        };
        // Once the body is full, later bytes are counted but start no new chunk.
        let full = raw.response.beyond > 0;
        if raw.pauses_ms.len() < most && !full {
            raw.pauses_ms.push(millis(pause));
            raw.response.take(bytes, limit, Place::Own);
        } else {
            raw.joined_chunks = raw.joined_chunks.saturating_add(u64::from(!full));
            raw.response.take(bytes, limit, Place::Last);
        }
    }

    /// Ends the exchange: scrubs it and adds it to the cassette.
    ///
    /// An ending that contradicts the status is corrected. Without a status, [`Ending::Whole`] and [`Ending::CutOff`]
    /// become [`Ending::NeverReached`]; with a status, [`Ending::NeverReached`] becomes [`Ending::CutOff`].
    pub fn ended(mut self, ending: Ending) {
        self.finish(ending);
    }

    /// Like [`RecordingExchange::ended`], with the transport's error message, such as `connection reset by peer`. It is
    /// scrubbed, and truncated at [`Exchange::LONGEST_REASON_BYTES`].
    pub fn ended_because(mut self, ending: Ending, reason: &dyn fmt::Display) {
        if let Some(raw) = &mut self.raw {
            raw.reason = reason.to_string();
        }
        self.finish(ending);
    }

    fn most_kept(recorder: &Recorder) -> usize {
        let limit = recorder.shared.limits.exchange_bytes;
        limit.saturating_add(Self::MARGIN_BYTES)
    }

    /// Ends the exchange once; later calls do nothing.
    fn finish(&mut self, ending: Ending) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        let Self {
            recorder,
            slot,
            raw,
            ..
        } = self;
        let shared = &recorder.shared;
        let place = slot.take().zip(raw.take());
        recorder.finish(place, |raw, scrubber| {
            raw.scrubbed(scrubber, ending, shared.hosts, shared.limits.exchange_bytes)
        });
    }
}

impl Drop for RecordingExchange {
    fn drop(&mut self) {
        self.finish(Ending::Abandoned);
    }
}

impl fmt::Debug for RecordingExchange {
    /// Shows nothing of the exchange, which is not scrubbed yet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingExchange")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

impl Raw {
    /// Returns the scrubbed exchange, within the limit.
    fn scrubbed(
        mut self,
        scrubber: &mut Scrubber,
        ending: Ending,
        hosts: Hosts,
        limit: usize,
    ) -> Exchange {
        let target = Target::of(&self.url);
        let host = (hosts == Hosts::Kept && !target.host.is_empty()).then_some(target.host);
        let reason = match hosts {
            Hosts::Dropped => target.removed_from(&self.reason),
            Hosts::Kept => self.reason,
        };
        scrubber.stream(&mut self.request.stream);
        scrubber.stream(&mut self.response.stream);
        let left_out_bytes = self.request.cut(limit);
        let request = RecordedRequest {
            method: self.method.as_str().to_owned(),
            target: scrubber.target(target.path_and_query),
            host: host.map(|host| scrubber.text(host)),
            headers: scrubber.headers(self.request_headers),
            body: Body::of(self.request.stream.into_bytes()),
            left_out_bytes,
        };
        let room = limit.saturating_sub(request.body.to_bytes().len());
        let left_out_bytes = self.response.cut(room);
        let response = self.status.map(|status| RecordedResponse {
            status: status.as_u16(),
            waited_ms: self.waited_ms,
            headers: scrubber.headers(self.response_headers),
            chunks: chunks(self.pauses_ms, &self.response.stream),
            left_out_bytes,
            joined_chunks: self.joined_chunks,
        });
        Exchange {
            ending: consistent_ending(ending, self.status),
            reason: shortened(scrubber.text(&reason)),
            request,
            response,
        }
    }
}

/// Returns an ending that is consistent with the status.
fn consistent_ending(ending: Ending, status: Option<StatusCode>) -> Ending {
    match (ending, status) {
        (Ending::Whole | Ending::CutOff, None) => Ending::NeverReached,
        (Ending::NeverReached, Some(_)) => Ending::CutOff,
        (ending, _) => ending,
    }
}

fn chunks(pauses_ms: Vec<u64>, stream: &Stream) -> Vec<Chunk> {
    let chunks = pauses_ms.into_iter().zip(stream.pieces());
    chunks
        .map(|(pause_ms, bytes)| Chunk {
            pause_ms,
            bytes: bytes.to_vec(),
        })
        .collect()
}

fn shortened(mut reason: String) -> String {
    reason.truncate(boundary(&reason, Exchange::LONGEST_REASON_BYTES));
    reason
}

fn millis(pause: Duration) -> u64 {
    u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)
}
