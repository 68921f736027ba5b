//! A text encoder on a server, for every vendor's API.

use dormouse_contracts::{BoxFuture, Embedding, EncoderInfo, ModelError, ModelName, ProviderId};
use reqwest::Url;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    batches::{self, EmbedOnce},
    http::{ErrorBody, Failure, HttpClient},
    vectors::{Dimensions, WrongVectors},
};

/// A vendor's API for embeddings: the format of a request and of its answer.
pub(crate) trait EmbeddingApi: Send + Sync {
    /// A successful answer.
    type Answer: DeserializeOwned + Send;

    /// Returns the body of a request.
    fn body<'a>(
        &self,
        model: &'a ModelName,
        texts: &'a [&'a str],
    ) -> impl Serialize + Send + Sync + 'a;

    /// Returns the error inside a successful answer, and the vectors in the order of the `asked` texts.
    fn vectors(
        answer: Self::Answer,
        asked: usize,
    ) -> (Option<Value>, Result<Vec<Embedding>, WrongVectors>);
}

/// Implements [`Embedder`](dormouse_contracts::Embedder) for encoders that have a field `server`.
macro_rules! delegate_embedder {
    ($embedder:ident) => {
        impl dormouse_contracts::Embedder for $embedder {
            fn info(&self) -> dormouse_contracts::EncoderInfo {
                self.server.info()
            }

            fn embed<'a>(
                &'a self,
                texts: &'a [String],
            ) -> dormouse_contracts::BoxFuture<
                'a,
                Result<Vec<dormouse_contracts::Embedding>, dormouse_contracts::ModelError>,
            > {
                self.server.embed(texts)
            }
        }
    };
}
pub(crate) use delegate_embedder;

/// A text encoder on a server.
#[derive(Debug)]
pub(crate) struct EmbeddingServer<A> {
    pub(crate) api: A,
    pub(crate) http: HttpClient,
    pub(crate) url: Url,
    pub(crate) provider: ProviderId,
    pub(crate) model: ModelName,
    pub(crate) dimensions: Dimensions,
}

impl<A: EmbeddingApi> EmbeddingServer<A> {
    pub(crate) fn info(&self) -> EncoderInfo {
        EncoderInfo {
            model: self.model.clone(),
            dimensions: self.dimensions.known(),
        }
    }

    pub(crate) fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, ModelError>> {
        Box::pin(async move {
            let vectors = batches::in_batches(self, texts).await;
            vectors.map_err(|failure| failure.of(&self.provider))
        })
    }

    async fn request(&self, texts: &[&str]) -> Result<Vec<Embedding>, Failure> {
        let body = self.api.body(&self.model, texts);
        let answer: A::Answer = self.http.post(&self.url, &body).await?;
        let (error, vectors) = A::vectors(answer, texts.len());
        if let Some(error) = error {
            let error_body = ErrorBody::from_json(&json!({ "error": error }), self.http.redact());
            return Err(Failure::BrokenOff(error_body));
        }
        Ok(self.dimensions.check(vectors?, texts.len())?)
    }
}

impl<A: EmbeddingApi> EmbedOnce for EmbeddingServer<A> {
    fn embed_once<'a>(
        &'a self,
        texts: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, Failure>> {
        Box::pin(self.request(texts))
    }
}
