//! A chat model behind Anthropic's Messages API.

use std::{collections::BTreeSet, num::NonZeroU32, time::Duration};

use dormouse_contracts::{ChatRequest, ModelName, RequestField};
use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use super::{
    config::AnthropicConfig, decoder::MessageDecoder, generation::Generation, names::ToolNames,
    request,
};
use crate::{
    Secret,
    http::{self, Access, HttpClient, Key, Network, ServerConfigError},
    server::{Api, Server, Written, asks_its_server},
    stream::{Framing, REPLY_LIMIT},
};

/// A model on any server that speaks Anthropic's Messages API: Anthropic's own, llama-server, and gateways.
///
/// Replies are streamed, tools are native, what the model thinks is told apart from what it says. Needs a tokio runtime.
///
/// Sending, waiting, bounds, and what each kind of [`ModelErrorKind`](dormouse_contracts::ModelErrorKind) means are as with
/// [`OpenAiModel`](crate::OpenAiModel), and besides:
///
/// | kind | when |
/// | --- | --- |
/// | `Auth` | `authentication_error`, `permission_error`, `billing_error`; 400 where the credit is used up or a limit of spending is reached |
/// | `RateLimited` | `rate_limit_error` |
/// | `ContextExceeded` | `request_too_large`, `prompt is too long` |
/// | `Refused` | `invalid_request_error` |
/// | `NotFound` | `not_found_error`: no such model |
/// | `Unavailable` | `overloaded_error` (529), `api_error`, also in the middle of a reply |
/// | `TimedOut` | `timeout_error` in the middle of a reply |
///
/// # How a request is told
///
/// This API has rules that the port does not have. Nothing of a conversation makes a request fail:
///
/// - All [`System`](dormouse_contracts::Message::System) messages go, in their order, into `system`, those in the middle too. Neighbours of one role
///   become one message. Empty texts are left out. Where no user begins or ends it, a short remark in brackets does.
/// - Every call gets exactly one result, in the message right behind it; one without gets an error that says so, and a result
///   without a call becomes text. Arguments that are no JSON object stand as text in an object. Ids and names of tools are
///   written in the characters that are allowed, each its own; calls come back with the tools' own names.
/// - Without [`max_tokens`](ChatRequest::max_tokens) the limit is [`AnthropicConfig::output_limit`].
/// - A temperature above 1 is left out, which is as much as 1. With a temperature, `top_p` is left out for Claude; while
///   it thinks, both are.
/// - [`reasoning_effort`](ChatRequest::reasoning_effort): from Claude 4.6 on adaptive thinking with that effort (`minimal` as `low`, without thinking). For others a
///   budget of 1,024 (low), 4,096 (medium) or 16,384 tokens (high), at most half of the reply; left out where a tool is forced, where
///   the reply follows upon tool results, or where half of the reply is less than 1,024.
/// - A schema for the reply goes into `output_config`, with its objects closed to properties that it does not name. One whose objects
///   have properties of free names, and JSON without a schema, cannot be asked for and are left out.
/// - A request without tools whose conversation has calls tells of those tools, but lets none be called.
/// - With [`stable_messages`](ChatRequest::stable_messages) the cache is marked behind the tools, behind the system's stable instructions and behind the last
///   stable message.
#[derive(Debug)]
pub struct AnthropicModel {
    server: Server<Messages>,
}

#[derive(Debug)]
struct Messages {
    url: Url,
    output_limit: u32,
}

impl AnthropicModel {
    /// How long connecting to the server may take, secure channel included.
    pub const CONNECT_TIMEOUT: Duration = HttpClient::CONNECT_TIMEOUT;

    /// The most text of a reply, names and arguments of its calls included, in bytes: 256 KiB. More is `Malformed`.
    pub const REPLY_LIMIT: usize = REPLY_LIMIT;

    /// The longest pause that a server can ask for: one hour. A longer one counts as this.
    pub const LONGEST_PAUSE: Duration = http::LONGEST_PAUSE;

    /// A model from its configuration. Nothing is sent yet.
    ///
    /// A base URL without a version gets `/v1`. A key that would travel unencrypted to another machine is a warning in
    /// the log.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is no address of a web server, or no HTTP client can be made.
    pub fn try_new(config: AnthropicConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// The same by another way than straight to the server.
    ///
    /// # Errors
    ///
    /// As [`AnthropicModel::try_new`].
    pub fn on(network: &Network, config: AnthropicConfig) -> Result<Self, ServerConfigError> {
        let (base, http) = reach(&config.base_url, config.api_key, network)?;
        let known = Generation::of(&config.model).output_limit();
        let api = Messages {
            url: http::below(&base, "/messages"),
            output_limit: config.output_limit.map_or(known, NonZeroU32::get),
        };
        let server = Server::new(api, http, config.provider, config.model);
        Ok(Self { server })
    }
}

/// The URL below which the methods of this API are, and a client that shows the key as it wants to see it.
pub(crate) fn reach(
    base_url: &str,
    api_key: Option<Secret>,
    network: &Network,
) -> Result<(Url, HttpClient), ServerConfigError> {
    let base = http::base(base_url)?;
    let access = Access {
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
        request::write(request, model, self.output_limit, without)
    }

    fn decoder(&self, request: &ChatRequest) -> MessageDecoder {
        MessageDecoder::new(ToolNames::of(&request.tools))
    }
}

asks_its_server!(AnthropicModel);
