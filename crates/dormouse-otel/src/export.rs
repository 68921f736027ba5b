//! Exporting logs as they are.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use dormouse_contracts::{AssistantId, Random, ReadError, ReadEvents, Seq, Timestamp};
use dormouse_engine::{DecodeError, Event, Recorded};
use dormouse_resilience::{RetryPolicy, RetryPolicyError};

use crate::{
    collector::{Collector, SendError},
    outbox::{ExportReport, Outbox},
    projection::{Projection, SpanContent},
    span::Life,
};

/// How many events are read at a time.
const PAGE: usize = 256;

/// What is exported.
#[derive(Clone, Debug)]
pub struct ExportRange {
    /// The assistants.
    pub assistants: Vec<AssistantId>,
    /// Only ticks and calls that began at this time or later; absent for all.
    pub since: Option<Timestamp>,
    /// Whether spans hold words.
    pub content: SpanContent,
}

/// Nothing more was exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpanExportError {
    /// The collector did not take the spans.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A log could not be read.
    #[error("the log of {assistant} could not be read")]
    Read {
        /// Whose.
        assistant: AssistantId,
        /// Why.
        source: ReadError,
    },
    /// An event is not understood.
    #[error("the log of {assistant} cannot be used")]
    Decode {
        /// Whose log.
        assistant: AssistantId,
        /// Why.
        source: DecodeError,
    },
    /// The numbers of the pauses contradict each other.
    #[error(transparent)]
    Policy(#[from] RetryPolicyError),
}

/// Sends the spans of logs to a collector, and ends. A collector that is busy or cannot be reached is tried five times within about
/// half a minute. Memory is bounded by one request, however long the logs are. `random` spreads the pauses.
///
/// # Errors
///
/// [`SpanExportError`]. What was sent before stays sent; sent again, it has the same ids.
pub async fn export<L: ReadEvents>(
    log: &L,
    range: &ExportRange,
    collector: Collector,
    random: Arc<dyn Random>,
) -> Result<ExportReport, SpanExportError> {
    let policy = RetryPolicy::try_new(5, Duration::from_secs(1), 2.0, Duration::from_secs(30))?;
    let mut outbox = Outbox::new(collector, policy, random);
    for assistant in &range.assistants {
        let mut reader = Reader::open(log, assistant, Seq::ZERO, range.content).await?;
        while reader.read(range.since, &mut outbox).await? {
            if outbox.is_full() {
                outbox.send().await?;
            }
        }
    }
    outbox.send().await?;
    Ok(outbox.report().clone())
}

/// How far each log is sent.
pub(crate) type Sent = BTreeMap<AssistantId, Seq>;

/// Reads one log as spans.
pub(crate) struct Reader<'a, L> {
    log: &'a L,
    assistant: &'a AssistantId,
    at: Seq,
    projection: Projection,
}

impl<'a, L: ReadEvents> Reader<'a, L> {
    /// A reader of the events after `after`.
    pub(crate) async fn open(
        log: &'a L,
        assistant: &'a AssistantId,
        after: Seq,
        content: SpanContent,
    ) -> Result<Self, SpanExportError> {
        let first = log.read(assistant, Seq::ZERO, 1).await;
        let first = first.map_err(|source| unread(assistant, source))?;
        let began_at = first.first().map_or(Timestamp::EPOCH, |first| first.at);
        let life = Life::new(assistant, began_at);
        Ok(Self {
            log,
            assistant,
            at: after,
            projection: Projection::new(life, content, after),
        })
    }

    /// Reads a page into the outbox. False at the end of the log.
    pub(crate) async fn read(
        &mut self,
        since: Option<Timestamp>,
        outbox: &mut Outbox,
    ) -> Result<bool, SpanExportError> {
        let assistant = self.assistant;
        let page = self.log.read(assistant, self.at, PAGE).await;
        let page = page.map_err(|source| unread(assistant, source))?;
        let mut spans = Vec::new();
        for stored in &page {
            self.at = stored.seq;
            if since.is_some_and(|since| stored.at < since) {
                continue;
            }
            let event = Event::decode(stored).map_err(|source| SpanExportError::Decode {
                assistant: assistant.clone(),
                source,
            })?;
            let (seq, at) = (stored.seq, stored.at);
            spans.extend(self.projection.take(&Recorded { seq, at, event }));
        }
        outbox.put(assistant, spans, self.projection.settled());
        Ok(!page.is_empty())
    }
}

fn unread(assistant: &AssistantId, source: ReadError) -> SpanExportError {
    SpanExportError::Read {
        assistant: assistant.clone(),
        source,
    }
}

#[cfg(test)]
mod tests;
