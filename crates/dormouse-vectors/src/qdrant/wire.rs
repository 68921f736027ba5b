//! One request after another, no more than the server should bear.

use std::sync::Arc;

use qdrant_client::{Qdrant as Client, QdrantError};
use tokio::{runtime::Handle, sync::Semaphore, time::timeout};

use super::{
    address::QdrantConfigError,
    config::QdrantConfig,
    failure::{Failure, Fault, failure},
};
use dormouse_contracts::VectorErrorKind;

/// The connection, made when it is first needed and again when it broke.
pub(super) struct Wire {
    client: Client,
    turns: Arc<Semaphore>,
    config: QdrantConfig,
}

impl Wire {
    /// Connects to nothing yet.
    pub(super) fn new(config: QdrantConfig) -> Result<Self, QdrantConfigError> {
        let key = config.api_key.as_ref().map(|key| key.expose().to_owned());
        let client = Client::from_url(config.url.as_str())
            .api_key(key)
            .timeout(config.timeout)
            .connect_timeout(config.connect_timeout)
            // It would ask the server at once, and print to the terminal what it thinks of its version.
            .skip_compatibility_check()
            .build()
            .map_err(|_not_shown| QdrantConfigError::Url)?;
        Ok(Self {
            client,
            turns: Arc::new(Semaphore::new(config.requests_at_once.get())),
            config,
        })
    }

    pub(super) fn config(&self) -> &QdrantConfig {
        &self.config
    }

    /// Makes a request when it is its turn. On a broken connection the client makes one more attempt by itself.
    pub(super) async fn ask<'a, T, F>(
        &'a self,
        request: impl FnOnce(&'a Client) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, QdrantError>>,
    {
        // Without a runtime the client panics.
        if Handle::try_current().is_err() {
            return Err(Failure::because(VectorErrorKind::Refused, Fault::NoRuntime));
        }
        let in_turn = async {
            // The semaphore is never closed.
            let _turn = self.turns.acquire().await;
            request(&self.client).await
        };
        match timeout(self.config.timeout, in_turn).await {
            Ok(answer) => answer.map_err(|error| failure(error, self.config.api_key.as_ref())),
            Err(_elapsed) => Err(Failure::because(
                VectorErrorKind::Unavailable,
                Fault::TimedOut,
            )),
        }
    }
}
