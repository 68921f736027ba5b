//! The idle gate: is there a reason to think?
//!
//! Pure and cheap. Without a reason no prompt is built and no model is called.

use std::time::Duration;

use dormouse_contracts::{Seq, Timestamp};

use crate::{config::Switch, state::State};

/// Longer than anything the engine ever waits for.
const LONGEST_WAIT: Duration = Duration::from_secs(2 * 3_600);

/// Why a tick does nothing, in the order in which the reasons are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Skip {
    /// The emergency stop is on.
    EmergencyStop,
    /// The assistant is switched off.
    Disabled,
    /// The tick before is still under way.
    Collision,
    /// The open turn waits, after an error or between two single actions.
    Waiting(Timestamp),
    /// Nothing to do.
    Idle,
}

/// Why a tick thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A message waits.
    Message(Seq),
    /// A message is being worked on, and it is time to go on with it.
    OpenTurn(Seq),
}

impl Reason {
    /// The place in the log of the message it is about.
    #[must_use]
    pub fn trigger(self) -> Seq {
        match self {
            Self::Message(seq) | Self::OpenTurn(seq) => seq,
        }
    }
}

/// Decides whether a tick that comes at `now` has a reason to think.
///
/// # Errors
///
/// The [`Skip`] that applies first. It costs no model call.
pub fn gate(state: &State, switch: Switch, now: Timestamp) -> Result<Reason, Skip> {
    if state.stopped.is_some() {
        return Err(Skip::EmergencyStop);
    }
    if switch == Switch::Disabled {
        return Err(Skip::Disabled);
    }
    match (&state.turn, state.inbox.front()) {
        (Some(turn), _) if turn.ticking => Err(Skip::Collision),
        (Some(turn), _) => match turn.resume_at {
            // No wait is this long; the clock was set back meanwhile.
            Some(at) if at.since(now) > LONGEST_WAIT => Ok(Reason::OpenTurn(turn.trigger_seq())),
            Some(at) if at > now => Err(Skip::Waiting(at)),
            _ => Ok(Reason::OpenTurn(turn.trigger_seq())),
        },
        (None, Some(pending)) => Ok(Reason::Message(pending.seq)),
        (None, None) => Err(Skip::Idle),
    }
}
