//! Applies the appends of a write-ahead file to the log.

use std::{collections::BTreeMap, io};

use dormouse_contracts::{AssistantId, Seq, StoredEvent};
use dormouse_database::{Database, PendingCommits, PendingError, PendingTarget, begin_write};
use redb::{ReadableTable, Table};

use super::{FIRST_BYTES, Generation, WalFault, WalStore, events_of, read_records};
use crate::{
    events,
    fault::Fault,
    frame::FrameFault,
    rows::{EVENTS, HEADS, decode_event, encode_head, key},
    signature,
};

/// The appends in a write-ahead file.
#[derive(Debug)]
pub(crate) struct PendingAppends<S>(pub(crate) S);

impl<S: WalStore> PendingCommits for PendingAppends<S> {
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        self.0.read()
    }

    fn apply(
        &self,
        pending: Option<&[u8]>,
        database: &Database,
        target: PendingTarget,
    ) -> Result<(), PendingError> {
        let mended = apply(pending, database).map_err(|fault| match fault {
            Fault::Database(fault) => PendingError::Database(fault),
            Fault::WriteAhead(fault) => PendingError::Unusable(Box::new(fault)),
            fault => PendingError::Unusable(Box::new(fault)),
        })?;
        if target == PendingTarget::Copy {
            return Ok(());
        }
        if !mended.is_empty() {
            tracing::warn!(
                appends = ?mended,
                "one of two copies in the write-ahead file of the log is damaged, or was not finished; the other one was used"
            );
        }
        // What is left here, the next opening removes.
        if pending.is_some()
            && let Err(error) = self.0.remove()
        {
            tracing::warn!(%error, "the write-ahead file of the log could not be removed");
        }
        Ok(())
    }
}

/// Returns the numbers of the records of which one copy is damaged.
fn apply(pending: Option<&[u8]>, database: &Database) -> Result<Vec<u64>, Fault> {
    let generation = generation(database)?;
    let bytes = match (generation, pending) {
        (None, None) => return Ok(Vec::new()),
        (Some(_), None) => return Err(WalFault::Missing.into()),
        (Some(_), Some(bytes)) if bytes.len() < FIRST_BYTES => {
            let (found, expected) = (bytes.len(), FIRST_BYTES);
            return Err(WalFault::Truncated { found, expected }.into());
        }
        (_, Some(bytes)) => bytes,
    };
    let records = read_records(bytes, generation)?;
    let transaction = begin_write(database)?;
    let mut ends = Ends::default();
    {
        let heads = transaction.open_table(HEADS)?;
        let mut events = transaction.open_table(EVENTS)?;
        for event in records.current.iter().flat_map(|record| events_of(record)) {
            ends.apply(&heads, &mut events, event)?;
        }
        // Records of earlier generations are in the log, or they belong to another log. A complete log may have been rewritten
        // before the file of the log that it replaced was removed.
        let content = generation.map_or(Content::Rewritten, |_| Content::Same);
        for event in records.others.iter().flat_map(|record| events_of(record)) {
            ends.expect_known(&heads, &events, event, content)?;
        }
    }
    if generation.is_none() {
        transaction.abort()?;
        return Ok(Vec::new());
    }
    {
        let mut heads = transaction.open_table(HEADS)?;
        for (assistant, end) in &ends.0 {
            let head = encode_head(assistant, *end);
            heads.insert(assistant.as_str().as_bytes(), head.as_slice())?;
        }
    }
    signature::set_generation(&transaction, None)?;
    transaction.commit()?;
    Ok(records.mended)
}

fn generation(database: &Database) -> Result<Option<Generation>, Fault> {
    let reading = database.begin_read().map_err(redb::Error::from)?;
    signature::generation(&reading)
}

type Bytes = &'static [u8];

/// Where the logs end of the assistants that have events in the records.
#[derive(Default)]
struct Ends(BTreeMap<AssistantId, Seq>);

impl Ends {
    fn of(
        &mut self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &Table<'_, Bytes, Bytes>,
        assistant: &AssistantId,
    ) -> Result<Seq, Fault> {
        if let Some(end) = self.0.get(assistant) {
            return Ok(*end);
        }
        let end = events::checked_end(heads, events, assistant)?;
        self.0.insert(assistant.clone(), end);
        Ok(end)
    }

    /// Inserts an event. If the log has it already, an earlier replay was interrupted.
    fn apply(
        &mut self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &mut Table<'_, Bytes, Bytes>,
        event: &[u8],
    ) -> Result<(), Fault> {
        let (assistant, seq) = place(event)?;
        if seq != self.of(heads, events, &assistant)?.next() {
            return self.expect_known(heads, events, event, Content::Same);
        }
        events.insert(key(&assistant, seq).as_slice(), event)?;
        self.0.insert(assistant, seq);
        Ok(())
    }

    fn expect_known(
        &mut self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &Table<'_, Bytes, Bytes>,
        event: &[u8],
        content: Content,
    ) -> Result<(), Fault> {
        let (assistant, seq) = place(event)?;
        let end = self.of(heads, events, &assistant)?;
        if seq > end {
            return Err(foreign(assistant, seq, end));
        }
        let known = events.get(key(&assistant, seq).as_slice())?;
        let is_same = known.is_some_and(|known| match content {
            Content::Same => known.value() == event,
            Content::Rewritten => is_rewritten(known.value(), event),
        });
        match is_same {
            true => Ok(()),
            false => Err(WalFault::Contradiction { assistant, seq }.into()),
        }
    }
}

/// Whether two events differ at most in their payload.
fn is_rewritten(known: &[u8], event: &[u8]) -> bool {
    let shape = |event| {
        let StoredEvent {
            at, kind, schema, ..
        } = decode_event(event).ok()?.event;
        Some((at, kind, schema))
    };
    shape(known).is_some_and(|known| Some(known) == shape(event))
}

/// What the log must have at the place of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Same,
    /// The same, but its words may have been removed since.
    Rewritten,
}

/// Whose event this is, and where it belongs.
fn place(event: &[u8]) -> Result<(AssistantId, Seq), Fault> {
    match decode_event(event) {
        Ok(found) => Ok((found.assistant, found.event.seq)),
        Err(FrameFault::Newer { found }) => Err(WalFault::Newer { found }.into()),
        // The record is intact, so it was written like this.
        Err(FrameFault::Damaged) => Err(events::corrupt()),
    }
}

fn foreign(assistant: AssistantId, seq: Seq, end: Seq) -> Fault {
    let foreign = WalFault::Foreign {
        assistant,
        seq,
        end,
    };
    foreign.into()
}
