//! A text encoder on a server with OpenAI's embeddings API.

use std::num::NonZeroUsize;

use dormouse_contracts::{Embedding, ModelName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OpenAiEmbedderConfig;
use crate::{
    batches,
    embedding_server::{EmbeddingApi, EmbeddingServer, delegate_embedder},
    http::{self, Credentials, HttpClient, Network, ServerConfigError},
    vectors::{Dimensions, WrongVectors},
};

/// A text encoder on any server with OpenAI's embeddings API: OpenAI, llama-server, vLLM, Ollama.
///
/// Sends at most [`OpenAiEmbedder::MOST_TEXTS`] texts and 256 KiB in one request, one request after the other, and at most
/// [`OpenAiEmbedder::LONGEST_TEXT`] bytes of each text. If the server says that this is too long, the request is repeated
/// with half of the texts, and finally with half of a single text; no other request is repeated. An empty text is sent
/// as a space, since servers reject empty ones. Vectors are returned as they are, normalised or not. Needs a tokio
/// runtime.
///
/// Base URL, key and errors are as in [`OpenAiModel`](crate::OpenAiModel). `Malformed` also means an answer that is not
/// JSON or exceeds 64 MiB, a wrong number of vectors, a number that is not finite, or vectors whose
/// length differs from earlier ones.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    server: EmbeddingServer<OpenAiEmbeddings>,
}

#[derive(Debug)]
struct OpenAiEmbeddings {
    dimensions: Option<NonZeroUsize>,
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
    /// Some servers omit it and keep the order.
    index: Option<usize>,
    embedding: Embedding,
}

impl OpenAiEmbedder {
    /// The maximum number of texts in one request.
    pub const MOST_TEXTS: usize = batches::MOST_TEXTS;

    /// The maximum size of a text in a request, in bytes.
    pub const LONGEST_TEXT: usize = batches::LONGEST_TEXT;

    /// Creates an embedder from its configuration. Sends nothing; the dimensions are known after the first answer, unless they
    /// are configured.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is not the address of a web server, or the HTTP client cannot be created.
    pub fn try_new(config: OpenAiEmbedderConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// Creates an embedder that sends its requests through `network`.
    ///
    /// # Errors
    ///
    /// As [`OpenAiEmbedder::try_new`].
    pub fn on(network: &Network, config: OpenAiEmbedderConfig) -> Result<Self, ServerConfigError> {
        let base = http::base(&config.server.base_url)?;
        let server = EmbeddingServer {
            api: OpenAiEmbeddings {
                dimensions: config.dimensions,
            },
            http: HttpClient::try_new(&base, Credentials::bearer(config.server.api_key), network)?,
            url: http::below(&base, "/embeddings"),
            provider: config.server.provider,
            model: config.server.model,
            dimensions: Dimensions::expecting(config.dimensions),
        };
        Ok(Self { server })
    }
}

impl EmbeddingApi for OpenAiEmbeddings {
    type Answer = Answer;

    fn body<'a>(
        &self,
        model: &'a ModelName,
        texts: &'a [&'a str],
    ) -> impl Serialize + Send + Sync + 'a {
        Request {
            model: model.as_str(),
            input: texts,
            encoding_format: "float",
            dimensions: self.dimensions,
        }
    }

    fn vectors(
        answer: Answer,
        asked: usize,
    ) -> (Option<Value>, Result<Vec<Embedding>, WrongVectors>) {
        (answer.error, in_order(answer.data, asked))
    }
}

/// Returns the vectors in the order of their texts.
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

delegate_embedder!(OpenAiEmbedder);
