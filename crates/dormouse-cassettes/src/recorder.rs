//! Makes a cassette out of exchanges as they happen.

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

/// What a [`Recorder`] is made with.
#[derive(Clone, Debug, Default)]
pub struct RecorderConfig {
    /// Where the recording comes from; its texts are scrubbed.
    pub about: About,
    /// What never gets in.
    pub rules: ScrubRules,
    /// How much gets in at most.
    pub limits: RecorderLimits,
    /// Whether it is told whom the requests went to.
    pub hosts: Hosts,
}

/// A request that is about to be sent, as HTTP clients have it at hand.
#[derive(Clone, Copy)]
pub struct RequestParts<'a> {
    /// The method.
    pub method: &'a Method,
    /// The whole address, or path and query alone.
    pub url: &'a str,
    /// All of them; what is recorded is chosen from a list.
    pub headers: &'a HeaderMap,
    /// The body as it is sent; empty if there is none.
    pub body: &'a [u8],
}

impl fmt::Debug for RequestParts<'_> {
    /// Tells no header and no body, since both may hold what lets somebody in.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestParts")
            .field("method", self.method)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Records exchanges, any number at a time. Clones record into the same cassette.
///
/// An exchange is kept raw in memory only while it goes on, at most as much as [`RecorderLimits::exchange_bytes`] and a little
/// more; when it ends it is scrubbed as a whole, so that a secret is seen wherever the chunks were cut.
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
    /// In order of their beginning; `None` while it goes on.
    slots: Vec<Option<Exchange>>,
    /// Of those that ended, as they are in the file.
    written_bytes: usize,
    left_out: u64,
    in_flight: usize,
}

impl Recorder {
    /// A recorder that has recorded nothing.
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

    /// Begins to record an exchange. Its place in the cassette is taken now, whenever it ends.
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

    /// What was recorded so far: the exchanges that ended, in the order they were begun.
    #[must_use]
    pub fn cassette(&self) -> Cassette {
        let state = self.state();
        Cassette {
            about: state.about.clone(),
            exchanges: state.slots.iter().flatten().cloned().collect(),
            left_out_exchanges: state.left_out,
        }
    }

    /// How many exchanges have begun and not ended. They are not in [`Recorder::cassette`] yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.state().in_flight
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the state whole: slots are filled in one step.
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// An exchange ended.
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
    /// Puts an exchange that ended into its slot; without its bodies, or not at all, if there is no room.
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
