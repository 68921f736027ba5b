//! The emergency stop.

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Event, StopCause};

/// Why and when the emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub cause: StopCause,
}

/// The emergency stop: on, or off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EmergencyStop(Option<Stopped>);

impl EmergencyStop {
    pub(super) fn apply(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::EmergencyStopTriggered(triggered) => {
                let cause = triggered.cause.clone();
                self.0 = Some(Stopped { at, cause });
            }
            Event::EmergencyStopCleared(_) => self.0 = None,
            _ => {}
        }
    }

    /// Whether it is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Why and when it was triggered, if it is on.
    #[must_use]
    pub fn stopped(&self) -> Option<&Stopped> {
        self.0.as_ref()
    }
}
