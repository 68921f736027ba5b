//! How long a turn waits after something failed.

use std::time::Duration;

use dormouse_contracts::{ModelErrorKind, ServiceName, Timestamp};

use super::view::View;
use crate::{prompt, state::Turn};

/// The longest wait after an error.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// The longest wait after a rate limit without a time. Rate limits usually renew every minute.
const LONGEST_RATE_WAIT: Duration = Duration::from_secs(60);

/// The longest wait for a world out of reach. Asking the world costs nothing, and people in it wait for the result.
const LONGEST_WORLD_WAIT: Duration = Duration::from_secs(30);
/// The longest wait for a provider, whether it asked for the pause or is not called for now. A longer pause is a
/// mistake, or the provider is not worth waiting for.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);
/// How the model failed to answer a prompt.
pub(crate) struct Failed {
    pub(crate) kind: ModelErrorKind,
    pub(crate) attempts: u32,
    /// How long the prompt was, if it may have been too long.
    pub(crate) prompt: Option<prompt::Length>,
    pub(crate) duration_ms: f64,
    /// Which of the model's services failed, if it is known.
    pub(crate) service: Option<ServiceName>,
    /// What is known of it, for people.
    pub(crate) reason: Option<String>,
}

/// The end of the pause that a service asked for.
pub(super) fn paused_until(view: View<'_>, failed: &Failed) -> Option<Timestamp> {
    match (failed.kind, &failed.service) {
        (ModelErrorKind::RateLimited(Some(pause)), Some(_)) => {
            Some(view.now.plus(pause.min(LONGEST_PAUSE)))
        }
        _ => None,
    }
}

/// The end of a wait that the turn itself keeps. A requested pause is kept for its service instead, if the service is
/// known.
pub(super) fn wait_until(view: View<'_>, failed: &Failed) -> Timestamp {
    match paused_until(view, failed) {
        Some(_) => view.now,
        None => {
            let pause = failed.kind.pause().unwrap_or_default();
            view.now.plus(pause.min(LONGEST_PAUSE))
        }
    }
}

/// When to resume a message after the errors that it caused: one tick later, and twice as long after each further
/// error.
pub(super) fn after_error(view: View<'_>, turn: &Turn) -> Timestamp {
    wait(view, turn.failures.errors, LONGEST_WAIT)
}

/// When to ask again after another call without a reply, whether for this message or for any other.
pub(super) fn after_failed_call(view: View<'_>, kind: ModelErrorKind) -> Timestamp {
    let turn = view.state.turns.current();
    let here = turn.map_or(0, |turn| turn.failures.calls);
    let failed = here.max(view.state.services.recent.failures);
    match kind {
        // The service is up. A wait that doubles from the first failure misses most of the moments at which it would
        // answer.
        ModelErrorKind::RateLimited(_) => wait(view, failed.max(1), LONGEST_RATE_WAIT),
        _ => wait(view, failed.saturating_add(1), LONGEST_WAIT),
    }
}

/// When to try the world again.
pub(super) fn for_the_world(view: View<'_>, turn: &Turn) -> Timestamp {
    let failures = turn.world.failures.saturating_add(1);
    wait(view, failures, LONGEST_WORLD_WAIT)
}

fn wait(view: View<'_>, errors: u32, longest: Duration) -> Timestamp {
    let factor = 1_u32
        .checked_shl(errors.saturating_sub(1))
        .unwrap_or(u32::MAX);
    view.now.plus(
        view.config()
            .limits
            .tick_rate()
            .saturating_mul(factor)
            .min(longest),
    )
}
