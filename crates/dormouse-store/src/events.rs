//! Reading one assistant's events in order. Every returned event matches its checksum, its key and the log's head,
//! which stores where the log ends.

use dormouse_contracts::{AssistantId, ReadErrorKind, Seq, StoredEvent};
use dormouse_database::DatabaseHandle;
use redb::{ReadTransaction, ReadableTable};

use crate::{
    fault::{Fault, contained},
    frame::{FORMAT, FrameFault},
    rows::{EVENTS, HEADS, decode_event_at, decode_head, key, parse_key},
};

/// The maximum payload of a page, in bytes. Only the first event of a page may exceed it.
const PAGE_BYTES: usize = 32 * 1024 * 1024;

/// Reads up to `limit` events after `after`.
pub(crate) fn page(
    database: &DatabaseHandle,
    assistant: &AssistantId,
    after: Seq,
    limit: usize,
) -> Result<Vec<StoredEvent>, Fault> {
    let mut next = after.next();
    let read = contained(|| {
        let transaction = database.begin_read()?;
        events(&transaction, assistant, after, limit, &mut next)
    });
    read.map_err(|fault| match fault {
        Fault::Unusable(kind) => Fault::Unusable(kind),
        damage if damage.is_damage() => {
            tracing::warn!(%assistant, at = %next, fault = %damage, "the file is damaged here");
            Fault::Unusable(ReadErrorKind::Corrupt { at: next })
        }
        other => other,
    })
}

/// Like [`page`], within a transaction. `next` is always the first sequence number that was not read yet.
pub(crate) fn events(
    transaction: &ReadTransaction,
    assistant: &AssistantId,
    after: Seq,
    limit: usize,
    next: &mut Seq,
) -> Result<Vec<StoredEvent>, Fault> {
    let mut found = Vec::new();
    let mut bytes = 0_usize;
    if limit == 0 {
        return Ok(found);
    }
    let table = transaction.open_table(EVENTS)?;
    let (first, last) = (key(assistant, *next), key(assistant, Seq(u64::MAX)));
    if after < Seq(u64::MAX) {
        for entry in table.range(first.as_slice()..=last.as_slice())? {
            let (key, value) = entry?;
            let value = value.value();
            if found.len() == limit || (bytes + value.len() > PAGE_BYTES && !found.is_empty()) {
                return Ok(found);
            }
            // A gap in the keys is a lost event. Without this check the reader would skip it silently.
            expect_key(key.value(), *next)?;
            bytes += value.len();
            found.push(decode(assistant, *next, value)?);
            *next = next.next();
        }
    }
    if found.len() < limit {
        check_end(transaction, assistant, after, *next, &found)?;
    }
    Ok(found)
}

fn expect_key(key: &[u8], expected: Seq) -> Result<(), Fault> {
    match parse_key(key) {
        Some((_, seq)) if seq == expected => Ok(()),
        Some((_, seq)) if seq > expected => {
            Err(Fault::Unusable(ReadErrorKind::Missing { at: expected }))
        }
        _ => Err(Fault::Unusable(ReadErrorKind::Corrupt { at: expected })),
    }
}

fn decode(assistant: &AssistantId, seq: Seq, bytes: &[u8]) -> Result<StoredEvent, Fault> {
    decode_event_at(assistant, seq, bytes).map_err(|fault| Fault::Unusable(unusable(fault, seq)))
}

/// The fault of a log whose damage cannot be located at an event.
pub(crate) fn corrupt() -> Fault {
    Fault::Unusable(ReadErrorKind::Corrupt { at: Seq(1) })
}

/// The error for a reader that met this fault at this sequence number.
pub(crate) fn unusable(fault: FrameFault, at: Seq) -> ReadErrorKind {
    match fault {
        FrameFault::Damaged => ReadErrorKind::Corrupt { at },
        FrameFault::Newer { found } => ReadErrorKind::Newer {
            at,
            found,
            known: FORMAT,
        },
    }
}

