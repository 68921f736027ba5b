//! A text encoder behind Ollama.

use dormouse_contracts::{Embedding, ModelName};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OllamaConfig;
use crate::{
    ServedBy,
    embedding_server::{EmbeddingApi, EmbeddingServer, delegate_embedder},
    http::{self, Credentials, HttpClient, Network, ServerConfigError},
    vectors::{Dimensions, WrongVectors},
};

/// A text encoder on an Ollama server. It needs Ollama 0.3 or later and calls `POST /api/embed`.
///
/// Batches, text lengths and errors are as in [`OpenAiEmbedder`](crate::OpenAiEmbedder); Ollama truncates texts that
/// are too long for the model. The server decides how long it keeps the model in memory. The error for a missing model
/// is `NotFound`, with the server's own hint. The provider id is `ollama`. Needs a tokio runtime.
#[derive(Debug)]
pub struct OllamaEmbedder {
    server: EmbeddingServer<OllamaEmbeddings>,
}

#[derive(Debug)]
struct OllamaEmbeddings;

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    truncate: bool,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    embeddings: Vec<Embedding>,
    error: Option<Value>,
}

impl OllamaEmbedder {
    /// Creates an embedder from its configuration. Sends nothing; the dimensions are known after the first answer.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is not the address of a web server, or the HTTP client cannot be created.
    pub fn try_new(config: OllamaConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// Creates an embedder that sends its requests through `network`.
    ///
    /// # Errors
    ///
    /// As [`OllamaEmbedder::try_new`].
    pub fn on(network: &Network, config: OllamaConfig) -> Result<Self, ServerConfigError> {
        let base = http::root(&config.base_url)?;
        let server = EmbeddingServer {
            api: OllamaEmbeddings,
            http: HttpClient::try_new(&base, Credentials::bearer(config.api_key), network)?,
            url: http::below(&base, "/api/embed"),
            provider: ServedBy::Ollama.id(),
            model: config.model,
            dimensions: Dimensions::default(),
        };
        Ok(Self { server })
    }
}

impl EmbeddingApi for OllamaEmbeddings {
    type Answer = Answer;

    fn body<'a>(
        &self,
        model: &'a ModelName,
        texts: &'a [&'a str],
    ) -> impl Serialize + Send + Sync + 'a {
        Request {
            model: model.as_str(),
            input: texts,
            truncate: true,
        }
    }

    fn vectors(answer: Answer, _: usize) -> (Option<Value>, Result<Vec<Embedding>, WrongVectors>) {
        (answer.error, Ok(answer.embeddings))
    }
}

delegate_embedder!(OllamaEmbedder);
