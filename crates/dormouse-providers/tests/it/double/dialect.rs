//! How a vendor speaks.

use dormouse_contracts::{ChatDelta, ChatModel};
use dormouse_providers::{Network, ServerConfigError};
use serde_json::{Value, json};

use super::{
    anthropic::Anthropic,
    chat_completions::{Accent, ChatCompletions},
    ollama::Ollama,
    responses::Responses,
};

/// Every provider that there is.
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

/// How a vendor speaks: where requests go, and how a reply and a complaint are written.
pub(crate) trait Dialect: Sync {
    /// The provider's name, as the table shows it.
    fn name(&self) -> &'static str;

    /// A model at that base URL.
    fn open(&self, network: &Network, url: &str) -> Result<Box<dyn ChatModel>, ServerConfigError>;

    /// Where requests go on a server that is only that.
    fn path(&self) -> &'static str;

    /// The version in it, with which the base URL may end.
    fn version(&self) -> &'static str;

    /// The line of the head in which the key is shown; nothing where there is none.
    fn key_line(&self) -> Option<String>;

    /// The type of a streamed reply.
    fn media_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    /// The header in which the server tells its name for a request.
    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    /// A reply of these pieces. What was counted is told as it is given, and not as it stands among them.
    fn stream(&self, said: &[ChatDelta], counted: &Counted) -> Streamed;

    /// The same reply, not streamed.
    fn whole(&self, text: &str) -> Value;

    /// Lines that say nothing, as they are sent to keep a connection open; of about so many bytes.
    fn nothing(&self, length: usize) -> String {
        format!(": {}\n\n", "-".repeat(length.saturating_sub(4)))
    }

    /// An event that holds this and nothing else.
    fn event(&self, data: &[u8]) -> Vec<u8> {
        [b"data: ", data, b"\n\n"].concat()
    }

    /// An event by which something begins, such as a block or an item, that says nothing yet.
    fn beginning(&self) -> String;

    /// An event that nobody has heard of.
    fn unknown(&self) -> String;

    /// A reply is broken off, since the servers are overloaded.
    fn broken_off(&self, words: &str) -> String;

    /// The body of a complaint with this status, in the vendor's shape and with its code for it.
    fn complaint(&self, status: u16, words: &str) -> Value;

    /// Status and body where the prompt is longer than the context window.
    fn too_long(&self) -> (u16, Value);
}

/// What a server says it counted, sane or not.
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
