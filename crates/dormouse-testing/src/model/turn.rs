//! What a scripted model does with one request.

use std::fmt;

use dormouse_contracts::{ChatDelta, ChatReply, ChatRequest, ModelErrorKind};
use serde_json::Value;

use crate::gate::Gate;

/// What a scripted model does with one request.
///
/// Text and arguments arrive in several pieces, as from a provider. If a turn does not state a cost, every word of the
/// request's messages and of the reply counts as one token.
#[non_exhaustive]
pub enum ScriptedTurn {
    /// Answers with this reply, call ids and cost included.
    Reply(ChatReply),
    /// Answers with a text and finishes.
    Text(String),
    /// Calls tools, each with its name and the text of its arguments, which does not have to be JSON. The ids are
    /// `call-1`, `call-2` and so on, except ids that the request already contains.
    Calls(Vec<(String, String)>),
    /// Fails before the first piece.
    Fail(ModelErrorKind),
    /// Sends this text and then ends without finishing, like a broken connection.
    CutOff {
        /// The text before the end.
        text: String,
    },
    /// Sends this text and then stays silent without ending.
    Stall {
        /// The text before the silence.
        text: String,
    },
    /// Never answers.
    Hang,
    /// Sends exactly these pieces and ends, even if they are not a valid reply.
    Raw(Vec<Result<ChatDelta, ModelErrorKind>>),
    /// Waits until the gate is open, then does what the inner turn says.
    Wait(Gate, Box<ScriptedTurn>),
    /// Computes the turn from the request.
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

    /// Computes the turn from the request with `decide`.
    #[must_use]
    pub fn with(decide: impl Fn(&ChatRequest) -> ScriptedTurn + Send + Sync + 'static) -> Self {
        Self::With(Box::new(decide))
    }

    /// Waits until `gate` is open, then does what `turn` says.
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
