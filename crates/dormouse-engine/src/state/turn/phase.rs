//! The phase of a turn.

use dormouse_contracts::{ServiceName, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::{StopReason, UnansweredCause};

/// The phase of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// A tick works on it.
    Working {
        /// The service that gave no reply, if that ends the tick.
        failed: Option<ServiceName>,
    },
    /// A tick tells the sender that the turn ends without an answer, for this reason.
    Ending(UnansweredCause),
    /// It waits for a later tick.
    Waiting(Wait),
    /// It is over, for this reason.
    Over(StopReason),
}

/// What a turn waits for between two ticks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// When it continues.
    pub until: Timestamp,
    /// Why its last tick ended; `None` if the emergency stop interrupted it.
    pub after: Option<StopReason>,
    /// The service whose failure it waits after. With other services configured it does not have to wait.
    pub service: Option<ServiceName>,
    /// Why it ends without an answer, if that is decided.
    pub ending: Option<UnansweredCause>,
}

impl Phase {
    pub(super) fn begin_tick(&mut self) {
        let ending = self.ending();
        *self = ending.map_or(Self::Working { failed: None }, Self::Ending);
    }

    /// Ends the tick; a later one continues. A turn that already waits keeps waiting.
    pub(super) fn wait(&mut self, until: Timestamp, after: Option<StopReason>) {
        let ending = self.ending();
        let service = match self {
            Self::Working { failed } => failed.take(),
            Self::Ending(_) | Self::Over(_) => None,
            Self::Waiting(_) => return,
        };
        *self = Self::Waiting(Wait {
            until,
            after,
            service,
            ending,
        });
    }

    /// Why it ends without an answer, if that is decided.
    fn ending(&self) -> Option<UnansweredCause> {
        match self {
            Self::Ending(cause) => Some(*cause),
            Self::Waiting(wait) => wait.ending,
            Self::Working { .. } | Self::Over(_) => None,
        }
    }
}
