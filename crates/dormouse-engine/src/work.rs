//! The calls to the outside: the model, the world and the memory.
//!
//! Each runs as one future beside the actor, so that messages are accepted meanwhile. None of them reads or
//! changes the state.

mod consult;
mod recollect;
mod tend;

use std::{fmt, sync::Arc, time::Duration};

use dormouse_contracts::{
    AssistantId, CallId, Chance, ChatReply, Effect, EffectInquiry, EffectKey, ModelError,
    ModelErrorKind, ModelName, Outcome, Query, Rejection, World, WorldError, WorldErrorKind,
    complete,
};
use dormouse_resilience::{
    Exhausted, RetryBudget, RetryPolicy, Verdict, deadline, retry, retry_within,
};
use serde_json::Value;

use crate::{
    Ports,
    event::{RecallFailure, Recollected},
    inward::Consulted,
    prompt::{Length, Prompt},
    remembering::{CatchUpError, catch_up},
};
pub(crate) use consult::consult;
pub(crate) use recollect::{Recollect, recollect};
pub(crate) use tend::{Tending, tend};

/// How a call to the outside ended.
#[derive(Debug)]
pub(crate) enum Done {
    Replied {
        reply: ChatReply,
        model: ModelName,
        prompt_tokens: u32,
        duration: Duration,
    },
    Failed {
        error: Exhausted<ModelError>,
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
    Recollected(Box<Recollected>),
    Consulted {
        call: CallId,
        consulted: Consulted,
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

/// Asks the model: three attempts, each bounded by `limit`, with a pause between them, as far as the budget for retries
/// goes.
pub(crate) async fn ask(
    ports: Ports,
    prompt: Prompt,
    limit: Duration,
    budget: RetryBudget,
) -> Done {
    let started = ports.clock.now();
    let model = &*ports.model;
    let (provider, name) = model.identity();
    let result = retry_within(
        &RetryPolicy::model_call(),
        &budget,
        || ports.chance.unit(),
        |error: &ModelError| match (error.kind().is_retryable(), error.kind().pause()) {
            (true, Some(pause)) => Verdict::RetryAfter(pause),
            (true, None) => Verdict::Retry,
            (false, _) => Verdict::GiveUp,
        },
        || async {
            let timed_out = |e| {
                ModelError::new(
                    provider.clone(),
                    ModelErrorKind::TimedOut,
                    Some(Box::new(e)),
                )
            };
            deadline(limit, complete(model, &prompt.request))
                .await
                .map_err(timed_out)?
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
            duration,
        },
        Err(error) => Done::Failed {
            error,
            prompt: Length::of(&prompt),
            duration,
        },
    }
}

/// Looks at the world.
pub(crate) async fn observe(ports: Ports, call: CallId, query: Query, limit: Duration) -> Done {
    let harmless = Repeat::Harmless;
    let seen = try_world(&*ports.chance, limit, harmless, || {
        ports.world.observe(&query)
    })
    .await;
    let seen = seen.unwrap_or_else(|trouble| {
        Err(Rejection {
            reason: trouble.to_string(),
        })
    });
    Done::Observed { call, seen }
}

/// Carries out an effect that nobody has begun yet.
pub(crate) async fn perform(ports: Ports, effect: Effect, limit: Duration) -> Done {
    let (world, chance) = (ports.world, ports.chance);
    let outcome = match try_perform(&world, &*chance, &effect, limit).await {
        Ok(outcome) => outcome,
        Err(Trouble::NotReached) => Outcome::Rejected(not_reached()),
        Err(Trouble::Unanswered) => find_out(&world, &*chance, &effect, limit).await,
    };
    Done::Settled {
        key: effect.key,
        outcome,
    }
}

/// Finds out what became of an effect that a process before this one left behind.
pub(crate) async fn ask_after(ports: Ports, effect: Effect, limit: Duration) -> Done {
    let outcome = find_out(&ports.world, &*ports.chance, &effect, limit).await;
    Done::Settled {
        key: effect.key,
        outcome,
    }
}

/// Asks the world what became of an effect. Where the world is certain that it never saw the key, the effect is
/// carried out once more under the same key, which is safe: whatever arrives twice is done once.
async fn find_out(
    world: &Arc<dyn World>,
    chance: &dyn Chance,
    effect: &Effect,
    limit: Duration,
) -> Outcome {
    match try_world(chance, limit, Repeat::Harmless, || {
        world.inquire(&effect.key)
    })
    .await
    {
        Ok(EffectInquiry::Done(receipt)) => Outcome::Done(receipt),
        Ok(EffectInquiry::Rejected(rejection)) => Outcome::Rejected(rejection),
        Ok(EffectInquiry::NeverSeen) => match try_perform(world, chance, effect, limit).await {
            Ok(outcome) => outcome,
            Err(Trouble::NotReached) => Outcome::Rejected(not_reached()),
            Err(Trouble::Unanswered) => Outcome::Unknown,
        },
        Ok(EffectInquiry::CannotTell) | Err(_) => Outcome::Unknown,
    }
}

fn not_reached() -> Rejection {
    Rejection {
        reason: Trouble::NotReached.to_string(),
    }
}

async fn try_perform(
    world: &Arc<dyn World>,
    chance: &dyn Chance,
    effect: &Effect,
    limit: Duration,
) -> Result<Outcome, Trouble> {
    try_world(chance, limit, Repeat::Unsafe, || world.perform(effect)).await
}

/// Why the world gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Trouble {
    #[error("the world could not be reached; nothing happened")]
    NotReached,
    #[error("the world did not answer")]
    Unanswered,
}

impl From<WorldError> for Trouble {
    fn from(error: WorldError) -> Self {
        match error.kind() {
            WorldErrorKind::NotReached => Self::NotReached,
            _ => Self::Unanswered,
        }
    }
}

/// Whether a call that was not answered may be made again just like that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// It only asks.
    Harmless,
    /// It may have been done.
    Unsafe,
}

/// Calls the world, again if the call did not reach it, or was not answered and only asks. An attempt longer than `limit` counts as unanswered.
async fn try_world<T, Call>(
    chance: &dyn Chance,
    limit: Duration,
    repeat: Repeat,
    mut call: impl FnMut() -> Call,
) -> Result<T, Trouble>
where
    Call: Future<Output = Result<T, WorldError>>,
    T: fmt::Debug,
{
    let attempt = || {
        let call = call();
        async move {
            match deadline(limit, call).await {
                Ok(answer) => answer.map_err(Trouble::from),
                Err(_) => Err(Trouble::Unanswered),
            }
        }
    };
    let verdict = |trouble: &Trouble| match trouble {
        Trouble::NotReached => Verdict::Retry,
        Trouble::Unanswered if repeat == Repeat::Harmless => Verdict::Retry,
        Trouble::Unanswered => Verdict::GiveUp,
    };
    retry(
        &RetryPolicy::tool_call(),
        || chance.unit(),
        verdict,
        attempt,
    )
    .await
    .map_err(|exhausted| exhausted.error)
}
