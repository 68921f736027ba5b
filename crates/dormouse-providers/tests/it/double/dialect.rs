//! A vendor's API.

use dormouse_contracts::{ChatDelta, ChatModel};
use dormouse_providers::{Network, ServerConfigError};
use serde_json::{Value, json};

use super::{
    anthropic::Anthropic,
    chat_completions::{Accent, ChatCompletions},
    ollama::Ollama,
    responses::Responses,
};

/// All providers.
pub(crate) fn dialects() -> Vec<&'static dyn Dialect> {
    vec![
        &ChatCompletions(Accent::OpenAi),
        &Responses,
        &Anthropic,
        &ChatCompletions(Accent::OpenRouter),
        &Ollama,
        &ChatCompletions(Accent::LlamaServer),
    ]
}

/// A vendor's API: the address of requests, and the format of replies and error bodies.
pub(crate) trait Dialect: Sync {
    /// The provider's name, as the table shows it.
    fn name(&self) -> &'static str;

    /// A model at that base URL.
    fn open(&self, network: &Network, url: &str) -> Result<Box<dyn ChatModel>, ServerConfigError>;

    /// The path of requests.
    fn path(&self) -> &'static str;

    /// The version in the path, with which the base URL may end.
    fn version(&self) -> &'static str;

    /// The header with the key, if there is one.
    fn key_line(&self) -> Option<String>;

    /// The type of a streamed reply.
    fn media_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    /// The header with the request id.
    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    /// A reply of these pieces, with these counts instead of those among the pieces.
    fn stream(&self, said: &[ChatDelta], counted: &Counted) -> Streamed;

    /// The same reply, not streamed.
    fn whole(&self, text: &str) -> Value;

    /// Keep-alive lines of about this many bytes.
    fn nothing(&self, length: usize) -> String {
        format!(": {}\n\n", "-".repeat(length.saturating_sub(4)))
    }

    /// An event with only this.
    fn event(&self, data: &[u8]) -> Vec<u8> {
        [b"data: ", data, b"\n\n"].concat()
    }

    /// The start event of an empty block or item.
    fn beginning(&self) -> String;

    /// An unknown event.
    fn unknown(&self) -> String;

    /// An error during a reply: the servers are overloaded.
    fn broken_off(&self, words: &str) -> String;

    /// The error body for this status, in the vendor's format and with its code.
    fn error_body(&self, status: u16, words: &str) -> Value;

    /// Status and error body for a prompt that is too long.
    fn too_long(&self) -> (u16, Value);
}

/// The reported counts, plausible or not.
#[derive(Clone, Debug)]
pub(crate) enum Counted {
    /// Nothing.
    Nothing,
    /// Tokens of the prompt and of the reply.
    Tokens(Value, Value),
}

impl Counted {
    pub(crate) fn tokens(prompt: u32, reply: u32) -> Self {
        Self::Tokens(json!(prompt), json!(reply))
    }
}

/// A reply on the wire, so that it can be cut, repeated and garbled.
#[derive(Clone, Debug)]
pub(crate) struct Streamed {
    /// Everything before the model has stopped.
    pub(crate) begun: String,
    /// It has stopped.
    pub(crate) finish: String,
    /// What follows.
    pub(crate) end: String,
}

impl Streamed {
    pub(crate) fn all(&self) -> String {
        format!("{}{}{}", self.begun, self.finish, self.end)
    }
}
