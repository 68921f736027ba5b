//! The calls to the outside: the model, the world and the memory.
//!
//! Each runs as one future beside the actor, so that messages are accepted meanwhile. None of them reads or
//! changes the state.

mod indexing;
mod memory_query;
mod recall;
mod world;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, CallId, ChatReply, EffectKey, ModelError, ModelErrorKind, ModelName, Outcome,
    Rejection, ServiceName, complete,
};
use dormouse_resilience::{
    Exhausted, RetryBudget, RetryPolicy, RetryVerdict, deadline, retry_within,
};
use serde_json::Value;

use tokio::time::Instant;

use crate::{
    Ports,
    builtin::MemoryAnswer,
    event::{RecallFailure, RecalledLine, Recollected},
    prompt::{Length, Offer, Prompt},
    remembering::{CatchUpError, catch_up},
};
pub(crate) use indexing::{Indexing, index_pending};
pub(crate) use memory_query::ask_memory;
pub(crate) use recall::{RecallQuery, recall};
pub(crate) use world::{WorldFailure, ask_after, observe, perform};

/// How a call to the outside ended.
#[derive(Debug)]
pub(crate) enum Done {
    Replied {
        reply: ChatReply,
        model: ModelName,
        prompt_tokens: u32,
        speech_only: bool,
        duration: Duration,
    },
    Failed {
        error: Exhausted<Arc<ModelError>>,
        service: Option<ServiceName>,
        prompt: Length,
        duration: Duration,
    },
    Settled {
        key: EffectKey,
        outcome: Outcome,
    },
    Observed {
        call: CallId,
        seen: Result<Value, Rejection>,
    },
    /// The world could not be reached, so the call is still to be made.
    WorldFailed(WorldFailure),
    Recollected(Box<Recollected<RecalledLine>>),
    MemoryAnswered {
        call: CallId,
        answer: MemoryAnswer,
    },
}

/// Lets the memory catch up with the log.
async fn caught_up(ports: &Ports, key: &AssistantId) -> Result<(), RecallFailure> {
    let Err(error) = catch_up(&*ports.log, key, &ports.memory).await else {
        return Ok(());
    };
    tracing::warn!(
        error = &error as &dyn std::error::Error,
        "the memory did not catch up with the log"
    );
    Err(match error {
        CatchUpError::Memory(_) => RecallFailure::Memory,
        _ => RecallFailure::Log,
    })
}

/// How long a model may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// One attempt.
    pub(crate) attempt: Duration,
    /// From the beginning of the first attempt to that of the last.
    pub(crate) retry_for: Duration,
}

/// Asks the model: three attempts within `bounds`, with a pause between them, as far as the budget for retries goes.
pub(crate) async fn ask(ports: Ports, prompt: Prompt, bounds: Bounds, budget: RetryBudget) -> Done {
    let started = ports.clock.now();
    let begun = Instant::now();
    let model = &*ports.model;
    let failed = LastFailure::default();
    let (provider, name) = model.identity();
    let result = retry_within(
        &RetryPolicy::model_call(),
        &budget,
        || ports.chance.unit(),
        |error: &Arc<ModelError>| {
            // Attempts that fail late leave somebody waiting in silence; a tick that ends says why.
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
            deadline(bounds.attempt, complete(model, &prompt.request))
                .await
                .map_err(timed_out)
                .flatten()
                .map_err(|error| failed.reason_of(error))
        },
    )
    .await;
    let duration = ports.clock.now().since(started);
    match result {
        Ok(reply) => Done::Replied {
            // Behind a failover it is not always the same one.
            model: reply.info.as_ref().map_or(name, |info| &info.model).clone(),
            reply,
            prompt_tokens: prompt.tokens,
            speech_only: prompt.offer == Offer::Speech,
            duration,
        },
        Err(error) => Done::Failed {
            service: service_of(&error.error, &model.services()),
            error,
            prompt: Length::of(&prompt),
            duration,
        },
    }
}

/// The last error of the attempts of one call that reached the service.
#[derive(Debug, Default)]
struct LastFailure(Mutex<Option<Arc<ModelError>>>);

impl LastFailure {
    /// Why an attempt failed. The circuit often opens between two attempts; the call then failed because of the attempt
    /// before, which reached the service, and not because the second one was not made.
    fn reason_of(&self, error: ModelError) -> Arc<ModelError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let was_made = !matches!(error.kind(), ModelErrorKind::LeftAlone(_));
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

/// Which of the model's services failed. One that is not among them is not known by its name: nothing may wait for it.
fn service_of(error: &ModelError, services: &[ServiceName]) -> Option<ServiceName> {
    let provider = ServiceName::from(error.provider());
    let named = error.service().cloned().into_iter().chain([provider]);
    named.into_iter().find(|name| services.contains(name))
}
