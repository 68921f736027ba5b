//! The server as a whole: started, stopped, restarted, and made to fail.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use qdrant_client::qdrant::{
    Distance, VectorParamsBuilder, collections_server::CollectionsServer,
    points_server::PointsServer, qdrant_server::QdrantServer,
};
use tokio::{net::TcpSocket, runtime, sync::Notify};
use tonic::{
    Status,
    metadata::MetadataMap,
    transport::{Identity, Server, ServerTlsConfig, server::TcpIncoming},
};

use crate::{
    fault::{QdrantFault, Verdict},
    store::Store,
};

/// The most bytes in a request, as on a server.
const LARGEST_REQUEST: usize = 64 << 20;

/// The calls that a key which may only read is refused.
const WRITES: [&str; 4] = ["create", "delete", "upsert", "create_field_index"];

/// What a restarted server still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRestart {
    /// All that it answered, and what it had stored of the request in which it died.
    Kept,
    /// Nothing, not even the collections.
    Lost,
}

/// A server on a port of its own, on a thread of its own, until it is stopped or dropped.
#[derive(Debug)]
pub struct QdrantDouble {
    address: SocketAddr,
    state: State,
    running: Option<(Arc<Notify>, JoinHandle<()>)>,
    /// Keeps the port while the server is down: it is bound and does not listen.
    _port: Option<TcpSocket>,
}

impl QdrantDouble {
    /// Starts a server that asks for no key.
    ///
    /// # Errors
    ///
    /// If the system gives no port or no thread.
    pub fn start() -> io::Result<Self> {
        Self::launch(State::default())
    }

    /// Starts a server that refuses every call without this key.
    ///
    /// # Errors
    ///
    /// If the system gives no port or no thread.
    pub fn start_with_key(key: &str) -> io::Result<Self> {
        Self::launch(State {
            key: Some(Arc::from(key)),
            ..State::default()
        })
    }

    /// Starts a server with a key for everything, and one with which calls may only read.
    ///
    /// # Errors
    ///
    /// If the system gives no port or no thread.
    pub fn start_with_keys(key: &str, read_only: &str) -> io::Result<Self> {
        Self::launch(State {
            key: Some(Arc::from(key)),
            read_only: Some(Arc::from(read_only)),
            ..State::default()
        })
    }

    /// Starts a server at an `https` address, with this certificate and its private key as PEM.
    ///
    /// # Errors
    ///
    /// If the system gives no port or no thread.
    pub fn start_encrypted(certificate: &str, key: &str) -> io::Result<Self> {
        Self::launch(State {
            identity: Some(Identity::from_pem(certificate, key)),
            ..State::default()
        })
    }

    fn launch(state: State) -> io::Result<Self> {
        let port = TcpSocket::new_v4()?;
        // Otherwise the listener could not have the same port.
        port.set_reuseaddr(true)?;
        port.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let mut double = Self {
            address: port.local_addr()?,
            state,
            running: None,
            // Other systems do not let a listener share it.
            _port: cfg!(target_os = "linux").then_some(port),
        };
        double.run(TcpListener::bind(double.address)?)?;
        Ok(double)
    }

    fn run(&mut self, listener: TcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let death = Arc::new(Notify::new());
        let service = Service {
            state: self.state.clone(),
            death: Arc::clone(&death),
        };
        let thread = thread::Builder::new()
            .name("qdrant double".to_owned())
            .spawn(move || serve(listener, &service))?;
        self.running = Some((death, thread));
        Ok(())
    }

