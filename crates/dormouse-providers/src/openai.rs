//! Servers with OpenAI's API: chat completions, Responses, embeddings.

#[cfg(feature = "openai")]
mod chat_message;
#[cfg(feature = "openai")]
mod chat_reply;
#[cfg(feature = "openai")]
mod chat_request;
#[cfg(feature = "openai")]
mod embedder;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod responses_reply;
#[cfg(feature = "openai")]
mod responses_request;

use std::num::NonZeroUsize;

use dormouse_contracts::{ModelName, ProviderId};

// Shared with OpenRouter.
#[cfg(feature = "openai")]
pub(crate) use self::{
    chat_reply::ChatDecoder,
    chat_request::{Dialect, WrittenParts, chat},
};
#[cfg(feature = "openai")]
pub use self::{embedder::OpenAiEmbedder, model::OpenAiModel};
use crate::Secret;

/// Configuration of a model on an OpenAI-compatible server. It is validated when the model is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAiConfig {
    /// The provider's id, for errors and events.
    pub provider: ProviderId,
    /// The server, for example `http://127.0.0.1:8080`, with or without a version such as `/v1` at the end.
    pub base_url: String,
    /// The key, if the server needs one.
    pub api_key: Option<Secret>,
    /// The model, as the server names it.
    pub model: ModelName,
}

/// Configuration of a text encoder on an OpenAI-compatible server. It is validated when the embedder is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAiEmbedderConfig {
    /// The server and the model.
    pub server: OpenAiConfig,
    /// The length of the vectors, for models that support several. With `None` no length is sent, and the model's
    /// default applies.
    pub dimensions: Option<NonZeroUsize>,
}

/// Which of OpenAI's two APIs a model uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenAiApi {
    /// Chat completions, unless the model needs Responses. At OpenAI the model's name decides: `gpt-5-codex`, `o3-pro`,
    /// `o4-mini-deep-research` and `computer-use-preview` need Responses. At any server, an error that names
    /// `/v1/responses` switches the model to Responses for good.
    #[default]
    Auto,
    /// Chat completions, `/v1/chat/completions`, which every compatible server supports.
    ChatCompletions,
    /// Responses, `/v1/responses`. The server stores nothing: each request has the whole conversation.
    Responses,
}

/// Models that OpenAI serves only through Responses, as of 2026-11. A name matches if it starts with the first text and
/// contains the second.
#[cfg(feature = "openai")]
const RESPONSES_ONLY: [(&str, &str); 8] = [
    ("o1", "-pro"),
    ("o3", "-pro"),
    ("o3", "-deep-research"),
    ("o4", "-deep-research"),
    ("gpt-5", "-pro"),
    ("gpt-5", "-codex"),
    ("codex-", ""),
    ("computer-use", ""),
];

#[cfg(feature = "openai")]
impl OpenAiApi {
    /// Whether the model with this name at this host uses Responses from the first request.
    fn starts_with_responses(self, host: &str, model: &str) -> bool {
        let is_openai = host == "openai.com" || host.ends_with(".openai.com");
        // A fine-tuned model has the name of its base model after a prefix.
        let name = model.strip_prefix("ft:").unwrap_or(model);
        let needs = |(begin, part): &(&str, &str)| name.starts_with(begin) && name.contains(part);
        match self {
            Self::Auto => is_openai && RESPONSES_ONLY.iter().any(needs),
            Self::ChatCompletions => false,
            Self::Responses => true,
        }
    }
}

#[cfg(all(test, feature = "openai"))]
mod tests {
    use super::*;

    #[test]
    fn only_models_that_need_responses_use_it() {
        let auto = |model| OpenAiApi::Auto.starts_with_responses("api.openai.com", model);
        for model in [
            "gpt-5-codex",
            "gpt-5.1-codex-mini",
            "gpt-5-pro-2025-10-06",
            "o1-pro",
            "o3-pro",
            "o4-mini-deep-research",
            "computer-use-preview",
            "codex-mini-latest",
        ] {
            assert!(auto(model), "{model}");
        }
        for model in [
            "gpt-5",
            "gpt-5-mini",
            "o3",
            "o4-mini",
            "gpt-4.1",
            "my-pro",
            "",
        ] {
            assert!(!auto(model), "{model}");
        }
    }

    #[test]
    fn model_names_do_not_matter_for_other_servers_and_explicit_apis() {
        assert!(!OpenAiApi::Auto.starts_with_responses("127.0.0.1", "gpt-5-codex"));
        assert!(!OpenAiApi::Auto.starts_with_responses("notopenai.com", "gpt-5-codex"));
        assert!(!OpenAiApi::ChatCompletions.starts_with_responses("api.openai.com", "o3-pro"));
        assert!(OpenAiApi::Responses.starts_with_responses("127.0.0.1", "tiny"));
    }
}
