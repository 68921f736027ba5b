//! The ports to a world: do something, look at something, ask whether something was done.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Arguments, AssistantId, BoxFuture, EffectKey, PortError, ToolName};

/// An outward act of an assistant, under the key that keeps it from happening twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The idempotency key. A world carries out each key at most once, also across restarts.
    pub key: EffectKey,
    /// Who acts.
    pub actor: AssistantId,
    /// Which tool of the world.
    pub tool: ToolName,
    /// Its arguments, already checked against the tool's schema.
    pub arguments: Arguments,
}

/// A look at the world that changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// Who looks.
    pub actor: AssistantId,
    /// Which tool of the world.
    pub tool: ToolName,
    /// Its arguments, already checked against the tool's schema.
    pub arguments: Arguments,
}

/// What a world tells about an effect it carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// What happened, for the model to read.
    pub detail: Value,
}

/// Why a world did not carry out an effect, and will not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The reason, for the model to read.
    pub reason: String,
}

/// What became of an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It happened, once.
    Done(Receipt),
    /// It did not happen and will not.
    Rejected(Rejection),
    /// Nobody can tell whether it happened. It is shown to the model as such and never repeated.
    Unknown,
}

/// A world's answer to "what became of the effect with this key?".
#[derive(Clone, Debug, PartialEq)]
pub enum EffectInquiry {
    /// It was carried out.
    Done(Receipt),
    /// It was refused.
    Rejected(Rejection),
    /// The world is certain that it never carried it out: doing it now, under the same key, is safe.
    NeverSeen,
    /// The world does not know.
    CannotTell,
}

/// What a failed call to a world leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldErrorKind {
    /// The call did not reach the world: nothing happened, and trying again may succeed.
    #[error("the world could not be reached")]
    NotReached,
    /// The call reached the world but no answer came back: whether anything happened is not known.
    #[error("the world did not answer")]
    Unanswered,
}

/// A call to a world failed.
pub type WorldError = PortError<WorldErrorKind>;

/// Carries out effects.
pub trait Perform: Send + Sync {
    /// Carries out `effect`, or answers with the outcome it had if its key was seen before. The answer is never
    /// [`Outcome::Unknown`]; a world that cannot tell fails with [`WorldErrorKind::Unanswered`]. Once this
    /// answers `Done`, the effect outlives a crash. Dropping the future may leave the effect done or not done.
    ///
    /// # Errors
    ///
    /// [`WorldError`], whose kind says whether anything may have happened.
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>>;
}

/// Answers questions about what is there.
pub trait Observe: Send + Sync {
    /// Answers `query` with JSON for the model to read, or with the reason why it cannot be answered.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world could not be asked.
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>>;
}

/// Answers what became of an effect.
pub trait Inquire: Send + Sync {
    /// Tells what became of the effect with this key. Asking changes nothing.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world could not be asked.
    fn inquire<'a>(
        &'a self,
        key: &'a EffectKey,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>>;
}

/// All an engine needs of a world; implemented by whatever implements the three ports.
pub trait World: Perform + Observe + Inquire {}

impl<T: Perform + Observe + Inquire + ?Sized> World for T {}
