//! The services that answer for the model: which have answered, which asked for a pause, and how the last calls went.

use std::collections::BTreeSet;

use dormouse_contracts::{ModelErrorKind, ServiceName, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    pauses::{Pause, Pauses},
    service::{Blame, Service},
    turns::Turns,
};
use crate::event::{Event, ModelFailed, StopReason};

/// How many services a state remembers. The number grows only with the services that the operator configures.
const SERVICES_KNOWN: usize = 64;

/// The services that answer for the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Services {
    /// The services that have answered before. If one of them reports that it has no such model, it counts as
    /// temporarily away; the operator need not change the configuration.
    pub known: BTreeSet<ServiceName>,
    /// The services that asked for a pause.
    pub pauses: Pauses,
    /// The calls since the last reply.
    pub recent: Service,
}

impl Services {
    /// Folds one event in. `answering` are the services that answer now, and `turns` those before the event.
    pub(super) fn apply(
        &mut self,
        at: Timestamp,
        event: &Event,
        answering: &[ServiceName],
        turns: &Turns,
    ) {
        match event {
            Event::Replied(_) => {
                if self.known.len() + answering.len() > SERVICES_KNOWN {
                    self.known.clear();
                }
                self.known.extend(answering.iter().cloned());
                self.recent = Service::default();
            }
            Event::ModelFailed(failed) => self.fail(at, failed, turns),
            Event::TickEnded(ended) if ended.reason == StopReason::LlmError => {
                self.recent.rests_until(ended.resume_at);
            }
            Event::EmergencyStopCleared(_) => self.recent = Service::default(),
            Event::RetryRequested(_) => {
                self.pauses.end();
                self.recent = Service::default();
            }
            _ => {}
        }
    }

    fn fail(&mut self, at: Timestamp, failed: &ModelFailed, turns: &Turns) {
        if failed.context_limit.is_some() {
            return;
        }
        if let (Some(by), Some(until)) = (failed.service.clone(), failed.paused_until) {
            self.pauses.add(Pause { by, until }, at);
        }
        let Some(turn) = turns.current() else { return };
        match self.blame(failed) {
            Blame::Prompt => {}
            blame => {
                let (by, trigger) = (failed.service.clone(), turn.trigger.seq());
                self.recent.failed(failed.kind, by, trigger, blame);
            }
        }
    }

    /// The possible cause of a failed call.
    pub(super) fn blame(&self, failed: &ModelFailed) -> Blame {
        let kind = failed.kind;
        let service = failed.service.as_ref();
        let has_answered = service.is_some_and(|service| self.known.contains(service));
        match kind {
            _ if failed.context_limit.is_some() || kind.refuses_the_prompt() => Blame::Prompt,
            // No call was sent, so this does not count as a failure: a long outage ends by itself.
            ModelErrorKind::NotAttempted(_) => Blame::NotSent,
            ModelErrorKind::Auth => Blame::Configuration,
            // A gateway whose backend is away reports that the model does not exist, perhaps for one prompt only.
            ModelErrorKind::NotFound if has_answered => Blame::ServiceOrMessage,
            ModelErrorKind::NotFound => Blame::Configuration,
            _ if kind.may_depend_on_the_prompt() => Blame::ServiceOrMessage,
            _ => Blame::Service,
        }
    }
}
