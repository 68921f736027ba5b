//! A text encoder behind OpenAI's embeddings.

use std::num::NonZeroUsize;

use dormouse_contracts::{
    BoxFuture, Embedder, Embedding, EncoderInfo, ModelError, ModelName, ProviderId,
};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::OpenAiEmbedderConfig;
use crate::{
    batches::{self, EmbedOnce},
    http::{self, Access, Complaint, Failure, HttpClient, Network, ServerConfigError},
    vectors::{Dimensions, WrongVectors},
};

/// A text encoder on any server that speaks OpenAI's embeddings: OpenAI, llama-server, vLLM, Ollama.
///
/// Sends at most [`OpenAiEmbedder::MOST_TEXTS`] texts and 256 KiB with one request, one request after the other, and of
/// each text the first [`OpenAiEmbedder::LONGEST_TEXT`] bytes. Where the server says that this is too long, the request is made again with
/// half of the texts, and in the end with half of the text; no other request is sent twice. An empty text is
/// sent as a space, since servers refuse it. Vectors are passed on as they come, normalised or not. Needs a tokio runtime.
///
/// Everything else is as [`OpenAiModel`](crate::OpenAiModel) does it: the base URL, the key, and what each
/// kind of error means. `Malformed` is also an answer of up to 64 MiB that is no JSON, with a wrong number of
/// vectors, with a number that is not finite, or with vectors of another length than before.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    http: HttpClient,
    url: Url,
    provider: ProviderId,
    model: ModelName,
    asked: Option<NonZeroUsize>,
    dimensions: Dimensions,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<NonZeroUsize>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    data: Vec<Item>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Item {
    /// Left out by some, who then keep the order.
    index: Option<usize>,
    embedding: Embedding,
}

impl OpenAiEmbedder {
    /// The most texts that are sent with one request.
    pub const MOST_TEXTS: usize = batches::MOST_TEXTS;

    /// What is sent of a text at most, in bytes.
    pub const LONGEST_TEXT: usize = batches::LONGEST_TEXT;

    /// An embedder from its configuration. Nothing is sent yet; the dimensions are known from the first answer on, unless
    /// they are asked for.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is no address of a web server, or no HTTP client can be made.
    pub fn try_new(config: OpenAiEmbedderConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// The same by another way than straight to the server.
    ///
    /// # Errors
    ///
    /// As [`OpenAiEmbedder::try_new`].
    pub fn on(network: &Network, config: OpenAiEmbedderConfig) -> Result<Self, ServerConfigError> {
        let base = http::base(&config.server.base_url)?;
        Ok(Self {
            http: HttpClient::try_new(&base, Access::bearer(config.server.api_key), network)?,
            url: http::below(&base, "/embeddings"),
            provider: config.server.provider,
            model: config.server.model,
            asked: config.dimensions,
            dimensions: Dimensions::expecting(config.dimensions),
        })
    }

    async fn request(&self, texts: &[&str]) -> Result<Vec<Embedding>, Failure> {
        let request = Request {
            model: self.model.as_str(),
            input: texts,
            encoding_format: "float",
            dimensions: self.asked,
        };
        let answer: Answer = self.http.post(&self.url, &request).await?;
        if let Some(error) = answer.error {
            let said = json!({ "error": error });
            let complaint = Complaint::from_json(&said, self.http.redact());
            return Err(Failure::BrokenOff(complaint));
        }
        let asked = texts.len();
        let vectors = in_order(answer.data, asked)?;
        Ok(self.dimensions.check(vectors, asked)?)
    }
}

/// The vectors in the order of their texts.
fn in_order(items: Vec<Item>, asked: usize) -> Result<Vec<Embedding>, WrongVectors> {
    let answered = items.len();
    if answered != asked {
        return Err(WrongVectors::Count { asked, answered });
    }
    if items.iter().all(|item| item.index.is_none()) {
        return Ok(items.into_iter().map(|item| item.embedding).collect());
    }
    let mut items = items;
    items.sort_by_key(|item| item.index);
    let numbered = items.iter().enumerate();
    if numbered.into_iter().any(|(n, item)| item.index != Some(n)) {
        return Err(WrongVectors::Numbering);
    }
    Ok(items.into_iter().map(|item| item.embedding).collect())
}

impl EmbedOnce for OpenAiEmbedder {
    fn embed_once<'a>(
        &'a self,
        texts: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, Failure>> {
        Box::pin(self.request(texts))
    }
}

impl Embedder for OpenAiEmbedder {
    fn info(&self) -> EncoderInfo {
        EncoderInfo {
            model: self.model.clone(),
            dimensions: self.dimensions.known(),
        }
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, ModelError>> {
        Box::pin(async move {
            let vectors = batches::in_batches(self, texts).await;
            vectors.map_err(|failure| failure.of(&self.provider))
        })
    }
}
