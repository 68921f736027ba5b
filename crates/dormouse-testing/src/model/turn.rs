//! What a scripted model does with one request.

use std::fmt;

use dormouse_contracts::{ChatDelta, ChatReply, ChatRequest, ModelErrorKind};
use serde_json::Value;

use crate::Gate;

/// What a scripted model does with one request.
///
/// Text and arguments arrive in several pieces, as from a provider. Where a turn says nothing about cost, every word
/// of the request's messages and of the reply counts as one token.
#[non_exhaustive]
pub enum ScriptedTurn {
    /// Answers with this reply, call ids and cost included.
    Reply(ChatReply),
    /// Answers with a text and is done.
    Text(String),
    /// Calls tools: the name and the arguments as JSON text, or as whatever a confused model writes there. The
    /// ids are `call-1`, `call-2` and so on, and none of them stands in the request already.
    Calls(Vec<(String, String)>),
    /// Fails before the first piece.
    Fail(ModelErrorKind),
    /// Says this much and ends without having finished: the connection broke.
    CutOff {
        /// What arrives before the end.
        text: String,
    },
    /// Says this much and then nothing more, without ending.
    Stall {
        /// What arrives before the silence.
        text: String,
    },
    /// Never answers.
    Hang,
    /// Yields exactly these pieces and ends, be they a reply or not.
    Raw(Vec<Result<ChatDelta, ModelErrorKind>>),
    /// Waits until the gate is opened, then does as the turn inside says.
    Wait(Gate, Box<ScriptedTurn>),
    /// Decides when it sees the request.
    With(Box<dyn Fn(&ChatRequest) -> ScriptedTurn + Send + Sync>),
}

impl ScriptedTurn {
    /// Answers with `text`.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Calls one tool.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "so that a call reads `ScriptedTurn::call(\"say\", json!({…}))`"
    )]
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::Calls(vec![(name.into(), arguments.to_string())])
    }

    /// Calls several tools in one reply.
    #[must_use]
    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        let calls = calls.into_iter();
        Self::Calls(
            calls
                .map(|(name, arguments)| (name.into(), arguments.to_string()))
                .collect(),
        )
    }

    /// Decides when it sees the request.
    #[must_use]
    pub fn with(decide: impl Fn(&ChatRequest) -> ScriptedTurn + Send + Sync + 'static) -> Self {
        Self::With(Box::new(decide))
    }

    /// Waits until `gate` is opened, then does as `turn` says.
    #[must_use]
    pub fn after(gate: &Gate, turn: ScriptedTurn) -> Self {
        Self::Wait(gate.clone(), Box::new(turn))
    }
}

impl fmt::Debug for ScriptedTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply) => f.debug_tuple("Reply").field(reply).finish(),
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Self::Calls(calls) => f.debug_tuple("Calls").field(calls).finish(),
            Self::Fail(kind) => f.debug_tuple("Fail").field(kind).finish(),
            Self::CutOff { text } => f.debug_struct("CutOff").field("text", text).finish(),
            Self::Stall { text } => f.debug_struct("Stall").field("text", text).finish(),
            Self::Hang => f.write_str("Hang"),
            Self::Raw(pieces) => f.debug_tuple("Raw").field(pieces).finish(),
            Self::Wait(gate, turn) => f.debug_tuple("Wait").field(gate).field(turn).finish(),
            Self::With(_) => f.write_str("With(..)"),
        }
    }
}
