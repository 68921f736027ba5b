//! One request outside of a turn: first its cost is reserved, and its reply becomes an event.

use std::time::Duration;

use dormouse_contracts::{Append, ChatRequest, LoadSnapshot, ModelErrorKind, ReadEvents, Seq};

use super::{ConsolidateError, ConsolidationEnd, Consolidator};
use crate::{
    decide::{CallWish, longest_reply, shortened_reply},
    event::{
        CallReserved, Consultation, ConsultationFailed, ConsultationFailure, Consulted, Event,
        ReservedBy,
    },
    prompt,
    remembering::LoggedMemory,
    replay,
    secrets::masked_reply,
    work::{Bounds, Caller},
};

/// The result of a request.
pub(super) enum Asked {
    /// There is a reply, in this event.
    Replied(Seq, Box<Consulted>),
    /// The model refuses what it was shown, and may answer another request. The log says so.
    Refused(Consultation),
    /// No model can be asked now.
    Ended(ConsolidationEnd),
}

/// The recorded reply of this event.
pub(super) async fn recorded<L: Append + ReadEvents>(
    memory: &LoggedMemory<L>,
    seq: Option<Seq>,
) -> Result<Option<(Seq, Consulted)>, ConsolidateError> {
    let Some(seq) = seq else { return Ok(None) };
    let key = memory.memory().assistant();
    let event = replay::event(memory.log(), key, seq).await?;
    Ok(match event {
        Some(Event::Consulted(consulted)) => Some((seq, consulted)),
        _ => None,
    })
}

impl Consolidator {
    /// The reservation for the request; `None` without a budget. If the assistant is stopped, or may spend no more, the
    /// run ends.
    pub(crate) async fn reserved<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &LoggedMemory<L>,
        request: &ChatRequest,
    ) -> Result<Result<Option<CallReserved>, ConsolidationEnd>, ConsolidateError> {
        let state = memory.state().await?;
        if state.stop.is_on() {
            return Ok(Err(ConsolidationEnd::Stopped));
        }
        let settings = &state.configuration.settings;
        if !settings.budgets.is_limited() {
            return Ok(Ok(None));
        }
        let wish = CallWish {
            by: ReservedBy::Consolidation,
            prompt_tokens: self.tokens(request),
            reply_tokens: longest_reply(settings, request.max_tokens),
        };
        let reserved = wish.reserved(settings, &state.ledger, self.clock.now());
        Ok(reserved
            .map(Some)
            .map_err(|_spent| ConsolidationEnd::BudgetSpent))
    }

    /// Limits the request to its reservation, and returns how long it may be retried: with a budget, only one attempt
    /// is reserved.
    pub(crate) fn bounded(
        &self,
        request: &ChatRequest,
        reserved: Option<&CallReserved>,
    ) -> (ChatRequest, Duration) {
        let most = reserved.map(|reserved| reserved.reply_tokens);
        let bounded = ChatRequest {
            max_tokens: most.or(request.max_tokens),
            ..request.clone()
        };
        let retry_for = reserved.map_or(self.settings.retry_for, |_| Duration::ZERO);
        (bounded, retry_for)
    }

    /// The caller of the model.
    pub(crate) fn caller(&self, retry_for: Duration) -> Caller<'_> {
        Caller {
            model: &*self.model,
            clock: &*self.clock,
            random: &*self.random,
            budget: &self.settings.retry_budget,
            bounds: Bounds {
                attempt: self.settings.timeout,
                retry_for,
            },
        }
    }

    /// Asks the model, and writes its reply or the failed call into the log.
    pub(super) async fn ask<L: Append + ReadEvents>(
        &self,
        memory: &mut LoggedMemory<L>,
        (about, request, made_from): (Consultation, &ChatRequest, Seq),
        reserved: Option<CallReserved>,
    ) -> Result<Asked, ConsolidateError> {
        let (bounded, retry_for) = self.bounded(request, reserved.as_ref());
        if let Some(reserved) = reserved {
            memory.append(&Event::CallReserved(reserved)).await?;
        }
        let asked = self.caller(retry_for).reply(&bounded).await;
        let (model, mut reply) = match asked.outcome {
            Ok(answered) => answered,
            Err(failed) => {
                let kind = failed.error.kind();
                let (cause, asked) = match refuses(kind) {
                    true => {
                        let refused = Asked::Refused(about.clone());
                        (ConsultationFailure::Refused(kind), refused)
                    }
                    false => {
                        let ended = Asked::Ended(ConsolidationEnd::ModelFailed {
                            kind,
                            reason: failed.error.to_string(),
                        });
                        (ConsultationFailure::Unanswered(kind), ended)
                    }
                };
                let failed = Event::ConsultationFailed(ConsultationFailed { about, cause });
                memory.append(&failed).await?;
                return Ok(asked);
            }
        };
        // The request offers no tools. Unrequested calls could be too long for the log, so they are dropped.
        reply.tool_calls.clear();
        let reply = masked_reply(shortened_reply(reply));
        let consulted = Consulted {
            about,
            model,
            tokens: self.counter.count(&reply.content).tokens,
            prompt_tokens: self.tokens(request),
            prompt_hash: prompt::hash(request),
            duration_ms: asked.duration_ms,
            reply,
            made_from: Some(made_from),
        };
        let seq = memory.append(&Event::Consulted(consulted.clone())).await?;
        Ok(Asked::Replied(seq, Box::new(consulted)))
    }
}

/// Whether the model refuses this prompt, but may answer another one.
fn refuses(kind: ModelErrorKind) -> bool {
    kind.refuses_the_prompt() || kind == ModelErrorKind::Malformed
}
