//! A chat request in OpenRouter's format: chat completions, with routing, cache marks and headers.

use dormouse_contracts::{ChatRequest, ModelName};
use dormouse_text::{beginning_bytes, one_line};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, REFERER};
use serde_json::{Map, Value, json};

use super::{DataCollection, DataRetention, Fallbacks, OpenRouterConfig, Routing};
use crate::{
    openai::{ChatDecoder, Dialect, WrittenParts, chat},
    server::{Api, WireRequest, WireRequestBuilder},
};

/// Chat completions at OpenRouter.
#[derive(Debug)]
pub(super) struct Completions {
    routing: Routing,
    parts: WrittenParts,
}

impl Completions {
    pub(super) fn routed(routing: Routing) -> Self {
        let parts = WrittenParts::default();
        Self { routing, parts }
    }
}

impl Api for Completions {
    type Decoder = ChatDecoder;

    fn write(&self, request: &ChatRequest, body: WireRequestBuilder<'_>) -> WireRequest {
        let model = body.model();
        let mut body = chat(request, Dialect::openrouter(), &self.parts, body);
        if let Some(models) = self.routing.models_json(model) {
            body.set("models", models);
        }
        if let Some(provider) = self.routing.provider_json() {
            body.set("provider", provider);
        }
        body.extra(&request.extra);
        let mut written = body.finish();
        mark(&mut written, request.stable_messages, model.as_str());
        written
    }

    fn decoder(&self, _: &ChatRequest) -> ChatDecoder {
        ChatDecoder::default()
    }
}

impl Routing {
    /// Returns the list of models, the requested one first; `None` if it is the only one.
    fn models_json(&self, first: &ModelName) -> Option<Value> {
        let names = self.models.iter().filter(|name| *name != first);
        let names: Vec<&str> = std::iter::once(first)
            .chain(names)
            .map(ModelName::as_str)
            .collect();
        (names.len() > 1).then(|| names.into())
    }

    /// Returns the provider preferences; `None` if all are defaults.
    fn provider_json(&self) -> Option<Value> {
        let mut json = Map::new();
        let mut set = |name: &str, value: Value| {
            json.insert(name.to_owned(), value);
        };
        if !self.order.is_empty() {
            set("order", self.order.clone().into());
        }
        if self.fallbacks == Fallbacks::Refused {
            set("allow_fallbacks", false.into());
        }
        match self.data_collection {
            DataCollection::AsAccount => {}
            DataCollection::Allowed => set("data_collection", "allow".into()),
            DataCollection::Denied => set("data_collection", "deny".into()),
        }
        if self.retention == DataRetention::None {
            set("zdr", true.into());
        }
        let prices = [
            ("prompt", self.max_price.prompt),
            ("completion", self.max_price.completion),
        ];
        let prices = prices
            .into_iter()
            .filter_map(|(name, price)| Some((name.to_owned(), price?.dollars().into())));
        let prices: Map<_, _> = prices.collect();
        if !prices.is_empty() {
            set("max_price", prices.into());
        }
        (!json.is_empty()).then(|| json.into())
    }
}

/// Models that cache only marked prompts. Other models cache automatically and ignore the marks.
const ON_DEMAND: [&str; 4] = [
    "anthropic/",
    "google/gemini",
    "~anthropic/",
    "~google/gemini",
];

/// Marks the last message with text among the first `stable` ones, if the model needs it. The provider caches everything up to
/// the mark.
fn mark(written: &mut WireRequest, stable: usize, model: &str) {
    if !ON_DEMAND.iter().any(|begin| model.starts_with(begin)) {
        return;
    }
    let messages = written.messages_mut().and_then(Value::as_array_mut);
    let stable = messages.into_iter().flatten().take(stable);
    // A message with only tool calls has no content to mark.
    let texts = stable.filter_map(text);
    if let Some(content) = texts.last() {
        let text = content.take();
        *content = json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    }
}

fn text(message: &mut Value) -> Option<&mut Value> {
    let content = message.get_mut("content")?;
    content
        .as_str()
        .is_some_and(|text| !text.is_empty())
        .then_some(content)
}

/// The longest header value, in bytes.
const LONGEST: usize = 256;

/// Returns the headers that name the application.
pub(super) fn headers(config: &OpenRouterConfig) -> HeaderMap {
    let named = [
        (HeaderName::from_static("x-title"), &config.app_name),
        (REFERER, &config.site_url),
        (HeaderName::from_static("http-referer"), &config.site_url),
    ];
    let values = named
        .into_iter()
        .filter_map(|(name, text)| Some((name, value(text)?)));
    values.collect()
}

/// Returns the text as a header value; `None` if it is empty.
fn value(text: &str) -> Option<HeaderValue> {
    let line = one_line(text);
    let text = beginning_bytes(&line, LONGEST);
    HeaderValue::from_bytes(text.as_bytes())
        .ok()
        .filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests;
