//! What one transaction does for a batch of requests.

use std::collections::HashMap;

use dormouse_contracts::{
    AppendError, AppendErrorKind, AppendRequest, AssistantId, ReadErrorKind, Seq,
};
use redb::{ReadableTable, Table, WriteTransaction};

use super::Request;
use crate::{
    fault::Fault,
    head, reading, record, snapshot,
    tables::{EVENTS, HEADS, key},
};

/// What becomes of one request of a batch that could be committed.
pub(super) enum Verdict {
    Done(Seq),
    Conflict {
        expected: Seq,
        actual: Seq,
    },
    /// This assistant's own records are damaged; the others in the batch are not concerned.
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

/// What a batch comes to while its transaction is open.
#[derive(Default)]
pub(super) struct Batch {
    /// Where the logs end that this batch has written to.
    pub(super) ends: HashMap<AssistantId, Seq>,
    /// One for each request, in order.
    pub(super) verdicts: Vec<Verdict>,
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
    /// Writes what can be written of the requests. A fault is of the database, and the transaction must be given up.
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
                        written.events += u64::try_from(request.events.len()).unwrap_or(u64::MAX);
                    }
                    verdict
                }
                Request::Snapshot(assistant, snapshot, _) => {
                    snapshot::save(transaction, assistant, snapshot)?;
                    written.snapshots += 1;
                    Verdict::Done(snapshot.seq)
                }
                Request::Recover | Request::Wake => Verdict::Done(Seq::ZERO),
            };
            self.verdicts.push(verdict);
        }
        for (assistant, end) in &self.ends {
            let head = head::encode(assistant, *end);
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
        let actual = match self.end(heads, events, assistant) {
            Ok(end) => end,
            Err(fault @ Fault::Unusable(_)) => return Ok(Verdict::Refused(fault)),
            Err(fault) => return Err(fault),
        };
        if actual != expected {
            return Ok(Verdict::Conflict { expected, actual });
        }
        let mut seq = actual;
        for event in &request.events {
            seq = seq.next();
            let bytes = record::encode(assistant, seq, event);
            events.insert(key(assistant, seq).as_slice(), bytes.as_slice())?;
        }
        if seq != actual {
            self.ends.insert(assistant.clone(), seq);
        }
        Ok(Verdict::Done(seq))
    }

    /// Where the log ends after what came earlier in this batch. The head must agree with the events: writing
    /// after a head that damage set back would replace history.
    fn end(
        &self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &Table<'_, Bytes, Bytes>,
        assistant: &AssistantId,
    ) -> Result<Seq, Fault> {
        if let Some(end) = self.ends.get(assistant) {
            return Ok(*end);
        }
        let end = match heads.get(assistant.as_str().as_bytes())? {
            None => Seq::ZERO,
            Some(bytes) => head::decode(assistant, bytes.value())
                .map_err(|fault| Fault::Unusable(reading::unusable(fault, Seq(1))))?,
        };
        let last = reading::last_place(events, assistant)?;
        if last == end {
            Ok(end)
        } else {
            let at = end.min(last).next();
            Err(Fault::Unusable(ReadErrorKind::Missing { at }))
        }
    }
}
