//! The offline model.

use dormouse_contracts::{
    BoxStream, CallId, ChatDelta, ChatModel, ChatRequest, FinishReason, ModelError, ModelName,
    ProviderId, Usage,
};
use futures_util::stream;
use serde_json::{Value, json};

use crate::{
    act::Act,
    offer::{Form, Offer},
    turn,
};

/// A chat model without a language model: simple, deterministic, and open about it.
///
/// With it, everything runs without a key and a network, and tests have a fast, exact model. It recognises greetings and
/// farewells, "remember that …", questions (which it answers by quoting the best memories, with time and speaker),
/// looking around, going somewhere, thanks, and "who are you"; to anything else it says that it did not understand. Every
/// answer has at most 600 characters.
///
/// # What it reads
///
/// [`ChatRequest::turn`]: the message to answer, and the steps so far. It does not read the prompt. Without a turn it calls
/// `noop`, or says that it cannot handle the request.
///
/// # What it does
///
/// One native tool call per step, with ids derived from the length of the conversation, and each tool at most once per
/// event. It uses `say`, `whisper`, `page`, `channel`, `move`, `inspect_location`, `store_memory`, `recall_memories` and
/// `noop`, if offered. It quotes neither questions nor its own words from memory. To go to a place it first looks for
/// the exit. A whisper is answered by a whisper, a page by a page and a channel on the channel, never by `say`; without the right tool the answer
/// is the reply's text. An effect with an unknown outcome is reported and not repeated.
///
/// If the tools are listed in the instructions ([`TurnContext::tools_in_text`](dormouse_contracts::TurnContext)), a call is
/// the object `{"tool": …, "parameters": {…}, "reasoning": …}` as the whole reply.
#[derive(Clone, Debug)]
pub struct OfflineModel {
    provider: ProviderId,
    model: ModelName,
}

impl OfflineModel {
    /// Creates the model. It has no settings.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "both names are constants, and every test makes them"
    )]
    pub fn new() -> Self {
        Self {
            provider: ProviderId::try_new("offline").expect("a provider id"),
            model: ModelName::try_new("offline").expect("a model name"),
        }
    }
}

impl Default for OfflineModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ChatModel for OfflineModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let offer = Offer::of(request);
        let act = turn::next_act(request, &offer);
        let deltas = deltas(request, offer.form, act);
        Box::pin(stream::iter(deltas.into_iter().map(Ok)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}

fn deltas(request: &ChatRequest, form: Form, act: Act) -> Vec<ChatDelta> {
    let (said, mut deltas) = match (act, form) {
        (Act::Text(text), _) => (text.clone(), vec![ChatDelta::Text(text)]),
        (Act::Call { tool, arguments }, Form::Native) => {
            let arguments = Value::Object(arguments).to_string();
            let start = ChatDelta::CallStart {
                index: 0,
                id: call_id(request.messages.len()),
                name: tool.to_owned(),
            };
            let fragment = arguments.clone();
            (
                arguments,
                vec![start, ChatDelta::CallArguments { index: 0, fragment }],
            )
        }
        (Act::Call { tool, arguments }, Form::Text) => {
            let call = json!({"tool": tool, "parameters": arguments, "reasoning": REASONING});
            (call.to_string(), vec![ChatDelta::Text(call.to_string())])
        }
    };
    let finish = match deltas.len() {
        1 => FinishReason::Stop,
        _ => FinishReason::ToolCalls,
    };
    deltas.push(ChatDelta::Finished(finish));
    deltas.push(ChatDelta::Usage(usage(request, &said)));
    deltas
}

/// The reasoning of every call.
const REASONING: &str = "The offline model follows fixed rules.";

#[expect(
    clippy::expect_used,
    reason = "a word and a number have no control characters and at most 25 bytes"
)]
fn call_id(place: usize) -> CallId {
    CallId::try_new(format!("call_{place}")).expect("a call id")
}

/// Estimates four characters per token.
fn usage(request: &ChatRequest, said: &str) -> Usage {
    let estimate = |text: &str| u32::try_from(text.chars().count().div_ceil(4)).unwrap_or(u32::MAX);
    let prompt = request.messages.iter().map(|m| estimate(turn::text_of(m)));
    Usage {
        prompt_tokens: prompt.fold(0, u32::saturating_add),
        completion_tokens: estimate(said),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
