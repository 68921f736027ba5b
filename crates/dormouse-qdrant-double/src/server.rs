//! Starts, stops and restarts the server, and makes it fail.

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

/// The largest request in bytes, as on a real server.
const LARGEST_REQUEST: usize = 64 << 20;

/// The calls that a read-only key may not make.
const WRITES: [&str; 4] = ["create", "delete", "upsert", "create_field_index"];

/// The data that a server has after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRestart {
    /// All data of answered requests, and what was already stored of the request during which the server died.
    Kept,
    /// Nothing, not even the collections.
    Lost,
}

/// A server with its own port and thread. It runs until it is stopped or dropped.
#[derive(Debug)]
pub struct QdrantDouble {
    address: SocketAddr,
    state: State,
    running: Option<(Arc<Notify>, JoinHandle<()>)>,
    /// Keeps the port while the server is down. The socket is bound and does not listen.
    _port: Option<TcpSocket>,
}

impl QdrantDouble {
    /// Starts a server that needs no key.
    ///
    /// # Errors
    ///
    /// If the system provides no port or no thread.
    pub fn start() -> io::Result<Self> {
        Self::launch(State::default())
    }

    /// Starts a server that refuses every call without this key.
    ///
    /// # Errors
    ///
    /// If the system provides no port or no thread.
    pub fn start_with_key(key: &str) -> io::Result<Self> {
        Self::launch(State {
            key: Some(Arc::from(key)),
            ..State::default()
        })
    }

    /// Starts a server with a key for all calls and a read-only key.
    ///
    /// # Errors
    ///
    /// If the system provides no port or no thread.
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
    /// If the system provides no port or no thread.
    pub fn start_encrypted(certificate: &str, key: &str) -> io::Result<Self> {
        Self::launch(State {
            identity: Some(Identity::from_pem(certificate, key)),
            ..State::default()
        })
    }

    fn launch(state: State) -> io::Result<Self> {
        let port = TcpSocket::new_v4()?;
        // Otherwise the listener could not bind the same port.
        port.set_reuseaddr(true)?;
        port.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let mut double = Self {
            address: port.local_addr()?,
            state,
            running: None,
            // Other systems do not let a listener share the port.
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

    /// Sets the way in which the server fails from now on. [`QdrantFault::None`] ends all failures.
    pub fn fail(&self, fault: QdrantFault) {
        self.state.lock().fault = fault;
    }

    /// Stops the server as a kill would: connections break, calls stay unanswered. Stopping it twice does nothing.
    pub fn stop(&mut self) {
        if let Some((death, thread)) = self.running.take() {
            death.notify_one();
            // A panic of the thread is ignored here, because it makes the test fail elsewhere.
            drop(thread.join());
        }
    }

    /// Stops the server and starts it at the same address, without a fault.
    ///
    /// # Errors
    ///
    /// If the system cannot create a thread, or if another program has taken the port meanwhile, which is not possible
    /// on Linux.
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

    /// Deletes all collections while the server keeps running.
    pub fn wipe(&self) {
        self.state.lock().store.clear();
    }

    /// Creates an empty collection with this name, as another client might.
    pub fn make(&self, collection: &str, dimensions: u64) {
        let params = VectorParamsBuilder::new(dimensions, Distance::Cosine).build();
        let mut inside = self.state.lock();
        // An error means that the collection exists already.
        inside.store.create(collection, params, [None; 3]).ok();
    }

    /// Deletes this many points of each collection while the server keeps running.
    pub fn lose_points(&self, count: usize) {
        self.state.lock().store.lose(count);
    }

    /// The number of calls so far, including refused ones.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.state.lock().calls
    }

    /// The largest number of calls that were in progress at once.
    #[must_use]
    pub fn most_calls_at_once(&self) -> usize {
        self.state.lock().most_at_once
    }

    /// The number of points in each request that added points.
    #[must_use]
    pub fn upserts(&self) -> Vec<usize> {
        self.state.lock().upserts.clone()
    }

    /// The names of all collections, sorted, each with the number of its points.
    #[must_use]
    pub fn collections(&self) -> Vec<(String, u64)> {
        self.state.lock().store.sizes()
    }

    /// The numbers of shards, replicas and confirmed writes that the request to create the collection asked for.
    #[must_use]
    pub fn layout(&self, collection: &str) -> [Option<u32>; 3] {
        let mut inside = self.state.lock();
        let collection = inside.store.collection(collection);
        collection.map_or([None; 3], |collection| collection.layout)
    }

    /// The fields of a collection that have an index, sorted; empty if the collection does not exist.
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
    // The server has its own runtime: dropping it breaks the connections, and a test that pauses time does not affect
    // it.
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

/// The state that every call needs.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) state: State,
    death: Arc<Notify>,
}

impl Service {
    /// Counts the call, and admits it unless the key or a fault forbids it.
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

    /// Stops the server without an answer to this call.
    pub(crate) async fn die<T>(&self) -> T {
        self.death.notify_one();
        std::future::pending().await
    }
}

/// The state that survives a restart.
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

    /// Refuses a key that is wrong or may not make this call, with the error text of a real server.
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

/// A call in progress.
pub(crate) struct Call(State);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.lock().at_once -= 1;
    }
}
