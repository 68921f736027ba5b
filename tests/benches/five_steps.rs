//! A model that costs nothing and takes five steps.

use dormouse_contracts::{
    BoxStream, CallId, ChatDelta, ChatModel, ChatRequest, FinishReason, Message, ModelError,
    ModelName, ProviderId, Usage,
};
use futures_util::stream;

pub(crate) const STEPS: u64 = 5;

/// Looks around four times, then speaks.
pub(crate) struct FiveSteps {
    provider: ProviderId,
    model: ModelName,
}

impl FiveSteps {
    pub(crate) fn new() -> Self {
        Self {
            provider: ProviderId::try_new("none").unwrap(),
            model: ModelName::try_new("five-steps").unwrap(),
        }
    }
}

impl ChatModel for FiveSteps {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let lately = request.messages.iter().rev();
        let lately = lately.take_while(|message| !matches!(message, Message::User { .. }));
        let results = lately
            .filter(|message| matches!(message, Message::Tool { .. }))
            .count();
        let (name, fragment) = if (results as u64) < STEPS - 1 {
            ("inspect_location", "{}")
        } else {
            ("say", r#"{"message":"The room is as it was."}"#)
        };
        let deltas = [
            ChatDelta::CallStart {
                index: 0,
                id: CallId::try_new(format!("call_{}", request.messages.len())).unwrap(),
                name: name.to_owned(),
            },
            ChatDelta::CallArguments {
                index: 0,
                fragment: fragment.to_owned(),
            },
            ChatDelta::Finished(FinishReason::ToolCalls),
            ChatDelta::Usage(Usage {
                prompt_tokens: 100,
                completion_tokens: 10,
                ..Usage::default()
            }),
        ];
        Box::pin(stream::iter(deltas.map(Ok)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}