/// Checks against the head that the log really ends here, where no more events were found.
fn check_end(
    transaction: &ReadTransaction,
    assistant: &AssistantId,
    after: Seq,
    next: Seq,
    found: &[StoredEvent],
) -> Result<(), Fault> {
    let end = end(transaction, assistant, next)?;
    if end >= next && after < Seq(u64::MAX) {
        return Err(Fault::Unusable(ReadErrorKind::Missing { at: next }));
    }
    match found.last() {
        Some(last) if last.seq > end => {
            Err(Fault::Unusable(ReadErrorKind::Corrupt { at: end.next() }))
        }
        Some(_) | None => Ok(()),
    }
}

/// Where an assistant's log ends according to its head. `at` is where the reader is, for errors.
pub(crate) fn end(
    transaction: &ReadTransaction,
    assistant: &AssistantId,
    at: Seq,
) -> Result<Seq, Fault> {
    let heads = transaction.open_table(HEADS)?;
    match heads.get(assistant.as_str().as_bytes())? {
        None => Ok(Seq::ZERO),
        Some(head) => decode_head(assistant, head.value())
            .map_err(|fault| Fault::Unusable(unusable(fault, at))),
    }
}

/// All assistants with a head, by name, and where their logs end.
pub(crate) fn assistants(transaction: &ReadTransaction) -> Result<Vec<(AssistantId, Seq)>, Fault> {
    let heads = transaction.open_table(HEADS)?;
    let mut found = Vec::new();
    for entry in heads.iter()? {
        let (name, head) = entry?;
        let assistant = std::str::from_utf8(name.value())
            .ok()
            .and_then(|name| AssistantId::try_new(name).ok())
            .ok_or_else(corrupt)?;
        let end = decode_head(&assistant, head.value())
            .map_err(|fault| Fault::Unusable(unusable(fault, Seq(1))))?;
        found.push((assistant, end));
    }
    Ok(found)
}

/// The sequence number of an assistant's last event, independent of its head; zero if it has none.
pub(crate) fn last_event(
    events: &impl ReadableTable<&'static [u8], &'static [u8]>,
    assistant: &AssistantId,
) -> Result<Seq, Fault> {
    let (first, last) = (key(assistant, Seq::ZERO), key(assistant, Seq(u64::MAX)));
    match events
        .range(first.as_slice()..=last.as_slice())?
        .next_back()
    {
        None => Ok(Seq::ZERO),
        Some(entry) => parse_key(entry?.0.value())
            .map(|(_, seq)| seq)
            .ok_or_else(corrupt),
    }
}

/// Where an assistant's log ends. The head must agree with the events: if damage has set the head back, an append would
/// overwrite events.
pub(crate) fn checked_end(
    heads: &impl ReadableTable<&'static [u8], &'static [u8]>,
    events: &impl ReadableTable<&'static [u8], &'static [u8]>,
    assistant: &AssistantId,
) -> Result<Seq, Fault> {
    let end = match heads.get(assistant.as_str().as_bytes())? {
        None => Seq::ZERO,
        Some(head) => decode_head(assistant, head.value())
            .map_err(|fault| Fault::Unusable(unusable(fault, Seq(1))))?,
    };
    let last = last_event(events, assistant)?;
    if last == end {
        Ok(end)
    } else {
        let at = end.min(last).next();
        Err(Fault::Unusable(ReadErrorKind::Missing { at }))
    }
}

/// The assistants with an entry in a table that has [`key`]s. Takes one look-up per assistant.
pub(crate) fn owners(
    table: &impl ReadableTable<&'static [u8], &'static [u8]>,
) -> Result<Vec<AssistantId>, Fault> {
    let mut found = Vec::new();
    let mut from = Vec::new();
    loop {
        let Some(entry) = table.range(from.as_slice()..)?.next() else {
            return Ok(found);
        };
        let Some((assistant, _)) = parse_key(entry?.0.value()) else {
            return Err(corrupt());
        };
        // The smallest key after all keys of this assistant.
        from = key(&assistant, Seq(u64::MAX));
        from.push(0);
        found.push(assistant);
    }
}

#[cfg(test)]
mod tests;
