//! A text encoder behind Ollama.

use dormouse_contracts::{
    BoxFuture, Embedder, Embedding, EncoderInfo, ModelError, ModelName, ProviderId,
};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::OllamaConfig;
use crate::{
    ServedBy,
    batches::{self, EmbedOnce},
    http::{self, Access, Complaint, Failure, HttpClient, Network, ServerConfigError},
    vectors::Dimensions,
};

/// A text encoder that Ollama serves, asked through `POST /api/embed`, of version 0.3 or later.
///
/// How texts are put into requests, what is sent of each and what is no answer is as in
/// [`OpenAiEmbedder`](crate::OpenAiEmbedder); Ollama itself cuts what is longer than the model reads. How long the
/// server keeps the model in memory is left to the server. A model that is not there is `Refused`, with the server's own
/// words about pulling it. Its provider is called `ollama`. Needs a tokio runtime.
#[derive(Debug)]
pub struct OllamaEmbedder {
    http: HttpClient,
    url: Url,
    provider: ProviderId,
    model: ModelName,
    dimensions: Dimensions,
}

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
    /// An embedder from its configuration. Nothing is sent yet; the dimensions are known from the first answer on.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is no address of a web server, or no HTTP client can be made.
    pub fn try_new(config: OllamaConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// The same by another way than straight to the server.
    ///
    /// # Errors
    ///
    /// As [`OllamaEmbedder::try_new`].
    pub fn on(network: &Network, config: OllamaConfig) -> Result<Self, ServerConfigError> {
        let base = http::root(&config.base_url)?;
        Ok(Self {
            http: HttpClient::try_new(&base, Access::bearer(config.api_key), network)?,
            url: http::below(&base, "/api/embed"),
            provider: ServedBy::Ollama.id(),
            model: config.model,
            dimensions: Dimensions::default(),
        })
    }

    async fn request(&self, texts: &[&str]) -> Result<Vec<Embedding>, Failure> {
        let request = Request {
            model: self.model.as_str(),
            input: texts,
            truncate: true,
        };
        let answer: Answer = self.http.post(&self.url, &request).await?;
        if let Some(error) = answer.error {
            let said = json!({ "error": error });
            let complaint = Complaint::from_json(&said, self.http.redact());
            return Err(Failure::BrokenOff(complaint));
        }
        Ok(self.dimensions.check(answer.embeddings, texts.len())?)
    }
}

impl EmbedOnce for OllamaEmbedder {
    fn embed_once<'a>(
        &'a self,
        texts: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, Failure>> {
        Box::pin(self.request(texts))
    }
}

impl Embedder for OllamaEmbedder {
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
