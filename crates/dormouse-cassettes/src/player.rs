//! Answers like the server did.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    cassette::Cassette,
    exchange::{Body, Exchange, RecordedRequest},
    recorder::{RequestParts, Target},
    scrub::{ScrubRules, Scrubber},
};

mod compare;
mod ignored;
mod no_match;
mod playback;

pub use ignored::{IgnoredPath, IgnoredPathError};
pub use no_match::{Difference, Nearest, NoMatch, Shown};
pub use playback::Playback;

/// How a [`Player`] finds the exchange for a request.
#[derive(Clone, Debug, Default)]
pub struct PlayerConfig {
    /// In which order.
    pub mode: Mode,
    /// What is not compared in bodies of JSON, since it differs by nature: a seed, a user's id.
    pub ignored: Vec<IgnoredPath>,
    /// Requests are scrubbed before they are compared, so the rules of the recording belong here; its secrets may be
    /// others than today's.
    pub rules: ScrubRules,
}

/// In which order exchanges are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As they were recorded: the next request has to be the next one of the cassette.
    #[default]
    InOrder,
    /// The first one that fits and was not played yet.
    AnyOrder,
}

/// Replays a cassette. Each exchange is played once. Clones play from the same cassette.
///
/// A request fits if method, path with query, and body are those of the recording, all of it scrubbed; JSON is compared by
/// what it says. Numbers of placeholders are not compared, since they depend on what else was recorded. Headers are
/// not compared either. Of a body whose end was left out by the recorder, nothing is compared.
#[derive(Clone)]
pub struct Player {
    shared: Arc<Shared>,
}

struct Shared {
    mode: Mode,
    ignored: Vec<IgnoredPath>,
    exchanges: Vec<Arc<Exchange>>,
    state: Mutex<State>,
}

struct State {
    scrubber: Scrubber,
    /// Which exchanges were played.
    played: Vec<bool>,
}

impl Player {
    /// A player at the beginning of the cassette.
    #[must_use]
    pub fn new(cassette: Cassette, config: PlayerConfig) -> Self {
        let state = State {
            scrubber: Scrubber::new(config.rules),
            played: vec![false; cassette.exchanges.len()],
        };
        Self {
            shared: Arc::new(Shared {
                mode: config.mode,
                ignored: config.ignored,
                exchanges: cassette.exchanges.into_iter().map(Arc::new).collect(),
                state: Mutex::new(state),
            }),
        }
    }

    /// The recorded answer to a request, which is thereby played.
    ///
    /// # Errors
    ///
    /// [`NoMatch`] if no exchange fits that may be played now; nothing is played then. It says what was asked, and
    /// where the nearest exchange differs.
    pub fn answer(&self, request: RequestParts<'_>) -> Result<Playback, NoMatch> {
        let mut state = self.state();
        let asked = scrubbed(&mut state.scrubber, request);
        let mut nearest: Option<Nearest> = None;
        let waiting = state
            .played
            .iter()
            .enumerate()
            .filter(|(_, played)| !**played);
        let candidates: Vec<usize> = match self.shared.mode {
            Mode::InOrder => waiting.take(1).map(|(index, _)| index).collect(),
            Mode::AnyOrder => waiting.map(|(index, _)| index).collect(),
        };
        for index in candidates {
            let Some(exchange) = self.shared.exchanges.get(index) else {
                continue;
            };
            match compare::difference(&exchange.request, &asked, &self.shared.ignored) {
                None => {
                    if let Some(played) = state.played.get_mut(index) {
                        *played = true;
                    }
                    return Ok(Playback::new(index, Arc::clone(exchange)));
                }
                Some((difference, differences)) => {
                    let next = Nearest::new(index, difference, differences);
                    if nearest
                        .as_ref()
                        .is_none_or(|nearest| next.is_nearer_than(nearest))
                    {
                        nearest = Some(next);
                    }
                }
            }
        }
        Err(NoMatch::new(&asked, nearest))
    }

    /// How many exchanges were not played yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        let state = self.state();
        state.played.iter().filter(|played| !**played).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the state whole: it changes in one step.
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player")
            .field("mode", &self.shared.mode)
            .field("exchanges", &self.shared.exchanges.len())
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

/// The request as it would have been recorded, as far as it is compared.
fn scrubbed(scrubber: &mut Scrubber, request: RequestParts<'_>) -> RecordedRequest {
    RecordedRequest {
        method: request.method.as_str().to_owned(),
        target: scrubber.target(Target::of(request.url).path_and_query),
        host: None,
        headers: Vec::new(),
        body: Body::of(scrubber.bytes(request.body)),
        left_out_bytes: 0,
    }
}
