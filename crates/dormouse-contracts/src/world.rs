//! The ports to a world and to other sources of tools: perform an effect, observe something, inquire about an effect.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    audience::Audience,
    future::BoxFuture,
    ids::{AssistantId, EffectKey, ToolName},
    perception::Delivery,
    port_error::PortError,
    tool::{Arguments, ToolSpec},
};

/// An act of an assistant in a world, with the key that keeps it from happening twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The idempotency key. A world carries out each key at most once, also across restarts.
    pub key: EffectKey,
    /// The assistant that acts.
    pub actor: AssistantId,
    /// The world's tool.
    pub tool: ToolName,
    /// Its arguments, already checked against the tool's schema.
    pub arguments: Arguments,
    /// The delivery that the actor answers with this act. A world may attest to others what is answered, if they perceived
    /// it ([`Attested::reply_to`](crate::Attested::reply_to)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Delivery>,
    /// Who may perceive its words, besides the actor; `None` if anybody may. When the world carries out the effect, it
    /// checks who would perceive the words, and rejects the effect if anybody else is among them. An effect without
    /// words of the actor, such as a movement, is carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Audience>,
}

/// A question to the world, which changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The assistant that asks.
    pub actor: AssistantId,
    /// The world's tool.
    pub tool: ToolName,
    /// Its arguments, already checked against the tool's schema.
    pub arguments: Arguments,
}

/// The receipt of a world for an effect that it carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// What happened, for the model to read.
    pub detail: Value,
    /// The last delivery of the effect's output to the actor, which marks the end of that output. All output up to it can
    /// be read from the actor's feed when the receipt is returned, and none follows it. Absent if `detail` holds all its
    /// output, or it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_output: Option<Delivery>,
    /// Who perceived its words, besides the actor: those to whom the world delivered them. Absent if it has no words, or if
    /// the world does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_by: Option<Audience>,
}

impl Receipt {
    /// The receipt of an effect that has no output, or whose output is in `detail`, and of which the world does not say who
    /// heard it.
    #[must_use]
    pub fn new(detail: Value) -> Self {
        Self {
            detail,
            last_output: None,
            heard_by: None,
        }
    }
}

/// Why a world did not carry out an effect, and will not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Rejection {
    /// The reason, for the model to read.
    pub reason: String,
    /// Who would have perceived it, besides the actor, if that is more than [`Effect::within`] allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_by: Option<Audience>,
}

impl Rejection {
    /// A rejection that has nothing to do with who would have perceived the effect.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            heard_by: None,
        }
    }
}

/// The outcome of an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It happened, once.
    Done(Receipt),
    /// It did not happen and will not.
    Rejected(Rejection),
    /// It is unknown whether it happened. The model sees it as unknown, and it is never repeated.
    Unknown,
}

/// A world's answer when it is asked for the outcome of a key.
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

/// For a world that remembers every key: makes its answer from the outcome that it remembers for this key.
impl From<Option<Outcome>> for EffectInquiry {
    fn from(known: Option<Outcome>) -> Self {
        match known {
            Some(Outcome::Done(receipt)) => Self::Done(receipt),
            Some(Outcome::Rejected(rejection)) => Self::Rejected(rejection),
            Some(Outcome::Unknown) => Self::CannotTell,
            None => Self::NeverSeen,
        }
    }
}

/// What may have happened when a call to a world failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldErrorKind {
    /// The call did not reach the world: nothing happened, and trying again may succeed.
    #[error("the world could not be reached")]
    NotReached,
    /// The call may have reached the world, but no answer came back: it is unknown whether anything happened.
    #[error("the world did not answer")]
    Unanswered,
}

/// A call to a world failed.
pub type WorldError = PortError<WorldErrorKind>;

/// Carries out effects.
pub trait Perform: Send + Sync {
    /// Carries out `effect`, or returns its earlier outcome if its key was seen before. The answer is never
    /// [`Outcome::Unknown`]; a world that does not know fails with [`WorldErrorKind::Unanswered`]. An effect that was
    /// answered with `Done` survives a crash. If the future is dropped, the effect may or may not be carried out.
    ///
    /// # Errors
    ///
    /// [`WorldError`], whose kind says whether anything may have happened.
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>>;
}

/// Answers questions about the world.
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

/// Answers questions about the outcome of effects.
pub trait Inquire: Send + Sync {
    /// What happened to this effect, which is identified by its key. The tool determines which source of tools is asked.
    /// Asking changes nothing.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world could not be asked.
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>>;
}

/// All ports of a world. Implemented for every type that implements the three ports.
pub trait World: Perform + Observe + Inquire {}

impl<T: Perform + Observe + Inquire + ?Sized> World for T {}

/// Tools that assistants may use, and what carries out their calls. A world is such a source; an assistant may have
/// tools of several sources.
///
/// Each call names a tool of this source by [its name](ToolSpec::name) there. A call of a tool that it does not have, of a
/// query as an effect, of an effect as a query, or with arguments that do not fit, is rejected and changes nothing.
///
/// Effects happen at most once for their key, as [`Perform`] says. A source that forgets its keys at a restart answers
/// [`EffectInquiry::CannotTell`] to keys that it does not know, and never [`EffectInquiry::NeverSeen`].
pub trait ToolSource: World {
    /// Its tools, in the order in which they are offered: [effects](crate::ToolReach::Effect) and
    /// [queries](crate::ToolReach::Query). They are the same as long as the source exists.
    fn specs(&self) -> Vec<ToolSpec>;
}
