//! The calls out of the engine: to the model, the world and the memory.
//!
//! Each runs as one future next to the actor, so that messages are accepted meanwhile. None of them reads or changes
//! the state.

mod extraction;
mod indexing;
mod memory_query;
mod nights;
mod panics;
mod recall;
mod taken_in;
mod world;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    CallId, ChatModel, ChatReply, ChatRequest, Clock, EffectKey, ModelError, ModelErrorKind,
    ModelName, Outcome, Random, Seq, ServiceName, TokenCounter, complete,
};
use dormouse_resilience::{
    Exhausted, RetryBudget, RetryPolicy, RetryVerdict, deadline, retry_within,
};
use tokio::time::Instant;

use crate::{
    Ports,
    assessment::complexity_in,
    builtin::MemoryAnswer,
    compacting::SummaryAsk,
    decide::{Asked, Summarized},
    event::{
        AssessmentCall, AssessmentOutcome, FactsBefore, RecallFailure, RecalledLine, Recollected,
    },
    prompt::{hash, request_tokens},
    remembering::{CatchUpError, LastPosition},
};
pub(crate) use extraction::extract_facts;
pub(crate) use indexing::{Indexing, index_pending};
pub(crate) use memory_query::ask_memory;
pub(crate) use nights::{NightTask, work_at_night};
pub(crate) use panics::{Called, caught};
pub(crate) use recall::{RecallQuery, recall};
pub(crate) use taken_in::TakenIn;
pub(crate) use world::{Patience, Seen, WorldFailure, ask_after, observe, perform};

/// How a call to the model, the world or the memory ended.
#[derive(Debug)]
pub(crate) enum Done {
    Replied {
        reply: ChatReply,
        model: ModelName,
        asked: Asked,
        duration_ms: f64,
    },
    /// A model was asked how complex a task is.
    Assessed(AssessmentCall),
    Failed {
        error: Exhausted<Arc<ModelError>>,
        service: Option<ServiceName>,
        asked: Asked,
        duration_ms: f64,
    },
    Settled {
        key: EffectKey,
        outcome: Outcome,
    },
    Observed {
        call: CallId,
        seen: Seen,
    },
    /// The world could not be reached, so the call has to be made again.
    WorldFailed(WorldFailure),
    Recollected(Box<Recollected<RecalledLine>>),
    /// Facts were looked for in what was heard.
    FactsExtracted(FactsBefore),
    /// A model was asked to sum up earlier turns.
    Summarized {
        ask: Box<SummaryAsk>,
        outcome: Summarized,
        duration_ms: f64,
    },
    MemoryAnswered {
        call: CallId,
        answer: MemoryAnswer,
    },
}

/// How much of the log the memory must have read before it is asked.
#[derive(Clone, Debug)]
pub(crate) struct LogEnd {
    pub(crate) last: Arc<LastPosition>,
    /// The last event of the log.
    pub(crate) written: Seq,
}

/// Lets the memory catch up with the log.
async fn caught_up(ports: &Ports, end: &LogEnd) -> Result<(), RecallFailure> {
    let LogEnd { last, written } = end;
    let caught_up = last.catch_up_through(*written, &*ports.log, &ports.memory);
    let Err(error) = caught_up.await else {
        return Ok(());
    };
    error.warn();
    Err(match error {
        CatchUpError::Memory(_) => RecallFailure::Memory,
        _ => RecallFailure::Log,
    })
}

/// Time limits for a model call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The limit for one attempt.
    pub(crate) attempt: Duration,
    /// From the beginning of the first attempt to the beginning of the last.
    pub(crate) retry_for: Duration,
}

/// Asks the model for the next step of a turn.
pub(crate) async fn ask(
    ports: Ports,
    request: ChatRequest,
    asked: Asked,
    bounds: Bounds,
    budget: RetryBudget,
) -> Done {
    let caller = Caller {
        model: &*ports.model,
        clock: &*ports.clock,
        random: &*ports.random,
        budget: &budget,
        bounds,
    };
    let Reply {
        outcome,
        duration_ms,
    } = caller.reply(&request).await;
    match outcome {
        Ok((model, reply)) => Done::Replied {
            model,
            reply,
            asked,
            duration_ms,
        },
        Err(error) => Done::Failed {
            service: service_of(&error.error, &ports.model.services()),
            error,
            asked,
            duration_ms,
        },
    }
}

/// Asks a model how complex a task is.
pub(crate) async fn assess(
    ports: Ports,
    request: ChatRequest,
    asked: AssessmentCall,
    bounds: Bounds,
    budget: RetryBudget,
) -> Done {
    let caller = Caller {
        model: &*ports.model,
        clock: &*ports.clock,
        random: &*ports.random,
        budget: &budget,
        bounds,
    };
    let Reply {
        outcome,
        duration_ms,
    } = caller.reply(&request).await;
    Done::Assessed(AssessmentCall {
        duration_ms,
        outcome: match outcome {
            Ok((model, reply)) => AssessmentOutcome::Replied {
                model,
                complexity: complexity_in(&reply.content),
                tokens: ports.counter.count(&reply.content).tokens,
                usage: reply.usage,
            },
            Err(error) => AssessmentOutcome::Failed(error.error.kind()),
        },
        ..asked
    })
}

