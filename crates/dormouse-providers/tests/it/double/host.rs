//! A server on this machine.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use tokio::sync::mpsc;

use super::{
    answer::{Answer, Step},
    request::Request,
    tls::{Channel, Wire},
};

/// An event on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A request was read.
    Request,
    /// The client closed a connection that the host would have kept.
    Left,
}

/// A local server. It stops on drop.
pub(crate) struct Host {
    address: SocketAddr,
    channel: Channel,
    shared: Arc<Shared>,
    seen: mpsc::UnboundedReceiver<Seen>,
    listening: Option<JoinHandle<()>>,
}

struct Shared {
    /// `POST` and the path that it answers; all other paths are 404.
    line: String,
    channel: Channel,
    answer: Answer,
    requests: Mutex<Vec<Request>>,
    over: AtomicBool,
    tell: mpsc::UnboundedSender<Seen>,
}

impl Host {
    /// Answers each request to `path` with `answer`.
    pub(crate) fn answering(path: &str, channel: Channel, answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, seen) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            line: format!("POST {path}"),
            channel,
            answer,
            requests: Mutex::default(),
            over: AtomicBool::new(false),
            tell,
        });
        let listening = thread::spawn({
            let shared = shared.clone();
            move || shared.listen(&listener)
        });
        Self {
            address,
            channel,
            shared,
            seen,
            listening: Some(listening),
        }
    }

    /// Its address, as `127.0.0.1:4711`.
    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Its URL, without a path.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.channel.scheme(), self.address)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Waits for this event.
    pub(crate) async fn until(&mut self, expected: Seen) {
        while self.seen.recv().await.unwrap() != expected {}
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        // It waits for a client: this is the last one.
        TcpStream::connect(self.address).ok();
        if let Some(listening) = self.listening.take() {
            listening.join().unwrap();
        }
    }
}

impl Shared {
    fn listen(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let (socket, _) = listener.accept().unwrap();
            if self.over.load(Ordering::Acquire) {
                return;
            }
            let shared = self.clone();
            // It ends when its client goes away.
            thread::spawn(move || shared.serve(socket));
        }
    }

    fn serve(&self, socket: TcpStream) {
        socket.set_nodelay(true).ok();
        if self.answer.unread {
            // One byte of it, so that there is more to read when it is closed.
            let mut byte = [0];
            (&socket).read_exact(&mut byte).ok();
            return;
        }
        let mut wire = self.channel.accept(socket);
        match Request::read(&mut wire) {
            Ok(Some(request)) => {
                let answer = self.answer_to(&request);
                self.requests.lock().unwrap().push(request);
                self.tell.send(Seen::Request).ok();
                for step in &answer.steps {
                    // The client may have disconnected.
                    if self.play(&mut *wire, step).is_err() {
                        self.tell.send(Seen::Left).ok();
                        return;
                    }
                }
                wire.close();
            }
            Ok(None) => {}
            Err(_) => {
                wire.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
                    .ok();
            }
        }
    }

    fn answer_to(&self, request: &Request) -> Answer {
        if request.line == self.line {
            return self.answer.clone();
        }
        let html = "<!doctype html><title>404</title><h1>Nothing here</h1>";
        Answer::status(404, "content-type: text/html\r\n", html)
    }

    fn play(&self, wire: &mut dyn Wire, step: &Step) -> std::io::Result<()> {
        match step {
            Step::Bytes(bytes) => wire.write_all(bytes)?,
            Step::Singly(bytes) => {
                for byte in bytes {
                    wire.write_all(&[*byte])?;
                    wire.flush()?;
                }
            }
            Step::Flood(bytes, times) => {
                for _ in 0..*times {
                    wire.write_all(bytes)?;
                }
            }
            Step::Drip(bytes, pause) => loop {
                wire.write_all(bytes)?;
                wire.flush()?;
                thread::park_timeout(*pause);
            },
            Step::Silence => {
                let mut rest = Vec::new();
                wire.read_to_end(&mut rest).ok();
                self.tell.send(Seen::Left).ok();
            }
        }
        wire.flush()
    }
}
