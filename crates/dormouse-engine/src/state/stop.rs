//! The emergency stop.

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Event, StopCause, StopNoticeIntended};

/// Why and when the emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub cause: StopCause,
    /// The reason, in the words of the person or the rule that stopped the assistant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The progress of the notice in the world that the assistant is stopped.
    #[serde(default)]
    pub notice: StopNotice,
}

/// The progress of the act that says in the world that the assistant is stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopNotice {
    /// The act is not decided yet.
    #[default]
    Due,
    /// The act is intended, and its outcome is not known yet.
    Intended(StopNoticeIntended),
    /// The act was done, refused, or may have been done. It is not repeated.
    Over,
}

/// The emergency stop: on, or off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EmergencyStop(Option<Stopped>);

impl EmergencyStop {
    pub(super) fn apply(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::EmergencyStopTriggered(triggered) => {
                self.0 = Some(Stopped {
                    at,
                    cause: triggered.cause.clone(),
                    reason: triggered.reason.clone(),
                    notice: StopNotice::Due,
                });
            }
            Event::StopNoticeIntended(intended) => {
                self.note(StopNotice::Intended(intended.clone()));
            }
            Event::StopNoticeSettled(_) => self.note(StopNotice::Over),
            Event::EmergencyStopCleared(_) => self.0 = None,
            _ => {}
        }
    }

    fn note(&mut self, notice: StopNotice) {
        if let Some(stopped) = &mut self.0 {
            stopped.notice = notice;
        }
    }

    /// Whether the stop is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Why and when it was triggered, if it is on.
    #[must_use]
    pub fn stopped(&self) -> Option<&Stopped> {
        self.0.as_ref()
    }

    /// The act that says in the world that the assistant is stopped, if it is intended and not settled.
    pub(crate) fn open_notice(&self) -> Option<&StopNoticeIntended> {
        match &self.0.as_ref()?.notice {
            StopNotice::Intended(intended) => Some(intended),
            StopNotice::Due | StopNotice::Over => None,
        }
    }
}
