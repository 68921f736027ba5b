//! Sends requests, with a limit on concurrent ones, to a node that answers.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::VectorErrorKind;
use tokio::{runtime::Handle, sync::Semaphore, time::timeout};
use tonic::{
    Code, Response, Status,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint},
};

use super::{
    address::{QdrantConfigError, QdrantUrl},
    client::{Client, Key},
    config::QdrantConfig,
    failure::{Failure, Fault, failure},
};

/// On a broken connection a single node is tried once more.
const FEWEST_ATTEMPTS: usize = 2;

/// The connections. Each is made when it is first needed, and again after it broke.
pub(super) struct Wire {
    /// One for each address.
    nodes: Vec<Node>,
    /// The node that is asked next: the one that answered last.
    current: AtomicUsize,
    key: Key,
    turns: Arc<Semaphore>,
    config: QdrantConfig,
}

struct Node {
    endpoint: Endpoint,
    channel: Mutex<Option<Channel>>,
}

impl Node {
    fn new(url: &QdrantUrl, config: &QdrantConfig) -> Result<Self, QdrantConfigError> {
        let endpoint = Endpoint::from_shared(url.as_str().to_owned());
        let endpoint = endpoint.map_err(|_not_shown| QdrantConfigError::Url)?;
        let mut endpoint = endpoint.connect_timeout(config.connect_timeout);
        if url.is_encrypted() {
            let tls = match &config.authority {
                Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
                None => ClientTlsConfig::new().with_native_roots(),
            };
            let secured = endpoint.tls_config(tls);
            endpoint = secured.map_err(|_not_shown| QdrantConfigError::Authority)?;
        }
        Ok(Self {
            endpoint,
            channel: Mutex::default(),
        })
    }

    /// Must be called within a runtime.
    fn channel(&self) -> Channel {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let open = channel.get_or_insert_with(|| self.endpoint.connect_lazy());
        open.clone()
    }

    /// Makes the next request open a new connection, because the present one may hang.
    fn disconnect(&self) {
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        *channel = None;
    }
}

/// One request to one node. If it gets no answer, or is dropped before that, the next request goes to the next node.
struct Attempt<'a> {
    wire: &'a Wire,
    at: usize,
    is_answered: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        if let Some(node) = self.wire.nodes.get(self.at) {
            node.disconnect();
        }
        let next = (self.at + 1) % self.wire.nodes.len().max(1);
        // The switch is made only if no other attempt has already switched to the next node.
        let current = &self.wire.current;
        current
            .compare_exchange(self.at, next, Ordering::Relaxed, Ordering::Relaxed)
            .ok();
    }
}

impl Wire {
    /// Opens no connection yet.
    pub(super) fn new(config: QdrantConfig) -> Result<Self, QdrantConfigError> {
        let urls = std::iter::once(&config.url).chain(&config.more_urls);
        let nodes = urls
            .map(|url| Node::new(url, &config))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            nodes,
            current: AtomicUsize::new(0),
            key: Key::new(config.api_key.as_ref())?,
            turns: Arc::new(Semaphore::new(config.requests_at_once.get())),
            config,
        })
    }

    pub(super) fn config(&self) -> &QdrantConfig {
        &self.config
    }

    /// Sends a request when it is its turn. On a broken connection every node is tried, and a single node twice.
    pub(super) async fn ask<T, F>(&self, request: impl Fn(Client) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        self.ask_within(self.config.timeout, request).await
    }

    /// Sends a request that makes or removes a collection or an index. A cluster needs more time for it than for other
    /// requests.
    pub(super) async fn ask_to_make<T, F>(
        &self,
        request: impl Fn(Client) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        self.ask_within(self.config.make_timeout, request).await
    }

    async fn ask_within<T, F>(
        &self,
        limit: Duration,
        request: impl Fn(Client) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        // Without a runtime there can be no connection.
        if Handle::try_current().is_err() {
            return Err(Failure::because(VectorErrorKind::Refused, Fault::NoRuntime));
        }
        let in_turn = async {
            // The semaphore is never closed.
            let _turn = self.turns.acquire().await;
            self.attempt(request).await
        };
        match timeout(limit, in_turn).await {
            Ok(answer) => answer.map_err(|status| failure(&status, self.config.api_key.as_ref())),
            Err(_elapsed) => Err(Failure::because(
                VectorErrorKind::Unavailable,
                Fault::TimedOut,
            )),
        }
    }

    async fn attempt<T, F>(&self, request: impl Fn(Client) -> F) -> Result<T, Status>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let mut attempts = self.nodes.len().max(FEWEST_ATTEMPTS);
        loop {
            let at = self.current.load(Ordering::Relaxed);
            let Some(node) = self.nodes.get(at) else {
                return Err(Status::internal("there is no node"));
            };
            let mut attempt = Attempt {
                wire: self,
                at,
                is_answered: false,
            };
            let answer = request(Client::new(node.channel(), self.key.clone())).await;
            attempts -= 1;
            match answer {
                Err(status) if is_broken(&status) => {
                    if attempts == 0 {
                        return Err(status);
                    }
                }
                answer => {
                    attempt.is_answered = true;
                    return answer.map(Response::into_inner);
                }
            }
        }
    }
}

/// Whether the failure may be one of the connection, so that a new connection may succeed.
fn is_broken(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Internal | Code::Unavailable | Code::Cancelled | Code::Unknown
    )
}
