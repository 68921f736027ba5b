//! OpenRouter's chat completions.

use std::collections::BTreeSet;

use dormouse_contracts::{ChatRequest, ModelName, RequestField};
use reqwest::Url;

use super::{Routing, cache};
use crate::{
    openai::{ChatDecoder, Dialect, chat},
    server::{Api, Written},
    stream::Framing,
};

/// OpenRouter's chat completions.
#[derive(Debug)]
pub(super) struct Completions {
    pub(super) url: Url,
    pub(super) routing: Routing,
}

impl Api for Completions {
    type Decoder = ChatDecoder;
    const FRAMING: Framing = Framing::ServerSentEvents;

    fn url(&self) -> &Url {
        &self.url
    }

    fn write(
        &self,
        model: &ModelName,
        request: &ChatRequest,
        without: &BTreeSet<RequestField>,
    ) -> Written {
        let mut body = chat(request, model, Dialect::openrouter(), without);
        if let Some(models) = self.routing.models_json(model) {
            body.set("models", models);
        }
        if let Some(provider) = self.routing.provider_json() {
            body.set("provider", provider);
        }
        body.extra(&request.extra);
        let mut written = body.finish();
        if let Some(messages) = written.body.get_mut("messages") {
            cache::mark(messages, request.stable_messages, model.as_str());
        }
        written
    }

    fn decoder(&self, _: &ChatRequest) -> ChatDecoder {
        ChatDecoder::default()
    }
}
