//! What a scripted model does with one request.

use std::fmt;

use dormouse_contracts::{
    CallId, ChatDelta, ChatReply, ChatRequest, FinishReason, Message, ModelErrorKind, TokenCounter,
    ToolCall, Usage,
};
use serde_json::Value;

use crate::{CountTokens, Gate};

/// What a scripted model does with one request.
///
/// Text and arguments arrive in several pieces, as from a provider. Where a turn says nothing about cost, every word
/// of the request's messages and of the reply counts as one token.
#[non_exhaustive]
pub enum Turn {
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
    Wait(Gate, Box<Turn>),
    /// Decides when it sees the request.
    With(Box<dyn Fn(&ChatRequest) -> Turn + Send + Sync>),
}

impl Turn {
    /// Answers with `text`.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Calls one tool.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "so that a call reads `Turn::call(\"say\", json!({…}))`"
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
    pub fn with(decide: impl Fn(&ChatRequest) -> Turn + Send + Sync + 'static) -> Self {
        Self::With(Box::new(decide))
    }

    /// Waits until `gate` is opened, then does as `turn` says.
    #[must_use]
    pub fn after(gate: &Gate, turn: Turn) -> Self {
        Self::Wait(gate.clone(), Box::new(turn))
    }
}

impl fmt::Debug for Turn {
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

/// What happens after the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The stream ends.
    Ends,
    /// The stream stays open and silent.
    Hangs,
}

/// The pieces of a reply, and what comes after them.
pub(super) type Pieces = (Vec<Result<ChatDelta, ModelErrorKind>>, Ending);

/// The pieces of a turn that neither waits nor decides. `first_call` is the number of its first call.
pub(super) fn pieces(turn: &Turn, request: &ChatRequest, first_call: u64) -> Pieces {
    match turn {
        Turn::Reply(reply) => (whole(reply), Ending::Ends),
        Turn::Text(text) => {
            let reply = counted(text.clone(), Vec::new(), FinishReason::Stop, request);
            (whole(&reply), Ending::Ends)
        }
        Turn::Calls(calls) => {
            let calls = numbered(calls, first_call);
            let reply = counted(String::new(), calls, FinishReason::ToolCalls, request);
            (whole(&reply), Ending::Ends)
        }
        Turn::Fail(kind) => (vec![Err(*kind)], Ending::Ends),
        Turn::CutOff { text } => (said(text).map(Ok).collect(), Ending::Ends),
        Turn::Stall { text } => (said(text).map(Ok).collect(), Ending::Hangs),
        Turn::Raw(pieces) => (pieces.clone(), Ending::Ends),
        Turn::Hang | Turn::Wait(..) | Turn::With(_) => (Vec::new(), Ending::Hangs),
    }
}

fn whole(reply: &ChatReply) -> Vec<Result<ChatDelta, ModelErrorKind>> {
    let mut deltas: Vec<_> = said(&reply.content).collect();
    for (index, call) in reply.tool_calls.iter().enumerate() {
        deltas.push(ChatDelta::CallStart {
            index,
            id: call.id.clone(),
            name: call.name.clone(),
        });
        deltas.extend(
            halves(&call.arguments).map(|fragment| ChatDelta::CallArguments {
                index,
                fragment: fragment.to_owned(),
            }),
        );
    }
    deltas.push(ChatDelta::Finished(reply.finish.clone()));
    deltas.extend(reply.usage.map(ChatDelta::Usage));
    deltas.into_iter().map(Ok).collect()
}

fn said(text: &str) -> impl Iterator<Item = ChatDelta> {
    text.split_inclusive(' ')
        .map(|piece| ChatDelta::Text(piece.to_owned()))
}

/// A text in two pieces, neither of them empty and no character split.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    let middle = (0..=text.len() / 2)
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let (left, right) = text.split_at(middle.unwrap_or(0));
    [left, right].into_iter().filter(|half| !half.is_empty())
}

fn numbered(calls: &[(String, String)], first: u64) -> Vec<ToolCall> {
    (first..)
        .zip(calls)
        .map(|(number, (name, arguments))| ToolCall {
            id: CallId::try_new(format!("{CALL_PREFIX}{number}")).unwrap(),
            name: name.clone(),
            arguments: arguments.clone(),
        })
        .collect()
}

const CALL_PREFIX: &str = "call-";

/// The highest number among the calls in `request` that are named as a scripted model names them; 0 without any.
pub(super) fn highest_call(request: &ChatRequest) -> u64 {
    let numbers = request.messages.iter().flat_map(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        _ => &[],
    });
    numbers
        .filter_map(|call| call.id.as_str().strip_prefix(CALL_PREFIX)?.parse().ok())
        .max()
        .unwrap_or(0)
}

fn counted(
    content: String,
    tool_calls: Vec<ToolCall>,
    finish: FinishReason,
    request: &ChatRequest,
) -> ChatReply {
    let arguments = tool_calls.iter().map(|call| call.arguments.as_str());
    let usage = Usage {
        prompt_tokens: words(request.messages.iter().map(content_of)),
        completion_tokens: words(arguments.chain([content.as_str()])),
    };
    ChatReply {
        content,
        tool_calls,
        finish,
        usage: Some(usage),
    }
}

fn words<'a>(texts: impl Iterator<Item = &'a str>) -> u32 {
    texts.fold(0, |sum, text| {
        sum.saturating_add(CountTokens.count(text).tokens)
    })
}

fn content_of(message: &Message) -> &str {
    match message {
        Message::System { content }
        | Message::User { content }
        | Message::Assistant { content, .. }
        | Message::Tool { content, .. } => content,
        _ => "",
    }
}
