//! Replays a cassette.

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

/// How a [`Player`] matches requests with exchanges.
#[derive(Clone, Debug, Default)]
pub struct PlayerConfig {
    /// The order.
    pub mode: Mode,
    /// Members of JSON bodies that are not compared because they vary: a seed, a user id.
    pub ignored: Vec<IgnoredPath>,
    /// How requests are scrubbed before they are compared. Use the rules of the recording; only the secrets in them may
    /// differ.
    pub rules: ScrubRules,
}

/// The order in which exchanges are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As recorded: each request must match the next exchange.
    #[default]
    InOrder,
    /// The first matching exchange that was not played yet.
    AnyOrder,
}

/// Replays a cassette, each exchange once. Clones play from the same cassette.
///
/// A request matches if method, path with query, and body equal the recorded ones after scrubbing; JSON is compared by
/// value. The number in a placeholder's name is ignored, since it depends on what else was recorded. Headers are ignored,
/// and so is a body that the recorder truncated.
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
    /// The played exchanges.
    played: Vec<bool>,
}

impl Player {
    /// Creates a player at the start of the cassette.
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

    /// Plays the recorded answer to a request.
    ///
    /// # Errors
    ///
    /// [`NoMatch`] if no exchange matches; nothing is played then. The error contains the request and its first difference
    /// from the nearest exchange.
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

    /// Returns how many exchanges were not played yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        let state = self.state();
        state.played.iter().filter(|played| !**played).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic in another thread leaves the state consistent, because the state changes in one step.
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

/// Returns the scrubbed request, for comparison.
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
