//! A connection that can be cut.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// A way over loopback to a server. Cutting it ends its connections without a word, as a network does.
#[derive(Debug)]
pub struct Cable {
    port: u16,
    wires: Arc<Mutex<Wires>>,
    _accepting: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Wires {
    open: JoinSet<()>,
    is_cut: bool,
}

fn lock(wires: &Mutex<Wires>) -> MutexGuard<'_, Wires> {
    wires.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cable {
    /// A way to the server at this address.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn to(address: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let listener = listener.expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let wires: Arc<Mutex<Wires>> = Arc::default();
        let connections = Arc::clone(&wires);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            while let Ok((mut here, _)) = listener.accept().await {
                let address = address.clone();
                let mut wires = lock(&connections);
                if wires.is_cut {
                    continue;
                }
                wires.open.spawn(async move {
                    if let Ok(mut there) = TcpStream::connect(address).await {
                        // Either side may end it.
                        drop(copy_bidirectional(&mut here, &mut there).await);
                    }
                });
            }
        });
        Self {
            port,
            wires,
            _accepting: accepting,
        }
    }

    /// Where it begins.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Cuts all connections. New ones can be made at once.
    pub fn is_cut(&self) {
        lock(&self.wires).open.abort_all();
    }

    /// Cuts all connections, and lets none through until it is mended.
    pub fn is_cut_for_now(&self) {
        let mut wires = lock(&self.wires);
        wires.is_cut = true;
        wires.open.abort_all();
    }

    /// Lets connections through again.
    pub fn is_mended(&self) {
        lock(&self.wires).is_cut = false;
    }
}
