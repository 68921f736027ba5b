//! A world that follows a test's instructions. It can fail in every way in which a world may fail.

mod behaviour;
mod state;
mod tools;

use std::{
    collections::HashMap,
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{
    Audience, BoxFuture, Effect, EffectInquiry, EffectKey, Inquire, Observe, Outcome, Perception,
    Perform, Query, Receipt, Rejection, ToolSource, ToolSpec, WorldError, WorldErrorKind,
};
use serde_json::{Value, json};

pub use behaviour::Behaviour;
use state::State;

use crate::{fault::Fault, perception::Perceive};

/// A world in memory, with all three ports.
///
/// It carries out the effects of every tool, once per key. [`answer`](Self::answer) sets the answers to queries, and
/// [`then`](Self::then) sets the behaviours for the next effects. A repeated effect whose outcome is decided gets the
/// same outcome and uses up no behaviour. A clone is another handle to the same world, so the world survives the engine
/// that a test drops.
///
/// ```
/// # use dormouse_contracts::{AssistantId, Effect, EffectInquiry, EffectKey, Inquire, Perform, ToolName};
/// # use dormouse_testing::{Behaviour, FakeWorld};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let world = FakeWorld::new();
/// world.then(Behaviour::DoneButUnanswered);
/// let effect = Effect {
///     key: EffectKey::try_new("dormouse/7")?,
///     actor: AssistantId::try_new("dormouse")?,
///     tool: ToolName::try_new("say")?,
///     arguments: serde_json::Map::new(),
///     reply_to: None,
///     within: None,
/// };
/// assert!(world.perform(&effect).await.is_err());
/// assert!(matches!(world.inquire(&effect).await?, EffectInquiry::Done(_)));
/// assert_eq!(world.performed(), [effect]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct FakeWorld {
    state: Arc<Mutex<State>>,
}

impl FakeWorld {
    /// A world that carries out every effect and has no answers to queries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tools of every kind, for an engine to offer: `say` and `whisper` (terminal effects), `move` (an effect
    /// that may be chained), `inspect_location` (a query that may be chained) and `detonate` (a dangerous effect).
    #[must_use]
    pub fn tools() -> Vec<ToolSpec> {
        tools::tools()
    }

    /// Adds a behaviour to the queue. Each undecided effect that is not [refused](Self::refuse) uses up the first one;
    /// if the queue is empty, the effect is carried out.
    pub fn then(&self, behaviour: Behaviour) {
        self.state().next.push_back(behaviour);
    }

    /// Rejects every effect and every query of `tool` for `reason`.
    pub fn refuse(&self, tool: &str, reason: &str) {
        let mut state = self.state();
        state
            .refused_tools
            .insert(tool.to_owned(), reason.to_owned());
    }

    /// Answers queries of `tool` with `answer` from now on. A query without an answer is rejected.
    pub fn answer(&self, tool: &str, answer: Value) {
        self.state().answers.insert(tool.to_owned(), answer);
    }

    /// Lets these listeners, and nobody else, hear everything that the assistant says aloud from now on. An effect
    /// whose words are not [for all of them](Effect::within) is rejected, and each receipt attests who heard the words.
    /// Before the first call there are no listeners, and receipts attest nothing about them.
    pub fn listen(&self, listeners: Audience) {
        self.state().listeners = Some(listeners);
    }

    /// Sets whether the answer to inquiries is [`EffectInquiry::CannotTell`], as in a world that keeps no records.
    pub fn cannot_tell(&self, yes: bool) {
        self.state().cannot_tell = yes;
    }

    /// Makes the next `count` inquiries fail with `kind`.
    pub fn fail_next_inquiries(&self, count: usize, kind: WorldErrorKind) {
        self.state().failing_inquiries = Fault::next(count, kind);
    }

    /// Makes the next `count` queries fail with `kind`.
    pub fn fail_next_queries(&self, count: usize, kind: WorldErrorKind) {
        self.state().failing_queries = Fault::next(count, kind);
    }

    /// Delivers a perception of something that somebody else does, with the next number.
    pub fn happen(&self, perceive: Perceive) -> Perception {
        let mut state = self.state();
        state.deliver(perceive);
        state.feed.last().cloned().unwrap()
    }

    /// Everything that the assistant perceived: what [`happen`](Self::happen) delivered, and output of its effects.
    #[must_use]
    pub fn perceptions(&self) -> Vec<Perception> {
        self.state().feed.clone()
    }

