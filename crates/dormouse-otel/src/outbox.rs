//! Spans on their way to a collector.

use std::{collections::BTreeMap, sync::Arc};

use dormouse_contracts::{AssistantId, Random, Seq};
use dormouse_resilience::{RetryDecision, RetryPolicy, RetryState};
use tokio::time::sleep;

use crate::{
    collector::{Collector, LeftOut, SendError, SendErrorKind},
    span::{Span, SpanValue},
};

/// How many spans a request has at most.
const MOST_SPANS: usize = 512;
/// How large the texts of a request are at most, in bytes, apart from the last span.
const MOST_BYTES: usize = 1 << 20;

/// What was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// How many spans the collector took.
    pub spans: u64,
    /// How many spans it left out: those that it reported as left out, and those that are too large for it.
    pub left_out: u64,
    /// What it said about one of them.
    pub why: Option<String>,
}

/// Collects spans into requests, and sends them. Holds at most one request.
pub(crate) struct Outbox {
    collector: Collector,
    policy: RetryPolicy,
    random: Arc<dyn Random>,
    waiting: Vec<Span>,
    bytes: usize,
    /// How far each log will be sent once the waiting spans are sent.
    read: BTreeMap<AssistantId, Seq>,
    report: ExportReport,
}

impl Outbox {
    pub(crate) fn new(collector: Collector, policy: RetryPolicy, random: Arc<dyn Random>) -> Self {
        Self {
            collector,
            policy,
            random,
            waiting: Vec::new(),
            bytes: 0,
            read: BTreeMap::new(),
            report: ExportReport::default(),
        }
    }

    /// Adds spans of a log that is read up to here.
    pub(crate) fn put(&mut self, key: &AssistantId, spans: Vec<Span>, settled: Seq) {
        self.bytes += spans.iter().map(size).sum::<usize>();
        self.waiting.extend(spans);
        match self.read.get_mut(key) {
            Some(read) => *read = settled,
            None => {
                self.read.insert(key.clone(), settled);
            }
        }
    }

    /// Whether it is time to send what waits.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= MOST_SPANS || self.bytes >= MOST_BYTES
    }

    /// Sends what waits. Returns how far the logs are sent by that. What could not be sent waits no longer: it is read again.
    pub(crate) async fn send(&mut self) -> Result<BTreeMap<AssistantId, Seq>, SendError> {
        let read = std::mem::take(&mut self.read);
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        // Requests that are still to be sent, the next one last.
        let mut requests: Vec<&[Span]> = waiting.chunks(MOST_SPANS).rev().collect();
        while let Some(spans) = requests.pop() {
            match self.persist(spans).await {
                Ok(left_out) => self.count(spans, left_out),
                Err(error) if error.kind() == SendErrorKind::TooLarge => match spans {
                    [] => {}
                    [_one] => self.count(
                        spans,
                        LeftOut {
                            spans: 1,
                            why: error.to_string(),
                        },
                    ),
                    many => {
                        let (first, second) = many.split_at(many.len() / 2);
                        requests.extend([second, first]);
                    }
                },
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn count(&mut self, spans: &[Span], left_out: LeftOut) {
        let sent = spans.len() as u64;
        let left = left_out.spans.min(sent);
        self.report.spans += sent - left;
        self.report.left_out += left;
        if left > 0 {
            self.report.why = Some(left_out.why);
        }
    }

    /// Sends one request, as often as the policy allows.
    async fn persist(&self, spans: &[Span]) -> Result<LeftOut, SendError> {
        let mut attempts = RetryState::new(self.policy.clone());
        loop {
            let error = match self.collector.send(spans).await {
                Ok(left_out) => return Ok(left_out),
                Err(error) => error,
            };
            match attempts.failed(error.verdict(), self.random.unit()) {
                RetryDecision::Wait(pause) => sleep(pause).await,
                RetryDecision::Stop(_) => return Err(error),
            }
        }
    }

    pub(crate) fn report(&self) -> &ExportReport {
        &self.report
    }
}

/// About how large a span is, in bytes.
fn size(span: &Span) -> usize {
    let attributes = span.attributes.iter().map(|(name, value)| {
        name.len()
            + match value {
                SpanValue::Text(text) => text.len(),
                SpanValue::Texts(texts) => texts.iter().map(String::len).sum(),
                SpanValue::Whole(_) | SpanValue::Real(_) | SpanValue::Flag(_) => 8,
            }
    });
    64 + span.name.len() + attributes.sum::<usize>()
}
