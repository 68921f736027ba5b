//! What a complaint is about, in the words of those who complain.

use super::Complaint;

/// What servers call a key that is wrong, or that may not do this: parts of a code, in lower case.
const KEY_CODES: &[&str] = &[
    "api_key",
    "authentication",
    "permission",
    "unauthorized",
    "unauthenticated",
    "access_denied",
    "account_deactivated",
    // OpenAI's, where it does not serve a country.
    "request_forbidden",
];

/// How it begins where a key that is none is answered with 400.
const WRONG_KEY: &[&str] = &["api key not valid", "incorrect api key", "invalid api key"];

/// Parts of a code for a prompt that is too long, in lower case.
const LENGTH_CODES: &[&str] = &["context_length_exceeded", "exceed_context_size"];

/// How servers say that a prompt, or prompt and reply together, are longer than their model can do, where they have no code for it:
/// in lower case. They are OpenAI's and vLLM's, llama-server's, Ollama's and LM Studio's, Anthropic's and Fireworks', xAI's, Groq's,
/// Gemini's, Bedrock's, Moonshot's, Alibaba's, TGI's and Cohere's; gateways pass them on.
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

/// How servers say that there is no money, or that a limit of spending is reached: in lower case.
const MONEY_WORDS: &[&str] = &[
    "credit balance is too low",
    "reached your specified api usage limits",
    // OpenRouter's, of what a single key may spend.
    "key limit exceeded",
];

impl Complaint {
    pub(super) fn is_about_length(&self) -> bool {
        LENGTH_CODES.iter().any(|code| self.says(code))
            || self.tells(LENGTH_WORDS)
            || self.is_about_long_messages()
    }

    /// Is it about the length of what was sent, by whatever measure?
    pub(crate) fn asks_for_less(&self) -> bool {
        self.is_about_length() || self.is_about_size()
    }

    /// OpenAI's, for a text or a conversation that no model of its takes, however large its window. Another text that is too long is
    /// somebody's mistake.
    fn is_about_long_messages(&self) -> bool {
        let param = self.param.as_deref().unwrap_or_default();
        let is_whole = param == "messages" || param == "input";
        let is_text = param.contains("content") || param.contains(".text");
        (self.says("array_above_max_length") && is_whole)
            || (self.says("string_above_max_length") && (is_whole || is_text))
    }

    /// Is a single request more than may be asked in a minute?
    pub(super) fn is_about_size(&self) -> bool {
        self.message
            .get(.."request too large".len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case("request too large"))
    }

    /// Were there too many requests or tokens of late?
    pub(super) fn is_about_a_rate(&self) -> bool {
        self.status == Some(429) || self.says("rate_limit")
    }

    pub(super) fn is_about_money(&self) -> bool {
        let has_code = self.says("insufficient_quota") || self.says("billing");
        !self.flagged && (has_code || self.tells(MONEY_WORDS))
    }

    pub(super) fn is_about_key(&self) -> bool {
        !self.flagged && KEY_CODES.iter().any(|code| self.says(code))
    }

    /// Only what it begins with counts: further behind may stand what a user said.
    pub(super) fn begins_with_a_wrong_key(&self) -> bool {
        let message = self.message.to_lowercase();
        !self.flagged && WRONG_KEY.iter().any(|words| message.starts_with(words))
    }

    /// Is this part of a code?
    pub(super) fn says(&self, code: &str) -> bool {
        let mut codes = self.codes.iter();
        codes.any(|said| said.to_ascii_lowercase().contains(code))
    }

    fn tells(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|words| message.contains(words))
    }
}