/// An assessment before its request is sent. Its outcome is a placeholder: a malformed reply.
pub(crate) fn unassessed(request: &ChatRequest, counter: &dyn TokenCounter) -> AssessmentCall {
    AssessmentCall {
        prompt_hash: hash(request),
        prompt_tokens: request_tokens(request, counter),
        duration_ms: 0.0,
        outcome: AssessmentOutcome::Failed(ModelErrorKind::Malformed),
    }
}

/// Asks the model for a summary, without retries: the sender waits for this, too.
pub(crate) async fn summarize(ports: Ports, ask: Box<SummaryAsk>, attempt: Duration) -> Done {
    let budget = RetryBudget::default();
    let caller = Caller {
        model: &*ports.model,
        clock: &*ports.clock,
        random: &*ports.random,
        budget: &budget,
        bounds: Bounds {
            attempt,
            retry_for: Duration::ZERO,
        },
    };
    let asked = caller.reply(&ask.request).await;
    let outcome = asked.outcome.map_err(|failed| {
        tracing::warn!(error = %failed.error, "earlier turns were not summed up");
        failed.error.kind()
    });
    Done::Summarized {
        ask,
        outcome,
        duration_ms: asked.duration_ms,
    }
}

/// Makes model calls, with time limits and retries.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) model: &'a dyn ChatModel,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) random: &'a dyn Random,
    pub(crate) budget: &'a RetryBudget,
    pub(crate) bounds: Bounds,
}

/// How a request ended.
pub(crate) struct Reply {
    /// The model that answered and its reply, or the last error.
    pub(crate) outcome: Result<(ModelName, ChatReply), Exhausted<Arc<ModelError>>>,
    /// How long it took, including retries.
    pub(crate) duration_ms: f64,
}

impl Caller<'_> {
    /// Sends a request: up to three attempts within the bounds, with a pause between them, if the retry budget allows.
    pub(crate) async fn reply(self, request: &ChatRequest) -> Reply {
        let Self {
            model,
            clock,
            random,
            budget,
            bounds,
        } = self;
        let started = clock.now();
        let begun = Instant::now();
        let failed = LastFailure::default();
        let (provider, name) = model.identity();
        let result = retry_within(
            &RetryPolicy::model_call(),
            budget,
            || random.unit(),
            |error: &Arc<ModelError>| {
                // A call that fails late is not retried: the sender has already waited, and the end of the tick reports
                // the reason.
                let may_retry = error.kind().is_retryable() && begun.elapsed() < bounds.retry_for;
                match (may_retry, error.kind().pause()) {
                    (true, Some(pause)) => RetryVerdict::RetryAfter(pause),
                    (true, None) => RetryVerdict::Retry,
                    (false, _) => RetryVerdict::GiveUp,
                }
            },
            || async {
                let timed_out = |e| {
                    ModelError::new(
                        provider.clone(),
                        ModelErrorKind::TimedOut,
                        Some(Box::new(e)),
                    )
                };
                deadline(bounds.attempt, complete(model, request))
                    .await
                    .map_err(timed_out)
                    .flatten()
                    .map_err(|error| failed.reason_of(error))
            },
        )
        .await;
        let outcome = result.map(|reply| {
            // With failover, different models may answer.
            let answered = reply.info.as_ref().map_or(name, |info| &info.model).clone();
            (answered, reply)
        });
        Reply {
            outcome,
            duration_ms: clock.now().since(started).as_secs_f64() * 1_000.0,
        }
    }
}

/// The last error that reached the service, among the attempts of one call.
#[derive(Debug, Default)]
struct LastFailure(Mutex<Option<Arc<ModelError>>>);

impl LastFailure {
    /// The reason of a failed attempt. The circuit breaker often opens between two attempts, so that the next one is
    /// not sent. The call then failed because of the earlier attempt, which reached the service.
    fn reason_of(&self, error: ModelError) -> Arc<ModelError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let was_made = !matches!(error.kind(), ModelErrorKind::NotAttempted(_));
        match &*last {
            Some(before) if !was_made => Arc::clone(before),
            _ => {
                let error = Arc::new(error);
                *last = was_made.then(|| Arc::clone(&error));
                error
            }
        }
    }
}

/// The model service that failed. A service that is not in the list is not returned, because nothing may wait for it.
fn service_of(error: &ModelError, services: &[ServiceName]) -> Option<ServiceName> {
    let provider = ServiceName::from(error.provider());
    let named = error.service().cloned().into_iter().chain([provider]);
    named.into_iter().find(|name| services.contains(name))
}
