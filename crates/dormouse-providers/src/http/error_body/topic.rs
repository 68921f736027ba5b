//! Detects what an error body is about.

use super::ErrorBody;

/// Parts of error codes for an invalid key or a missing permission, in lower case.
const KEY_CODES: &[&str] = &[
    "api_key",
    "authentication",
    "permission",
    "unauthorized",
    "unauthenticated",
    "access_denied",
    "account_deactivated",
    // OpenAI, for countries that it does not serve.
    "request_forbidden",
];

/// Starts of messages about an invalid key with status 400.
const WRONG_KEY: &[&str] = &["api key not valid", "incorrect api key", "invalid api key"];

/// Parts of error codes for a prompt that is too long, in lower case.
const LENGTH_CODES: &[&str] = &["context_length_exceeded", "exceed_context_size"];

/// Parts of messages about a prompt that is too long for the model, in lower case. They recognise errors without a
/// code: of OpenAI, vLLM, llama-server, Ollama, LM Studio, Anthropic, Fireworks, xAI, Groq, Gemini, Bedrock, Moonshot,
/// Alibaba, TGI and Cohere. Gateways forward these messages.
const LENGTH_WORDS: &[&str] = &[
    "context window",
    "context length",
    "context size",
    "too large to process",
    "maximum model length",
    "prompt is too long",
    "exceed context limit",
    "maximum prompt length",
    "reduce the length of the messages",
    "input token count",
    "input is too long",
    "exceeded model token limit",
    "range of input length should be",
    "`inputs` tokens",
    "too many tokens",
];

/// Parts of messages about used-up credit or a reached spending limit, in lower case.
const MONEY_WORDS: &[&str] = &[
    "credit balance is too low",
    "reached your specified api usage limits",
    // OpenRouter, about the spending limit of a key.
    "key limit exceeded",
];

impl ErrorBody {
    pub(super) fn is_about_length(&self) -> bool {
        LENGTH_CODES.iter().any(|code| self.has_code(code))
            || self.message_contains(LENGTH_WORDS)
            || self.is_about_long_messages()
    }

    /// Whether the error is about the length of the request, in any unit.
    pub(crate) fn is_too_long(&self) -> bool {
        self.is_about_length() || self.is_about_size()
    }

    /// Whether it is OpenAI's error for a text or a conversation that is too long for all models. The same codes for
    /// other fields are mistakes of the caller.
    fn is_about_long_messages(&self) -> bool {
        let param = self.param.as_deref().unwrap_or_default();
        let is_whole = param == "messages" || param == "input";
        let is_text = param.contains("content") || param.contains(".text");
        (self.has_code("array_above_max_length") && is_whole)
            || (self.has_code("string_above_max_length") && (is_whole || is_text))
    }

    /// Whether a single request exceeds the limit per minute.
    pub(super) fn is_about_size(&self) -> bool {
        self.message
            .get(.."request too large".len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case("request too large"))
    }

    /// Whether the error reports too many requests or tokens.
    pub(super) fn is_about_a_rate(&self) -> bool {
        self.status == Some(429) || self.has_code("rate_limit")
    }

    pub(super) fn is_about_money(&self) -> bool {
        let has_code = self.has_code("insufficient_quota") || self.has_code("billing");
        !self.flagged && (has_code || self.message_contains(MONEY_WORDS))
    }

    pub(super) fn is_about_key(&self) -> bool {
        !self.flagged && KEY_CODES.iter().any(|code| self.has_code(code))
    }

    /// Whether the message starts like one about an invalid key. The rest does not count, because it may quote a user.
    pub(super) fn starts_with_wrong_key(&self) -> bool {
        let message = self.message.to_lowercase();
        !self.flagged && WRONG_KEY.iter().any(|words| message.starts_with(words))
    }

    /// Whether any of the error's codes contains `code`.
    pub(super) fn has_code(&self, code: &str) -> bool {
        let mut codes = self.codes.iter();
        codes.any(|said| said.to_ascii_lowercase().contains(code))
    }

    fn message_contains(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|words| message.contains(words))
    }
}
