//! A collector and logs for tests.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, BoxFuture, ReadError, ReadEvents, Seq, StoredEvent,
    Timestamp,
};
use dormouse_engine::{ContextType, Event, StopReason, TickEnded, TickStarted, Woke};
use dormouse_testing::MemoryLog;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, trace::v1::Span as Sent,
};
use prost::Message;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
};

use crate::follow::Logs;

/// What a collector answers: the status, further headers, and the body.
pub(crate) type Reply = (u16, &'static str, Vec<u8>);

/// A collector over HTTP that answers as a test wants.
pub(crate) struct TestCollector {
    pub(crate) address: String,
    requests: mpsc::UnboundedReceiver<(u16, Vec<Sent>)>,
    _task: JoinSet<()>,
}

impl TestCollector {
    /// `answer` gets the number of the request and of its spans.
    pub(crate) async fn start(
        answer: impl Fn(usize, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::unbounded_channel();
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut number = 0;
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                if let Some(answered) = one_request(stream, number, &answer).await {
                    number += 1;
                    // The test may be over.
                    drop(sender.send(answered));
                }
            }
        });
        Self {
            address,
            requests,
            _task: task,
        }
    }

    /// The next request: how it was answered, and its spans.
    pub(crate) async fn next(&mut self) -> (u16, Vec<Sent>) {
        self.requests.recv().await.unwrap()
    }

    /// The requests so far, without waiting.
    pub(crate) fn so_far(&mut self) -> Vec<(u16, Vec<Sent>)> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }
}

async fn one_request(
    mut stream: TcpStream,
    number: usize,
    answer: &impl Fn(usize, usize) -> Reply,
) -> Option<(u16, Vec<Sent>)> {
    let mut read = Vec::new();
    let (head, length) = loop {
        let mut piece = [0; 4096];
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        read.extend(&piece[..count]);
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(read[..end].to_vec())
                .unwrap()
                .to_lowercase();
            assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
            assert!(
                head.contains("content-type: application/x-protobuf"),
                "{head}"
            );
            let (_, length) = head.split_once("content-length: ").unwrap();
            let length: usize = length.split('\r').next().unwrap().parse().unwrap();
            break (end + 4, length);
        }
    };
    while read.len() < head + length {
        let mut piece = [0; 4096];
        let count = stream
            .read(&mut piece)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        read.extend(&piece[..count]);
    }
    let request = ExportTraceServiceRequest::decode(&read[head..]).unwrap();
    let scopes = request
        .resource_spans
        .into_iter()
        .flat_map(|it| it.scope_spans);
    let spans: Vec<_> = scopes.flat_map(|it| it.spans).collect();
    let (status, headers, body) = answer(number, spans.len());
    let head = format!(
        "HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(&body).await.ok()?;
    stream.shutdown().await.ok()?;
    Some((status, spans))
}

/// Logs in memory.
#[derive(Clone)]
pub(crate) struct TestLogs {
    log: Arc<MemoryLog>,
    keys: Arc<Vec<AssistantId>>,
    written: Arc<AtomicU64>,
}

impl TestLogs {
    pub(crate) fn of(keys: &[&str]) -> Self {
        let keys = keys.iter().map(|key| AssistantId::try_new(*key).unwrap());
        Self {
            log: Arc::new(MemoryLog::new()),
            keys: Arc::new(keys.collect()),
            written: Arc::default(),
        }
    }

    pub(crate) fn keys(&self) -> Vec<AssistantId> {
        self.keys.to_vec()
    }

    async fn append(&self, key: &AssistantId, events: Vec<Event>) {
        let expected = self.end(key);
        let events = events.into_iter().zip(expected.0..).map(|(event, at)| {
            let at = Timestamp::from_micros(1_000_000 * i64::try_from(at).unwrap());
            event.encode(at).unwrap()
        });
        let request = AppendRequest {
            assistant: key.clone(),
            expected,
            events: events.collect(),
        };
        self.log.append(request).await.unwrap();
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    /// Ticks of the first assistant; each is one span.
    pub(crate) async fn ticks(&self, count: u64) {
        for tick in 0..count {
            let started = TickStarted {
                tick,
                context: ContextType::TickEvent,
                trigger: Seq(1),
            };
            let events = vec![
                Event::Woke(Woke::default()),
                Event::TickStarted(started),
                Event::TickEnded(TickEnded::new(StopReason::Noop, None)),
            ];
            self.append(&self.keys[0], events).await;
        }
    }

    fn end(&self, key: &AssistantId) -> Seq {
        self.log
            .events(key)
            .last()
            .map_or(Seq::ZERO, |last| last.seq)
    }
}

impl ReadEvents for TestLogs {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

impl Logs for TestLogs {
    fn ends(&self) -> Result<Vec<(AssistantId, Seq)>, ReadError> {
        let ends = self.keys.iter().map(|key| (key.clone(), self.end(key)));
        Ok(ends.filter(|(_, end)| *end > Seq::ZERO).collect())
    }

    fn mark(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}
