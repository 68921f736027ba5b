//! A server that reads each request whole and answers with prepared bytes.

use std::{collections::VecDeque, future::pending, sync::Arc, sync::Mutex, time::Duration};

use dormouse_contracts::{
    ChatReply, ChatRequest, Message, ModelError, ModelName, ProviderId, complete,
};
use dormouse_providers::{OpenAiConfig, OpenAiModel, Secret};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
};

/// The action after the prepared bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Close,
    /// Nothing, for ever.
    Hang,
}

/// What a connection is answered with; written piece by piece.
pub(crate) struct Answer(Vec<Vec<u8>>, Then);

impl Answer {
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>, then: Then) -> Self {
        Self(vec![bytes.into()], then)
    }

    /// A status, header lines and a body of known length.
    pub(crate) fn status(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        Self::raw(format!("{head}{body}"), Then::Close)
    }

    /// A stream of events whose end is the end of the connection.
    pub(crate) fn stream(events: &str, then: Then) -> Self {
        Self::raw(format!("{STREAM}{events}"), then)
    }

    /// The same, one byte at a time.
    pub(crate) fn bytes(self) -> Self {
        let single = self.0.concat().into_iter().map(|byte| vec![byte]);
        Self(single.collect(), self.1)
    }
}

pub(crate) const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";

/// What the server saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Request,
    Closed,
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    seen: mpsc::UnboundedReceiver<Seen>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Answers one connection after the other with these, and further ones not at all.
    pub(crate) async fn answering(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (tell, seen) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        let log = requests.clone();
        tasks.spawn(async move {
            let mut answers = VecDeque::from(answers);
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let Some(request) = read_request(&mut socket).await else {
                    pending().await
                };
                log.lock().unwrap().push(request);
                tell.send(Seen::Request).ok();
                let Some(Answer(pieces, then)) = answers.pop_front() else {
                    continue;
                };
                for piece in pieces {
                    // The client may have disconnected.
                    if socket.write_all(&piece).await.is_err() || socket.flush().await.is_err() {
                        break;
                    }
                }
                if then == Then::Hang {
                    let mut rest = Vec::new();
                    socket.read_to_end(&mut rest).await.ok();
                    tell.send(Seen::Closed).ok();
                }
            }
        });
        Self {
            url,
            requests,
            seen,
            _tasks: tasks,
        }
    }

    pub(crate) fn model(&self) -> OpenAiModel {
        model_at(&self.url)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until the server has seen this.
    pub(crate) async fn until(&mut self, expected: Seen) {
        loop {
            if guarded(self.seen.recv()).await.unwrap() == expected {
                return;
            }
        }
    }

    /// One whole reply, without its metadata.
    pub(crate) async fn reply(&self) -> Result<ChatReply, ModelError> {
        let reply = guarded(complete(&self.model(), &hello())).await?;
        Ok(ChatReply {
            info: None,
            ..reply
        })
    }
}

pub(crate) fn model_at(url: &str) -> OpenAiModel {
    OpenAiModel::try_new(OpenAiConfig {
        provider: ProviderId::try_new("local").unwrap(),
        base_url: url.to_owned(),
        api_key: Some(Secret::try_new("sk-secret-key").unwrap()),
        model: ModelName::try_new("tiny").unwrap(),
    })
    .unwrap()
}

pub(crate) fn hello() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User {
            content: "Hello?".to_owned(),
        }],
        ..ChatRequest::default()
    }
}

/// Fails instead of hanging, should a test ever do so.
pub(crate) async fn guarded<T>(future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(300), future).await {
        Ok(done) => done,
        Err(_) => panic!("it hangs"),
    }
}

/// The next request, whole; nothing if the client goes away before its end.
pub(crate) async fn read_request(socket: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length: ")?
                        .parse()
                        .ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                return Some(text);
            }
        }
        let mut piece = [0; 4096];
        match socket.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => request.extend_from_slice(&piece[..read]),
        }
    }
}
