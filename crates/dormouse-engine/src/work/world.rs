//! The calls to the world. An effect is done at most once. An unreachable world does not count as a refusal.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use dormouse_contracts::{
    CallId, Effect, EffectInquiry, Outcome, Query, Random, Receipt, Rejection, World, WorldError,
    WorldErrorKind,
};
use dormouse_resilience::{RetryPolicy, RetryVerdict, deadline, retry};
use dormouse_text::error_chain;
use serde_json::Value;

use super::{Done, TakenIn};
use crate::Ports;

/// Why the world gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorldFailure {
    /// `NotReached` if nothing happened, or if it could not be found out what happened.
    pub(crate) kind: WorldErrorKind,
    /// The cause, for people, if known.
    pub(crate) reason: Option<String>,
}

impl WorldFailure {
    fn of(error: &WorldError) -> Self {
        Self {
            kind: error.kind(),
            reason: error.source().map(error_chain),
        }
    }

    fn late(limit: Duration) -> Self {
        Self {
            kind: WorldErrorKind::Unanswered,
            reason: Some(format!("no answer came within {limit:?}")),
        }
    }

    fn is_unreached(&self) -> bool {
        self.kind == WorldErrorKind::NotReached
    }

    /// The failure of a query, which cannot have changed anything.
    fn of_a_question(self) -> Self {
        Self {
            kind: WorldErrorKind::NotReached,
            ..self
        }
    }
}

impl fmt::Display for WorldFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => write!(f, "{}: {reason}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

/// The outcome of a query.
#[derive(Debug)]
pub(crate) enum Seen {
    /// The result.
    Shown(Value),
    /// The world or the tool refused it, which is an answer.
    Refused(Rejection),
    /// No answer came, for this reason.
    NoAnswer(String),
}

/// Time limit and number of attempts of a call.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    /// The limit for one attempt.
    pub(crate) limit: Duration,
    pub(crate) retries: RetryPolicy,
}

/// Queries the world.
pub(crate) async fn observe(ports: Ports, call: CallId, query: Query, patience: Patience) -> Done {
    let look = || ports.world.observe(&query);
    let seen = match try_world(&*ports.random, &patience, Repeat::Harmless, look).await {
        Err(failure) if failure.is_unreached() => return Done::WorldFailed(failure),
        Err(failure) => Seen::NoAnswer(failure.to_string()),
        Ok(Ok(seen)) => Seen::Shown(seen),
        Ok(Err(rejection)) => Seen::Refused(rejection),
    };
    Done::Observed { call, seen }
}

/// Carries out a new effect, and waits until its output was processed.
pub(crate) async fn perform(
    ports: Ports,
    effect: Effect,
    taken_in: TakenIn,
    patience: Patience,
) -> Done {
    let (world, random) = (ports.world, ports.random);
    let outcome = match try_perform(&world, &*random, &effect, &patience).await {
        Err(failure) if failure.is_unreached() => Err(failure),
        Err(_unanswered) => find_out(&world, &*random, &effect, &patience).await,
        Ok(outcome) => Ok(outcome),
    };
    done(effect, outcome, &taken_in, patience.limit).await
}

/// Finds out the outcome of an effect that an earlier process, or a tick that could not reach the world, left open.
/// Waits until its output was processed.
pub(crate) async fn ask_after(
    ports: Ports,
    effect: Effect,
    taken_in: TakenIn,
    patience: Patience,
) -> Done {
    let outcome = find_out(&ports.world, &*ports.random, &effect, &patience).await;
    done(effect, outcome, &taken_in, patience.limit).await
}

/// An effect is settled only after the mark at the end of its output. So its result contains all output, even if the
/// receipt arrives first.
async fn done(
    effect: Effect,
    outcome: Result<Outcome, WorldFailure>,
    taken_in: &TakenIn,
    limit: Duration,
) -> Done {
    let key = effect.key;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failure) => return Done::WorldFailed(failure),
    };
    if let Outcome::Done(Receipt {
        last_output: Some(mark),
        ..
    }) = &outcome
        && !taken_in.reaches(mark, limit).await
    {
        let number = mark.number;
        tracing::warn!(%key, number, "the output of an effect was not delivered in time; its result has what came");
    }
    Done::Settled { key, outcome }
}

/// Asks the world for the outcome of an effect. If the world is certain that it never saw the key, the effect is sent
/// again with the same key. That is safe: a world does an effect that arrives twice only once. If the world cannot be
/// asked, the outcome stays open.
async fn find_out(
    world: &Arc<dyn World>,
    random: &dyn Random,
    effect: &Effect,
    patience: &Patience,
) -> Result<Outcome, WorldFailure> {
    let inquire = || world.inquire(effect);
    let inquiry = try_world(random, patience, Repeat::Harmless, inquire).await;
    match inquiry.map_err(WorldFailure::of_a_question)? {
        EffectInquiry::Done(receipt) => Ok(Outcome::Done(receipt)),
        EffectInquiry::Rejected(rejection) => Ok(Outcome::Rejected(rejection)),
        EffectInquiry::NeverSeen => try_perform(world, random, effect, patience).await,
        EffectInquiry::CannotTell => Ok(Outcome::Unknown),
    }
}

async fn try_perform(
    world: &Arc<dyn World>,
    random: &dyn Random,
    effect: &Effect,
    patience: &Patience,
) -> Result<Outcome, WorldFailure> {
    let perform = || world.perform(effect);
    try_world(random, patience, Repeat::Unsafe, perform).await
}

/// Whether a call without an answer may simply be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// It is only a query.
    Harmless,
    /// It may have been done.
    Unsafe,
}

/// Calls the world. Repeats a call that did not reach the world, or a query without an answer.
async fn try_world<T, Call>(
    random: &dyn Random,
    patience: &Patience,
    repeat: Repeat,
    mut call: impl FnMut() -> Call,
) -> Result<T, WorldFailure>
where
    Call: Future<Output = Result<T, WorldError>>,
    T: fmt::Debug,
{
    let limit = patience.limit;
    let attempt = || {
        let call = call();
        async move {
            match deadline(limit, call).await {
                Ok(answer) => answer.map_err(|error| WorldFailure::of(&error)),
                Err(_) => Err(WorldFailure::late(limit)),
            }
        }
    };
    let verdict = |failure: &WorldFailure| match repeat {
        Repeat::Unsafe if !failure.is_unreached() => RetryVerdict::GiveUp,
        Repeat::Unsafe | Repeat::Harmless => RetryVerdict::Retry,
    };
    let tried = retry(&patience.retries, || random.unit(), verdict, attempt).await;
    tried.map_err(|exhausted| exhausted.error)
}
