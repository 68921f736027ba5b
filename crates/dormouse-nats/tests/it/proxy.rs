//! A connection that loses what goes one way.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// What goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    All,
    NoAnswers,
    NoRequests,
}

/// Passes connections on to a server. When everything passes again, connections that have lost something are closed.
pub(crate) struct Proxy {
    address: String,
    pass: watch::Sender<Pass>,
    _tasks: Arc<Mutex<JoinSet<()>>>,
}

impl Proxy {
    pub(crate) async fn start(server: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = format!("nats://{}", listener.local_addr().unwrap());
        let server = server.trim_start_matches("nats://").to_owned();
        let (pass, passes) = watch::channel(Pass::All);
        let tasks = Arc::new(Mutex::new(JoinSet::new()));
        let connections = Arc::downgrade(&tasks);
        tasks.lock().unwrap().spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                if let Some(tasks) = connections.upgrade() {
                    let passed = connection(client, server, passes.clone());
                    tasks.lock().unwrap().spawn(passed);
                }
            }
        });
        Self {
            address,
            pass,
            _tasks: tasks,
        }
    }

    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    pub(crate) fn set(&self, pass: Pass) {
        self.pass.send_replace(pass);
    }
}

async fn connection(client: TcpStream, server: TcpStream, pass: watch::Receiver<Pass>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = copy(from_client, to_server, pass.clone(), Pass::NoRequests) => {}
        () = copy(from_server, to_client, pass, Pass::NoAnswers) => {}
    }
}

/// Copies until one end is closed, or until what was lost would be missing.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut pass: watch::Receiver<Pass>,
    lost: Pass,
) {
    let (mut buffer, mut has_lost) = (vec![0; 16 * 1024], false);
    loop {
        let count = tokio::select! {
            biased;
            changed = pass.changed() => match changed {
                Ok(()) if has_lost && *pass.borrow() == Pass::All => return,
                Ok(()) => continue,
                Err(_) => return,
            },
            read = from.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(count) => count,
            },
        };
        if *pass.borrow() == lost {
            has_lost = true;
            continue;
        }
        let read = buffer.get(..count).unwrap();
        if to.write_all(read).await.is_err() {
            return;
        }
    }
}
