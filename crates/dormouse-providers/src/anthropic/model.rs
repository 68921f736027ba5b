//! A chat model behind Anthropic's Messages API.

use std::{num::NonZeroU32, time::Duration};

use dormouse_contracts::ChatRequest;
use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use super::{
    AnthropicConfig, conversation::ToolNames, generation::Generation, reply::MessageDecoder,
    request,
};
use crate::{
    Secret,
    http::{self, Credentials, HttpClient, Key, Network, ServerConfigError},
    server::{Api, Server, WireRequest, WireRequestBuilder, delegate_chat_model},
    stream::REPLY_LIMIT,
};

/// A model on any server with Anthropic's Messages API: Anthropic's own, llama-server, and gateways.
///
/// Replies are streamed, tools are native, and thoughts are separate from text. Needs a tokio runtime.
///
/// Sending, timeouts, bounds and the kinds of [`ModelErrorKind`](dormouse_contracts::ModelErrorKind) are as with
/// [`OpenAiModel`](crate::OpenAiModel). In addition:
///
/// | kind | when |
/// | --- | --- |
/// | `Auth` | `authentication_error`, `permission_error`, `billing_error`; 400 for used-up credit or a reached spending limit |
/// | `RateLimited` | `rate_limit_error` |
/// | `ContextExceeded` | `request_too_large`, `prompt is too long` |
/// | `Refused` | `invalid_request_error` |
/// | `NotFound` | `not_found_error`: the model does not exist |
/// | `Unavailable` | `overloaded_error` (529), `api_error`, also during a reply |
/// | `TimedOut` | `timeout_error` during a reply |
///
/// # How a request is converted
///
/// This API is stricter than the port. Every conversation becomes a valid request:
///
/// - All [`System`](dormouse_contracts::Message::System) messages go into `system`, in order. Consecutive messages of one
///   role become one message. Empty texts are dropped. A short remark in brackets is inserted if the conversation does
///   not start and end with a user.
/// - Every call gets exactly one result, in the next message: an inserted error if there was none. A result without a
///   call becomes text. Arguments that are not a JSON object are wrapped in one. Call ids and tool names are rewritten
///   with the accepted characters and stay unique; calls in the reply have the tools' own names.
/// - Without [`max_tokens`](ChatRequest::max_tokens) the limit is [`AnthropicConfig::output_limit`].
/// - A temperature above 1 is left out, which has the effect of 1. For Claude, `top_p` is left out if there is a
///   temperature; with thinking, both are left out.
/// - [`reasoning_effort`](ChatRequest::reasoning_effort): Claude 4.6 and later use adaptive thinking with that effort
///   (`minimal` is sent as `low`, without thinking). Other models get a budget of 1,024 (low), 4,096 (medium) or 16,384
///   tokens (high), at most half of the reply's limit. No budget is sent if a tool is forced, if the reply follows tool
///   results, or if half of the reply's limit is less than 1,024.
/// - A schema for the reply goes into `output_config`, with all objects closed. A schema with free property names, and
///   JSON without a schema, are not supported and left out.
/// - If a request has no tools but its conversation has calls, placeholder tools are sent that cannot be called.
/// - [`stable_messages`](ChatRequest::stable_messages) sets cache marks after the tools, after the stable system
///   instructions and after the last stable message.
#[derive(Debug)]
pub struct AnthropicModel {
    server: Server<Messages>,
}

#[derive(Debug)]
struct Messages {
    output_limit: u32,
}

impl AnthropicModel {
    /// Time limit for connecting to the server, including TLS.
    pub const CONNECT_TIMEOUT: Duration = HttpClient::CONNECT_TIMEOUT;

    /// The maximum size of a reply in bytes, including names and arguments of calls: 256 KiB. More is `Malformed`.
    pub const REPLY_LIMIT: usize = REPLY_LIMIT;

    /// The longest pause that is accepted from a server: one hour. Longer ones are shortened to it.
    pub const LONGEST_PAUSE: Duration = http::LONGEST_PAUSE;

    /// Creates a model from its configuration. Sends nothing.
    ///
    /// `/v1` is added to a base URL without a version. Logs a warning if the key would travel unencrypted to another
    /// machine.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is not the address of a web server, or the HTTP client cannot be created.
    pub fn try_new(config: AnthropicConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// Creates a model that sends its requests through `network`.
    ///
    /// # Errors
    ///
    /// As [`AnthropicModel::try_new`].
    pub fn on(network: &Network, config: AnthropicConfig) -> Result<Self, ServerConfigError> {
        let (base, http) = reach(&config.base_url, config.api_key, network)?;
        let known = Generation::of(&config.model).output_limit();
        let api = Messages {
            output_limit: config.output_limit.map_or(known, NonZeroU32::get),
        };
        let url = http::below(&base, "/messages");
        let server = Server::new(api, url, http, config.provider, config.model);
        Ok(Self { server })
    }
}

/// Returns the base URL of the API's methods, and a client that sends the key in Anthropic's header.
pub(crate) fn reach(
    base_url: &str,
    api_key: Option<Secret>,
    network: &Network,
) -> Result<(Url, HttpClient), ServerConfigError> {
    let base = http::base(base_url)?;
    let access = Credentials {
        key: api_key.map(|secret| Key {
            secret,
            header: HeaderName::from_static("x-api-key"),
        }),
        headers: HeaderMap::from_iter([(
            HeaderName::from_static("anthropic-version"),
            HeaderValue::from_static("2023-06-01"),
        )]),
    };
    let http = HttpClient::try_new(&base, access, network)?;
    Ok((base, http))
}

impl Api for Messages {
    type Decoder = MessageDecoder;

    fn write(&self, request: &ChatRequest, body: WireRequestBuilder<'_>) -> WireRequest {
        request::write(request, self.output_limit, body)
    }

    fn decoder(&self, request: &ChatRequest) -> MessageDecoder {
        MessageDecoder::new(ToolNames::of(&request.tools))
    }
}

delegate_chat_model!(AnthropicModel);
