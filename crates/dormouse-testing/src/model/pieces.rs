//! Divides the reply of a turn into pieces.

use dormouse_contracts::{
    CallId, ChatDelta, ChatReply, ChatRequest, FinishReason, Message, ModelErrorKind, TokenCounter,
    ToolCall, Usage,
};
use dormouse_text::floor_char_boundary;

use super::turn::ScriptedTurn;
use crate::tokens::CountTokens;

/// What happens after the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The stream ends.
    Ends,
    /// The stream stays open and silent.
    Hangs,
}

/// The pieces of a reply, and what happens after them.
pub(super) type Pieces = (Vec<Result<ChatDelta, ModelErrorKind>>, Ending);

/// The pieces of a turn. A turn that waits for a gate, or gets its reply from a function, has no pieces here.
/// `first_call` is the number of its first call.
pub(super) fn pieces(turn: &ScriptedTurn, request: &ChatRequest, first_call: u64) -> Pieces {
    match turn {
        ScriptedTurn::Reply(reply) => (whole(reply), Ending::Ends),
        ScriptedTurn::Text(text) => {
            let reply = counted(text.clone(), Vec::new(), FinishReason::Stop, request);
            (whole(&reply), Ending::Ends)
        }
        ScriptedTurn::Calls(calls) => {
            let calls = numbered(calls, first_call);
            let reply = counted(String::new(), calls, FinishReason::ToolCalls, request);
            (whole(&reply), Ending::Ends)
        }
        ScriptedTurn::Fail(kind) => (vec![Err(*kind)], Ending::Ends),
        ScriptedTurn::CutOff { text } => (said(text).map(Ok).collect(), Ending::Ends),
        ScriptedTurn::Stall { text } => (said(text).map(Ok).collect(), Ending::Hangs),
        ScriptedTurn::Raw(pieces) => (pieces.clone(), Ending::Ends),
        ScriptedTurn::Hang | ScriptedTurn::Wait(..) | ScriptedTurn::With(_) => {
            (Vec::new(), Ending::Hangs)
        }
    }
}

fn whole(reply: &ChatReply) -> Vec<Result<ChatDelta, ModelErrorKind>> {
    let mut deltas: Vec<_> = reply
        .info
        .clone()
        .map(ChatDelta::Info)
        .into_iter()
        .collect();
    if !reply.reasoning.is_empty() {
        deltas.push(ChatDelta::Reasoning(reply.reasoning.clone()));
    }
    deltas.extend(said(&reply.content));
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

/// Splits a text into two pieces between characters; neither piece is empty.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    let (left, right) = text.split_at(floor_char_boundary(text, text.len() / 2));
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

/// The highest number among the call ids of `request`, counting only ids that have the form of a scripted model's; 0 if
/// there are none.
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
        ..Usage::default()
    };
    ChatReply {
        content,
        tool_calls,
        finish,
        usage: Some(usage),
        ..ChatReply::default()
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