    /// The effects that were carried out, in order.
    #[must_use]
    pub fn performed(&self) -> Vec<Effect> {
        self.state().seen.performed.clone()
    }

    /// How often the effect with this key was carried out: 0 or 1. [`attempts`](Self::attempts) returns every request.
    #[must_use]
    pub fn count(&self, key: &EffectKey) -> usize {
        let state = self.state();
        let performed = &state.seen.performed;
        performed.iter().filter(|effect| effect.key == *key).count()
    }

    /// Every requested effect, carried out or not, in order, with repetitions.
    #[must_use]
    pub fn attempts(&self) -> Vec<Effect> {
        self.state().seen.attempts.clone()
    }

    /// The keys that were used for two different effects, which is a bug in the code that creates keys.
    #[must_use]
    pub fn reused_keys(&self) -> Vec<EffectKey> {
        let state = self.state();
        let mut first: HashMap<&EffectKey, &Effect> = HashMap::new();
        let attempts = state.seen.attempts.iter();
        attempts
            .filter(|effect| *first.entry(&effect.key).or_insert(effect) != *effect)
            .map(|effect| effect.key.clone())
            .collect()
    }

    /// Every query, including rejected and failed ones, in order.
    #[must_use]
    pub fn queries(&self) -> Vec<Query> {
        self.state().seen.queries.clone()
    }

    /// The key of every inquiry, including failed ones, in order.
    #[must_use]
    pub fn inquiries(&self) -> Vec<EffectKey> {
        self.state().seen.inquiries.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn meet<'a>(
        &'a self,
        effect: &'a Effect,
        behaviour: Behaviour,
    ) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            match behaviour {
                Behaviour::Do => Ok(self.carry_out(effect, json!({ "done": effect.tool }))),
                Behaviour::DoWith(detail) => Ok(self.carry_out(effect, detail)),
                Behaviour::Print(lines) => {
                    let mut state = self.state();
                    let last_output = state.print(effect, lines);
                    let done = Receipt {
                        detail: json!({ "done": effect.tool }),
                        last_output,
                        heard_by: None,
                    };
                    Ok(state.decide(effect, Outcome::Done(done)))
                }
                Behaviour::Reject(reason) => {
                    let refused = Outcome::Rejected(Rejection::new(reason));
                    Ok(self.state().decide(effect, refused))
                }
                Behaviour::NotReached => Err(failed(WorldErrorKind::NotReached)),
                Behaviour::LostBeforeDoing => Err(failed(WorldErrorKind::Unanswered)),
                Behaviour::DoneButUnanswered => {
                    self.carry_out(effect, json!({ "done": effect.tool }));
                    Err(failed(WorldErrorKind::Unanswered))
                }
                Behaviour::Hang => pending().await,
                Behaviour::DoneButHangs => {
                    self.carry_out(effect, json!({ "done": effect.tool }));
                    pending().await
                }
                Behaviour::AnswerLate(gate, behaviour) => {
                    let answer = self.meet(effect, *behaviour).await;
                    gate.passed().await;
                    answer
                }
                Behaviour::LoseAnswer(behaviour) => {
                    self.meet(effect, *behaviour).await?;
                    Err(failed(WorldErrorKind::Unanswered))
                }
                Behaviour::Wait(gate, behaviour) => {
                    gate.passed().await;
                    self.meet(effect, *behaviour).await
                }
            }
        })
    }

    fn carry_out(&self, effect: &Effect, detail: Value) -> Outcome {
        let done = Outcome::Done(Receipt::new(detail));
        self.state().decide(effect, done)
    }
}

fn failed(kind: WorldErrorKind) -> WorldError {
    WorldError::new(kind, Some("the test says so".into()))
}

impl Perform for FakeWorld {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            let taken = self.state().take(effect);
            match taken {
                Ok(outcome) => Ok(outcome),
                Err(behaviour) => self.meet(effect, behaviour).await,
            }
        })
    }
}

impl Observe for FakeWorld {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move { self.state().answer(query).map_err(failed) })
    }
}

impl Inquire for FakeWorld {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move { self.state().tell(&effect.key).map_err(failed) })
    }
}

impl ToolSource for FakeWorld {
    /// As [`FakeWorld::tools`].
    fn specs(&self) -> Vec<ToolSpec> {
        Self::tools()
    }
}

#[cfg(test)]
mod tests;
