//! Records exchanges into a cassette.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::{HeaderMap, Method};

use crate::{
    cassette::{About, Cassette},
    exchange::Exchange,
    file,
    scrub::{ScrubRules, Scrubber},
};

mod in_flight;
mod limits;
mod target;

pub use in_flight::RecordingExchange;
pub use limits::{Hosts, RecorderLimits};
pub(crate) use target::Target;

/// The configuration of a [`Recorder`].
#[derive(Clone, Debug, Default)]
pub struct RecorderConfig {
    /// The origin of the cassette. Its texts are scrubbed, too.
    pub about: About,
    /// What is scrubbed.
    pub rules: ScrubRules,
    /// The limits.
    pub limits: RecorderLimits,
    /// Whether hosts are recorded.
    pub hosts: Hosts,
}

/// A request about to be sent.
#[derive(Clone, Copy)]
pub struct RequestParts<'a> {
    /// The method.
    pub method: &'a Method,
    /// The whole URL, or only its path and query.
    pub url: &'a str,
    /// All headers. Only the headers on a fixed list are recorded.
    pub headers: &'a HeaderMap,
    /// The body; empty if there is none.
    pub body: &'a [u8],
}

impl fmt::Debug for RequestParts<'_> {
    /// Shows neither headers nor body, since both may contain credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestParts")
            .field("method", self.method)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Records exchanges, any number at a time. Clones record into the same cassette.
///
/// While an exchange runs, it is in memory unscrubbed, up to a little more than [`RecorderLimits::exchange_bytes`].
/// When the exchange ends, it is scrubbed as a whole, so that a secret that spans two chunks is found.
///
/// ```
/// use std::time::Duration;
/// use dormouse_cassettes::{Ending, Recorder, RecorderConfig, RequestParts};
/// use http::{HeaderMap, Method, StatusCode};
///
/// let recorder = Recorder::new(RecorderConfig::default());
/// let mut exchange = recorder.begin(RequestParts {
///     method: &Method::GET,
///     url: "http://localhost:8080/v1/models?api_key=hunter2222",
///     headers: &HeaderMap::new(),
///     body: b"",
/// });
/// exchange.answered(StatusCode::OK, &HeaderMap::new(), Duration::from_millis(12));
/// exchange.chunk(b"{\"data\":[]}", Duration::from_millis(1));
/// exchange.ended(Ending::Whole);
///
/// let cassette = recorder.cassette();
/// assert_eq!(cassette.exchanges[0].request.target, "/v1/models?api_key=[secret-1]");
/// ```
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    limits: RecorderLimits,
    hosts: Hosts,
    state: Mutex<State>,
}

struct State {
    about: About,
    scrubber: Scrubber,
    /// In the order of their requests; `None` while an exchange runs.
    slots: Vec<Option<Exchange>>,
    /// The size that the finished exchanges have in a file, in bytes.
    written_bytes: usize,
    left_out: u64,
    in_flight: usize,
}

impl Recorder {
    /// Creates an empty recorder.
    #[must_use]
    pub fn new(config: RecorderConfig) -> Self {
        let mut scrubber = Scrubber::new(config.rules);
        let about = About {
            recorded_at: config.about.recorded_at,
            program: scrubber.text(&config.about.program),
            service: scrubber.text(&config.about.service),
            note: scrubber.text(&config.about.note),
        };
        let state = State {
            about,
            scrubber,
            slots: Vec::new(),
            written_bytes: 0,
            left_out: 0,
            in_flight: 0,
        };
        Self {
            shared: Arc::new(Shared {
                limits: config.limits,
                hosts: config.hosts,
                state: Mutex::new(state),
            }),
        }
    }

    /// Starts to record an exchange. Its position in the cassette is reserved now.
    ///
    /// Copies the request, as far as the limits allow.
    #[must_use = "dropped, the exchange is recorded as abandoned"]
    pub fn begin(&self, request: RequestParts<'_>) -> RecordingExchange {
        let slot = {
            let mut state = self.state();
            state.in_flight = state.in_flight.saturating_add(1);
            if state.slots.len() < self.shared.limits.exchanges {
                state.slots.push(None);
                Some(state.slots.len() - 1)
            } else {
                state.left_out = state.left_out.saturating_add(1);
                None
            }
        };
        RecordingExchange::new(self.clone(), slot, request)
    }

    /// Returns the finished exchanges so far, in the order of their requests.
    #[must_use]
    pub fn cassette(&self) -> Cassette {
        let state = self.state();
        Cassette {
            about: state.about.clone(),
            exchanges: state.slots.iter().flatten().cloned().collect(),
            left_out_exchanges: state.left_out,
        }
    }

    /// Returns how many exchanges are running. They are not in [`Recorder::cassette`] yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.state().in_flight
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves a consistent state: slots are filled in one step.
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes an exchange.
    fn finish<T>(
        &self,
        place: Option<(usize, T)>,
        scrubbed: impl FnOnce(T, &mut Scrubber) -> Exchange,
    ) {
        let mut state = self.state();
        state.in_flight = state.in_flight.saturating_sub(1);
        if let Some((slot, raw)) = place {
            let exchange = scrubbed(raw, &mut state.scrubber);
            state.keep(slot, exchange, self.shared.limits.cassette_bytes);
        }
    }
}

impl State {
    /// Stores a finished exchange in its slot. If it does not fit, stores it without its bodies, or not at all.
    fn keep(&mut self, slot: usize, mut exchange: Exchange, limit_bytes: usize) {
        let room = limit_bytes.saturating_sub(self.written_bytes);
        let mut bytes = file::exchange_bytes(&exchange);
        if bytes > room {
            limits::leave_bodies_out(&mut exchange);
            bytes = file::exchange_bytes(&exchange);
        }
        if bytes > room {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.written_bytes = self.written_bytes.saturating_add(bytes);
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Some(exchange);
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("limits", &self.shared.limits)
            .finish_non_exhaustive()
    }
}
