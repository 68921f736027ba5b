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
    task, turn,
};

/// A chat model without a language model. It is simple and deterministic, and it tells users that it is not a
/// language model.
///
/// With it, everything runs without a key and without a network, and tests have a fast, predictable model. It speaks as the
/// persona of the assistant: under its name, in its manner. It makes small talk, remembers and answers from memory, looks
/// around, waits, goes somewhere, walks along with somebody, promises to remind somebody and keeps the promise, asks another
/// assistant on somebody's behalf, answers the task of another one from its memory, and says why it said something. About
/// itself it says what its persona says.
/// A request that it cannot keep, such as one for every day, it does not promise: it says what it needs to know. To anything else it
/// answers that it did not understand, and lists what it can do. Every answer has at most 600 characters.
///
/// # What it reads
///
/// [`ChatRequest::turn`]: persona, the message to answer, the steps so far, and the latest turns. Outside of a turn,
/// [`ChatRequest::task`]. It does not read the prompt. Without both it calls `noop`, or says that it cannot handle the
/// request.
///
/// # What it does
///
/// It makes one native tool call per step, and calls each tool at most once per event. Call ids are derived from the
/// length of the conversation. It uses `say`, `whisper`, `page`, `channel`, `move`, `inspect_location`, `store_memory`,
/// `recall_memories`, `get_entity_profile`, `add_pending_action`, `complete_pending_action`, `delegate_task`, `answer_task` and `noop`,
/// if they are offered. It quotes neither questions nor its own words from memory. To go to a place, it first looks for the exit.
/// The message decides which of several wordings it uses; it never uses the same one twice in a row.
///
/// It answers a whisper with a whisper, a page with a page, and a message on a channel on that channel, never with
/// `say`. If the right tool is not offered, the answer is the text of the reply. It reports an effect with an unknown
/// outcome, and does not repeat it. It answers another assistant only if it asks a question, and at most three times in
/// a row.
///
/// If the instructions list the tools ([`TurnContext::tools_in_text`](dormouse_contracts::TurnContext)), the whole
/// reply is the call as an object: `{"tool": …, "parameters": {…}, "reasoning": …}`.
///
/// A request with a task is answered in the form that [`Task`](dormouse_contracts::Task) says.
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
        let act = match &request.task {
            Some(task) => Act::Text(task::answer(task)),
            None => turn::next_act(request, &offer),
        };
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
