//! The server: where it listens, and how it ends.

use std::{
    collections::BTreeSet,
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use dormouse_contracts::Clock;
use dormouse_host::{FolderWorld, Host, config::ServerSection};
use dormouse_resilience::{RateLimit, RateLimitError};
use tokio::{
    net::TcpListener,
    select,
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    api,
    connection::{Patience, attend},
    guard::name_of,
    pages,
    service::{RequestLimits, Service, Shared, lock},
    tokens::{TokenStore, TokenStoreError},
};

/// How long the shutdown waits for requests under way.
const END: Duration = Duration::from_secs(5);

/// The pause after the system could not accept a connection, for example because it has no free file descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// What a server is made of.
#[derive(Clone)]
pub struct ServerSettings {
    /// Where it listens.
    pub address: SocketAddr,
    /// Further names under which it may be called.
    pub hosts: BTreeSet<String>,
    /// The bounds of requests.
    pub section: ServerSection,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSettings")
            .field("address", &self.address)
            .field("hosts", &self.hosts)
            .field("section", &self.section)
            .finish_non_exhaustive()
    }
}

/// The service cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Other machines could send requests, but no token exists, so none of them could be allowed.
    #[error(
        "{0} can be reached from other machines, and there is no token yet: make one with `dormouse token create`, or listen on 127.0.0.1"
    )]
    NoToken(SocketAddr),
    /// The tokens cannot be read.
    #[error(transparent)]
    Tokens(#[from] TokenStoreError),
    /// The address is in use, or does not belong to this machine.
    #[error("the service cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system has no random numbers.
    #[error("the operating system gives no random numbers")]
    Random(#[source] io::Error),
    /// The answers that are kept under idempotency keys cannot be read.
    #[error(
        "replies.jsonl in the data folder cannot be used: mend its access rights, or remove it (then earlier idempotency keys are forgotten)"
    )]
    Replies(#[source] io::Error),
    /// A limit contradicts another one.
    #[error("server.burst does not fit server.requests_per_minute: {0}")]
    Rate(#[from] RateLimitError),
}

/// A service that listens. It answers while [`Server::run`] runs.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    service: Shared,
    patience: Patience,
    connections: usize,
    ending: watch::Sender<bool>,
}

impl Server {
    /// Starts to listen. Requests wait until [`Server::run`] is called.
    ///
    /// # Errors
    ///
    /// [`ServerError`]; nothing was changed.
    pub async fn open(
        host: &Host<FolderWorld>,
        settings: ServerSettings,
    ) -> Result<Self, ServerError> {
        let ServerSettings {
            address,
            mut hosts,
            section,
            clock,
        } = settings;
        let tokens = TokenStore::in_folder(host.folder().path()).list()?;
        let now = clock.now();
        if !address.ip().is_loopback() && tokens.iter().all(|token| token.is_expired(now)) {
            return Err(ServerError::NoToken(address));
        }
        let rate = RateLimit::reported_only()
            .try_with_requests(section.requests_per_minute.0, section.burst.0)?;
        let listen = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        hosts = hosts.iter().map(|host| name_of(host)).collect();
        hosts.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        hosts.insert(address.ip().to_string());
        let (ending, ends) = watch::channel(false);
        let limits = RequestLimits {
            body_bytes: section.body_kib.0 as usize * 1024,
            archive_bytes: u64::from(section.archive_mib.0) << 20,
            patience: section.patience.0,
            answer_wait: section.answer_wait.0,
            rate,
        };
        let streams = section.streams.0 as usize;
        let service = Service::new(
            host.clone(),
            clock,
            (limits, hosts),
            (streams, address.port()),
            ends,
        )
        .map_err(ServerError::Replies)?;
        Ok(Self {
            listener,
            address,
            service: Arc::new(service),
            patience: Patience {
                headers: section.patience.0,
                reading: section.reader_patience.0,
            },
            connections: section.connections.0 as usize,
            ending,
        })
    }

    /// Where it listens, with the port that the system chose if none was named.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// An address at which a browser is signed in once, with all rights, in the name of `owner`. A new link ends the one before it.
    /// `None` if that name has a token that no such link made: its holder signs in with that token.
    ///
    /// # Errors
    ///
    /// [`ServerError`] if the tokens cannot be read, or the system has no random numbers.
    pub fn sign_in_link(&self, owner: &str) -> Result<Option<String>, ServerError> {
        let Some(path) = pages::invite(&self.service, owner)? else {
            return Ok(None);
        };
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Ok(Some(format!("http://{address}{path}")))
    }

    /// Answers requests until `end` completes. Then it accepts no more connections, ends streams of events, and waits
    /// at most five seconds for requests under way.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let Self {
            listener,
            service,
            patience,
            connections,
            ending,
            ..
        } = self;
        let router = api::router(&service);
        let places = Arc::new(Semaphore::new(connections));
        let mut clients = JoinSet::new();
        {
            let accept = accept(&listener, router, &places, patience, &ending, &mut clients);
            select! {
                () = accept => {}
                () = end => {}
            }
        }
        drop(listener);
        ending.send_replace(true);
        let mut kept = std::mem::take(&mut *lock(&service.kept));
        let all = async {
            while clients.join_next().await.is_some() {}
            while kept.join_next().await.is_some() {}
        };
        if timeout(END, all).await.is_err() {
            tracing::warn!("requests under way were cut off, because they did not end in time");
        }
    }
}

/// Accepts connections while there are free places. Never ends by itself.
async fn accept(
    listener: &TcpListener,
    router: Router,
    places: &Arc<Semaphore>,
    patience: Patience,
    ending: &watch::Sender<bool>,
    clients: &mut JoinSet<()>,
) {
    loop {
        // Further connections wait in the queue of the operating system.
        let Ok(place) = Arc::clone(places).acquire_owned().await else {
            return;
        };
        while clients.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let (router, ends) = (router.clone(), ending.subscribe());
                clients.spawn(async move {
                    attend(stream, router, patience, ends).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken in at the moment");
                sleep(PAUSE).await;
            }
        }
    }
}
