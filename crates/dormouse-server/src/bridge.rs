//! Standard input and output for clients that start a program: each message is a request to a service, and each answer a line.
//!
//! The bridge understands as little of the protocol as it can: it adds the headers that HTTP needs, and nothing else. All checks
//! are those of the service.

mod exchange;

use std::{collections::HashMap, io, sync::Arc};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    select,
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};

use crate::mcp::SUBSCRIBE;
use exchange::Exchange;

pub use exchange::{ServiceAddress, ServiceAddressError};

/// The most bytes of a line.
const LINE: u64 = 16 << 20;

/// How many answers wait for a client that does not read.
const WAITING: usize = 16;

/// A client of the Model Context Protocol on standard input and output, connected with a service.
#[derive(Debug)]
pub struct McpBridge {
    service: ServiceAddress,
    token: String,
}

impl McpBridge {
    /// Connects with the service at this address, with this token. Nothing is sent yet.
    #[must_use]
    pub fn new(service: ServiceAddress, token: String) -> Self {
        Self { service, token }
    }

    /// Serves one client, one message a line, until it closes the stream or `stopped` is done. Requests are carried out at the
    /// same time. After the last line, those under way are still answered, except subscriptions.
    ///
    /// # Errors
    ///
    /// An I/O error if a stream fails.
    pub async fn serve(
        self,
        input: impl AsyncBufRead + Unpin,
        output: impl AsyncWrite + Unpin,
        stopped: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let (answers, lines) = mpsc::channel(WAITING);
        let requests = Requests {
            exchange: Arc::new(Exchange::new(self.service, self.token)),
            answers,
            under_way: JoinSet::new(),
            by_id: HashMap::new(),
            notified: None,
        };
        let both = async {
            let (read, written) = tokio::join!(requests.read(input), write(lines, output));
            read.and(written)
        };
        select! {
            ended = both => ended,
            () = stopped => Ok(()),
        }
    }
}

/// The requests of the client.
struct Requests {
    exchange: Arc<Exchange>,
    answers: mpsc::Sender<String>,
    under_way: JoinSet<()>,
    /// Those that are under way, by id; whether it is a subscription, which never ends by itself.
    by_id: HashMap<String, (AbortHandle, bool)>,
    /// What reads the notifications of a session.
    notified: Option<AbortHandle>,
}

impl Requests {
    async fn read(mut self, mut input: impl AsyncBufRead + Unpin) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut input).take(LINE).read_until(b'\n', &mut line).await?;
            if read == 0 {
                break;
            }
            if read as u64 == LINE && !line.ends_with(b"\n") {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("a line has more than {LINE} bytes"),
                ));
            }
            self.take(&line).await;
        }
        self.notified.iter().for_each(AbortHandle::abort);
        for (subscription, _) in self.by_id.values().filter(|(_, is_endless)| *is_endless) {
            subscription.abort();
        }
        while self.under_way.join_next().await.is_some() {}
        self.exchange.end().await;
        Ok(())
    }

    /// Sends one message of the client.
    async fn take(&mut self, line: &[u8]) {
        while self.under_way.try_join_next().is_some() {}
        self.by_id.retain(|_, (task, _)| !task.is_finished());
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let message: Value = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                let problem = json!({ "code": -32700, "message": format!("not JSON: {error}") });
                let answer = json!({ "jsonrpc": "2.0", "id": null, "error": problem });
                // Without a reader there is nobody to answer.
                drop(self.answers.send(answer.to_string()).await);
                return;
            }
        };
        let method = message.get("method").and_then(Value::as_str);
        if method == Some("notifications/cancelled") {
            // Over HTTP a request is taken back by closing its connection.
            let id = message.pointer("/params/requestId").map(Value::to_string);
            if let Some((request, _)) = id.and_then(|id| self.by_id.remove(&id)) {
                request.abort();
            }
            return;
        }
        match method {
            Some("initialize") => {
                self.notified.take().inspect(AbortHandle::abort);
                self.exchange.begin(&message);
            }
            Some(SUBSCRIBE) => self.be_notified(),
            _ => {}
        }
        let is_endless = method == Some("subscriptions/listen");
        let id = message.get("id").map(Value::to_string);
        let (exchange, answers) = (Arc::clone(&self.exchange), self.answers.clone());
        let is_opening = method == Some("initialize");
        let task = async move { exchange.carry_out(&message, &answers).await };
        if is_opening {
            // Later messages name the version on which this one agrees, so they wait for it.
            task.await;
            return;
        }
        let task = self.under_way.spawn(task);
        if let Some(id) = id {
            self.by_id.insert(id, (task, is_endless));
        }
    }
}

impl Requests {
    /// Reads what the client of an older generation is notified of.
    fn be_notified(&mut self) {
        if self.notified.is_none() {
            let (exchange, answers) = (Arc::clone(&self.exchange), self.answers.clone());
            let task = async move { exchange.follow(&answers).await };
            self.notified = Some(self.under_way.spawn(task));
        }
    }
}

async fn write(
    mut lines: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}
