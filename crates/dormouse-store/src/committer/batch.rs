//! One transaction for a batch of requests.

use std::collections::HashMap;

use dormouse_contracts::{
    AppendError, AppendErrorKind, AppendRequest, AssistantId, Seq, invariant,
};
use dormouse_database::DatabaseHandle;
use redb::{Table, WriteTransaction};

use super::request::Request;
use crate::{
    events,
    fault::Fault,
    rows::{EVENTS, HEADS, encode_event, encode_head, encode_stored, key},
    snapshots,
    wal::MOST_RECORD_BYTES,
};

/// How many events are copied at a time from another log.
const PAGE: usize = 512;

/// The result of one request of a committed batch.
pub(super) enum Verdict {
    Done(Seq),
    Conflict {
        expected: Seq,
        actual: Seq,
    },
    /// This assistant's own records are damaged. The other requests of the batch are not affected.
    Refused(Fault),
}

impl Verdict {
    pub(super) fn into_result(self) -> Result<Seq, AppendError> {
        match self {
            Self::Done(end) => Ok(end),
            Self::Conflict { expected, actual } => Err(AppendError::new(
                AppendErrorKind::Conflict { expected, actual },
                None,
            )),
            Self::Refused(fault) => Err(AppendError::new(
                AppendErrorKind::Storage,
                Some(Box::new(fault)),
            )),
        }
    }
}

/// The state of a batch while its transaction is open.
#[derive(Default)]
pub(super) struct Batch {
    /// For each log that this batch has written to: where it ends now.
    pub(super) ends: HashMap<AssistantId, Seq>,
    /// One for each request, in order.
    pub(super) verdicts: Vec<Verdict>,
    /// The frames of the events, one after another; incomplete if they are too large for the write-ahead file.
    pub(super) frames: Vec<u8>,
    /// The size of all events and snapshots.
    pub(super) bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) events: u64,
    snapshots: u64,
}

impl Written {
    pub(super) const NOTHING: Self = Self {
        events: 0,
        snapshots: 0,
    };
}

type Bytes = &'static [u8];

impl Batch {
    /// Writes all requests that can be written. After an error the whole transaction must be dropped.
    pub(super) fn apply(
        &mut self,
        transaction: &WriteTransaction,
        requests: &[Request],
    ) -> Result<Written, Fault> {
        let mut written = Written::NOTHING;
        let mut heads = transaction.open_table(HEADS)?;
        let mut events = transaction.open_table(EVENTS)?;
        for request in requests {
            let verdict = match request {
                Request::Append(request, _) => {
                    let verdict = self.append(&heads, &mut events, request)?;
                    if matches!(verdict, Verdict::Done(_)) {
                        written.events += invariant!(
                            u64::try_from(request.events.len()),
                            "a length in memory fits into 64 bits"
                        );
                    }
                    verdict
                }
                Request::Snapshot(assistant, snapshot, _) => {
                    snapshots::save(transaction, assistant, snapshot)?;
                    self.bytes += snapshot.payload.len();
                    written.snapshots += 1;
                    Verdict::Done(snapshot.seq)
                }
                Request::Adopt(assistant, from, _) => {
                    let verdict = self.adopt(&heads, &mut events, (assistant, &**from))?;
                    if let Verdict::Done(end) = &verdict {
                        written.events += end.0;
                    }
                    verdict
                }
                Request::Recover | Request::Wake => Verdict::Done(Seq::ZERO),
            };
            self.verdicts.push(verdict);
        }
        // Once per assistant and not once per request: an assistant may have many requests in one batch.
        for (assistant, end) in &self.ends {
            let head = encode_head(assistant, *end);
            heads.insert(assistant.as_str().as_bytes(), head.as_slice())?;
        }
        Ok(written)
    }

    fn append(
        &mut self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &mut Table<'_, Bytes, Bytes>,
        request: &AppendRequest,
    ) -> Result<Verdict, Fault> {
        let (assistant, expected) = (&request.assistant, request.expected);
        if let Some(verdict) = self.unexpected(heads, events, (assistant, expected))? {
            return Ok(verdict);
        }
        let mut seq = expected;
        for event in &request.events {
            seq = seq.next();
            self.insert(
                events,
                (assistant, seq),
                &encode_event(assistant, seq, event),
            )?;
        }
        if seq != expected {
            self.ends.insert(assistant.clone(), seq);
        }
        Ok(Verdict::Done(seq))
    }

    /// Copies a whole log. Reads one page at a time, so a log of any length takes bounded memory.
    fn adopt(
        &mut self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &mut Table<'_, Bytes, Bytes>,
        (assistant, from): (&AssistantId, &DatabaseHandle),
    ) -> Result<Verdict, Fault> {
        if let Some(verdict) = self.unexpected(heads, events, (assistant, Seq::ZERO))? {
            return Ok(verdict);
        }
        let mut seq = Seq::ZERO;
        loop {
            // After an error the transaction is dropped, with the pages before.
            let page = events::page(from, assistant, seq, PAGE)?;
            let Some(last) = page.last() else {
                break;
            };
            seq = last.seq;
            for event in &page {
                let bytes = encode_stored(assistant, event);
                self.insert(events, (assistant, event.seq), &bytes)?;
            }
        }
        if seq != Seq::ZERO {
            self.ends.insert(assistant.clone(), seq);
        }
        Ok(Verdict::Done(seq))
    }

    fn insert(
        &mut self,
        events: &mut Table<'_, Bytes, Bytes>,
        (assistant, seq): (&AssistantId, Seq),
        frame: &[u8],
    ) -> Result<(), Fault> {
        events.insert(key(assistant, seq).as_slice(), frame)?;
        self.bytes += frame.len();
        if self.bytes <= MOST_RECORD_BYTES {
            self.frames.extend_from_slice(frame);
        }
        Ok(())
    }

    /// The verdict on a request that expects the log to end at another place than it does.
    fn unexpected(
        &self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &Table<'_, Bytes, Bytes>,
        (assistant, expected): (&AssistantId, Seq),
    ) -> Result<Option<Verdict>, Fault> {
        match self.end(heads, events, assistant) {
            Ok(actual) if actual == expected => Ok(None),
            Ok(actual) => Ok(Some(Verdict::Conflict { expected, actual })),
            Err(fault @ Fault::Unusable(_)) => Ok(Some(Verdict::Refused(fault))),
            Err(fault) => Err(fault),
        }
    }

    /// Where the log ends after the earlier requests of this batch.
    fn end(
        &self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &Table<'_, Bytes, Bytes>,
        assistant: &AssistantId,
    ) -> Result<Seq, Fault> {
        if let Some(end) = self.ends.get(assistant) {
            return Ok(*end);
        }
        events::checked_end(heads, events, assistant)
    }
}
