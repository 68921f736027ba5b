//! The recent calls to the model's service: whether it answers, and whether one message or all messages fail.

use dormouse_contracts::{ModelErrorKind, Seq, ServiceName, Timestamp};
use serde::{Deserialize, Serialize};

/// If this many different messages fail in a row, no single message is the cause.
const AN_OUTAGE: usize = 2;

/// The possible cause of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// The prompt alone: a shorter one, or one without what was refused, may be answered.
    Prompt,
    /// Nothing: the call was not sent.
    NotSent,
    /// The configuration: every prompt fails like this until somebody changes it.
    Configuration,
    /// The service, for every message.
    Service,
    /// The service, or this message alone.
    ServiceOrMessage,
}

/// The calls to the model since its last reply. None of them got a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// How many calls were sent in a row.
    pub failures: u32,
    /// How many calls were due in a row, including those that were not sent because the service was paused.
    pub silences: u32,
    /// The first messages that failed.
    failing: Vec<Seq>,
    /// Whether the failure is independent of the message: the service asked for a pause, or could not be reached.
    is_its_own: bool,
    /// The service that did not answer the last call, if known.
    by: Option<ServiceName>,
    /// When the last call is tried again.
    retry_at: Option<Timestamp>,
}

impl Service {
    /// A call about this message failed.
    pub(super) fn failed(
        &mut self,
        kind: ModelErrorKind,
        by: Option<ServiceName>,
        trigger: Seq,
        blame: Blame,
    ) {
        self.by = by;
        self.is_its_own = blame != Blame::ServiceOrMessage;
        self.silences = self.silences.saturating_add(1);
        if matches!(kind, ModelErrorKind::NotAttempted(_)) {
            // No call was sent.
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if !self.failing.contains(&trigger) && self.failing.len() < AN_OUTAGE {
            self.failing.push(trigger);
        }
    }

    /// Notes when to try again, once the tick with the failed call is over.
    pub(super) fn rests_until(&mut self, at: Option<Timestamp>) {
        self.retry_at = at;
    }

    /// Until when none of these services is to be called, for any message. If only one message failed, the next
    /// message is tried at once: that shows whether the message or the service is the cause.
    pub(crate) fn held_until(&self, services: &[ServiceName]) -> Option<Timestamp> {
        if self.by.as_ref().is_some_and(|by| !services.contains(by)) {
            return None;
        }
        let is_out = self.is_its_own || self.failing.len() >= AN_OUTAGE;
        self.retry_at.filter(|_| is_out)
    }

    /// Whether only this message failed since the last reply. Then it is unknown whether the message or the service is
    /// the cause.
    pub(crate) fn fails_only_for(&self, trigger: Seq) -> bool {
        self.failing.iter().all(|failing| *failing == trigger)
    }

    /// Whether the last call that was due got no reply.
    pub(crate) fn is_silent(&self) -> bool {
        self.silences > 0
    }
}
