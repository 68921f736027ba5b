//! The model that needs no server.

use dormouse_contracts::{
    BoxStream, CallId, ChatDelta, ChatModel, ChatRequest, FinishReason, ModelError, ModelName,
    ProviderId, TokenCounter, Usage,
};
use futures_util::stream;
use serde_json::{Value, json};

use crate::Estimate;

mod act;
mod done;
mod event;
mod intent;
mod memories;
mod offer;
mod phrasing;
mod place;
mod turn;

use act::Act;
use offer::{Form, Offer};

/// A chat model without a language model: deterministic, able to do little, and honest about both.
///
/// It exists so that everything runs with no key and no network, and to be a fast, exact model in tests. It
/// recognises greetings and farewells, "remember that …", questions (which it answers by quoting the best remembered
/// lines, with when and from whom), looking around, going somewhere, thanks, and "who are you"; to anything else it
/// says that it did not understand. Every answer has at most 600 characters.
///
/// # What it reads
///
/// The last header line in a user message is the pending event; every line of what was said stands behind it after
/// `> `, so that nothing said can pass for a header.
///
/// ```text
/// [whisper from "Alice" (player:7), trust 0.70, 2026-11-21T10:15:00Z]
/// > Where is the kettle?
/// ```
///
/// The first word is `whisper`, `page`, `words` (said aloud to the assistant), `say`, `pose`, `emit`, or `channel`
/// with the channel's id; any other is taken for something said aloud. The name is a JSON string or stands bare; the
/// id in parentheses may be absent. The assistant messages and tool results behind it are what was done about it so
/// far. Without such a message there is nothing to do: it calls `noop`.
///
/// # What it does
///
/// One native tool call a step, with ids made from the place in the conversation, and each tool at most once for one
/// event. It uses `say`, `whisper`, `page`, `move`, `inspect_location`, `store_memory`, `recall_memories` and
/// `noop`, each only where it is offered. Of what it recalls, it tells neither questions nor what it said itself. To go to a place it first looks which exit leads there. A whisper is answered by a whisper and
/// a page by a page, never by `say`; without the tool for it the answer is the reply's text. An effect whose outcome is
/// unknown is told as such and not repeated.
///
/// A request without tools whose system message lists some, as a JSON array behind the line `The tools, as JSON:`, is
/// answered in text: a call is the object `{"tool": …, "parameters": {…}, "reasoning": …}` as the whole reply, and its
/// result is a user message that begins with the line `[TOOL RESULT: name]`.
#[derive(Clone, Debug)]
pub struct OfflineModel {
    provider: ProviderId,
    model: ModelName,
}

impl OfflineModel {
    /// The offline model. There is nothing to configure.
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
        let act = turn::next_act(&request.messages, &offer);
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

/// All the reasoning there is.
const REASONING: &str = "The offline model follows fixed rules.";

#[expect(
    clippy::expect_used,
    reason = "a word and a number have no control characters and at most 25 bytes"
)]
fn call_id(place: usize) -> CallId {
    CallId::try_new(format!("call_{place}")).expect("a call id")
}

fn usage(request: &ChatRequest, said: &str) -> Usage {
    let estimate = |text: &str| Estimate::default().count(text).tokens;
    let prompt = request.messages.iter().map(|m| estimate(turn::text_of(m)));
    Usage {
        prompt_tokens: prompt.fold(0, u32::saturating_add),
        completion_tokens: estimate(said),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