    /// The address to connect to; the same after a restart.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = match self.state.identity {
            Some(_) => "https",
            None => "http",
        };
        format!("{scheme}://{}", self.address)
    }

    /// Makes the server fail in this way from now on, or no longer.
    pub fn fail(&self, fault: QdrantFault) {
        self.state.lock().fault = fault;
    }

    /// Stops the server as a kill would: connections break, calls stay unanswered. Stopping it twice does nothing.
    pub fn stop(&mut self) {
        if let Some((death, thread)) = self.running.take() {
            death.notify_one();
            // A thread that panicked is a test that fails elsewhere.
            drop(thread.join());
        }
    }

    /// Stops the server and starts it at the same address, without a fault.
    ///
    /// # Errors
    ///
    /// If the system gives no thread, or, on systems other than Linux, somebody else has taken the port meanwhile.
    pub fn restart(&mut self, data: AfterRestart) -> io::Result<()> {
        self.stop();
        let mut inside = self.state.lock();
        inside.fault = QdrantFault::None;
        if data == AfterRestart::Lost {
            inside.store.clear();
        }
        drop(inside);
        self.run(TcpListener::bind(self.address)?)
    }

    /// Loses all collections, while it goes on running.
    pub fn wipe(&self) {
        self.state.lock().store.clear();
    }

    /// Makes an empty collection by that name, as somebody else might.
    pub fn make(&self, collection: &str, dimensions: u64) {
        let params = VectorParamsBuilder::new(dimensions, Distance::Cosine).build();
        let mut inside = self.state.lock();
        // It is there already if it cannot be made.
        inside.store.create(collection, params, [None; 3]).ok();
    }

    /// Loses this many points of each collection, while it goes on running.
    pub fn lose_points(&self, count: usize) {
        self.state.lock().store.lose(count);
    }

    /// How many calls have come so far, refused ones included.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.state.lock().calls
    }

    /// The most calls that were under way at once.
    #[must_use]
    pub fn most_calls_at_once(&self) -> usize {
        self.state.lock().most_at_once
    }

    /// How many points each request to add some had.
    #[must_use]
    pub fn upserts(&self) -> Vec<usize> {
        self.state.lock().upserts.clone()
    }

    /// The names of all collections, sorted, each with the number of its points.
    #[must_use]
    pub fn collections(&self) -> Vec<(String, u64)> {
        self.state.lock().store.sizes()
    }

    /// With how many shards, replicas and confirmed writes the collection was to be made.
    #[must_use]
    pub fn layout(&self, collection: &str) -> [Option<u32>; 3] {
        let mut inside = self.state.lock();
        let collection = inside.store.collection(collection);
        collection.map_or([None; 3], |collection| collection.layout)
    }

    /// The fields of a collection that have an index, sorted; empty without the collection.
    #[must_use]
    pub fn indexed_fields(&self, collection: &str) -> Vec<String> {
        let mut inside = self.state.lock();
        let fields = inside.store.collection(collection);
        let mut fields: Vec<String> =
            fields.map_or(Vec::new(), |found| found.schema.keys().cloned().collect());
        fields.sort_unstable();
        fields
    }
}

impl Drop for QdrantDouble {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(listener: TcpListener, service: &Service) {
    // On a runtime of its own, since dropping that is what breaks the connections; and its time is never paused.
    let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    runtime.block_on(async {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
            return;
        };
        let points = PointsServer::new(service.clone()).max_decoding_message_size(LARGEST_REQUEST);
        let mut server = Server::builder();
        if let Some(identity) = service.state.identity.clone() {
            let tls = ServerTlsConfig::new().identity(identity);
            let Ok(encrypted) = server.tls_config(tls) else {
                return;
            };
            server = encrypted;
        }
        let serving = server
            .add_service(points)
            .add_service(CollectionsServer::new(service.clone()))
            .add_service(QdrantServer::new(service.clone()))
            .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)));
        tokio::select! {
            _failed = serving => {}
            () = service.death.notified() => {}
        }
    });
    runtime.shutdown_background();
}

/// What every call needs.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) state: State,
    death: Arc<Notify>,
}

impl Service {
    /// Counts the call, and lets it pass unless the key or a fault forbids it.
    pub(crate) async fn admit(&self, rpc: &str, metadata: &MetadataMap) -> Result<Call, Status> {
        let call = self.state.begin();
        let sent = metadata.get("api-key").and_then(|key| key.to_str().ok());
        self.state.check_key(sent, rpc)?;
        let verdict = self.state.lock().fault.next_call();
        match verdict {
            Verdict::Go => Ok(call),
            Verdict::Refuse(status) => Err(status),
            Verdict::Hang => std::future::pending().await,
        }
    }

    /// Dies, and never answers.
    pub(crate) async fn die<T>(&self) -> T {
        self.death.notify_one();
        std::future::pending().await
    }
}

/// What outlives a restart.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    key: Option<Arc<str>>,
    read_only: Option<Arc<str>>,
    identity: Option<Identity>,
    inside: Arc<Mutex<Inside>>,
}

#[derive(Debug)]
pub(crate) struct Inside {
    pub(crate) store: Store,
    pub(crate) fault: QdrantFault,
    pub(crate) upserts: Vec<usize>,
    calls: usize,
    at_once: usize,
    most_at_once: usize,
}

impl Default for Inside {
    fn default() -> Self {
        Self {
            store: Store::default(),
            fault: QdrantFault::None,
            upserts: Vec::new(),
            calls: 0,
            at_once: 0,
            most_at_once: 0,
        }
    }
}

impl State {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses, in a server's words, a key that is wrong or may not do this.
    fn check_key(&self, sent: Option<&str>, rpc: &str) -> Result<(), Status> {
        if self.key.is_none() || sent == self.key.as_deref() {
            return Ok(());
        }
        if sent.is_none() || sent != self.read_only.as_deref() {
            return Err(Status::unauthenticated("Invalid API key or JWT"));
        }
        if WRITES.contains(&rpc) {
            let words = "Forbidden: Global manage access is required";
            return Err(Status::permission_denied(words));
        }
        Ok(())
    }

    fn begin(&self) -> Call {
        let mut inside = self.lock();
        inside.calls += 1;
        inside.at_once += 1;
        inside.most_at_once = inside.most_at_once.max(inside.at_once);
        Call(self.clone())
    }
}

/// A call under way.
pub(crate) struct Call(State);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.lock().at_once -= 1;
    }
}
