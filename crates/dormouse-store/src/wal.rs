//! The write-ahead file: appends that are on disk and not yet in the log's own file.
//!
//! A durable commit of redb costs two syncs and writes about twenty pages. An append costs one sync and writes two pages: its
//! record is written here and synced, then redb commits in memory only. One durable commit of redb later takes over all of
//! them, and begins a new generation of records at the start of this file.
//!
//! Each record is written twice, and no page with a record is written again in its generation. So one damaged sector leaves
//! an intact copy. If the last record has no intact copy, it was never acknowledged. `docs/format.md` has the bytes.

use std::collections::BTreeMap;

use dormouse_contracts::{AssistantId, Seq, invariant};
use dormouse_database::unique_id;

use crate::frame::{self, Fields, FrameFault, Magic};

mod replay;
mod store;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use replay::PendingAppends;
pub use store::write_ahead_file;
pub(crate) use store::{WalFile, WalStore};
pub(crate) use writer::{Taken, WalWriter};

/// Both copies of a record begin at a multiple of this. Usual disks write no larger unit at once.
const PAGE_BYTES: usize = 4096;
/// The length of a new file. It is filled with zeros and synced before it is used, so that a sync of a record writes no
/// metadata.
const FIRST_BYTES: usize = 256 * 1024;
/// From this length on, no record is added.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// The largest record. For more, a durable commit of redb is as good.
pub(crate) const MOST_RECORD_BYTES: usize = 1024 * 1024;

/// The name of a generation of records. It is random, so it also distinguishes logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation([u8; 32]);

impl Generation {
    pub(crate) fn new() -> Self {
        let id = unique_id();
        let id = id.as_bytes().first_chunk();
        Self(*invariant!(id, "an identity has 32 digits", &[0; 32]))
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.try_into().ok()?))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Why the write-ahead file and the log cannot be used together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WalFault {
    #[error("the write-ahead file is missing, although the log was not closed")]
    Missing,
    #[error("only the write-ahead file is left, and the log itself is missing")]
    Alone,
    #[error(
        "the write-ahead file was cut short: it has {found} bytes and should have at least {expected}"
    )]
    Truncated { found: usize, expected: usize },
    #[error(
        "both copies of append {number} in the write-ahead file are damaged, and append {last} is intact"
    )]
    Damaged { number: u64, last: u64 },
    #[error(
        "the write-ahead file has a record of format {found}, which this version does not read; use the newer version of the program"
    )]
    Newer { found: u16 },
    #[error(
        "the write-ahead file has event {seq} of {assistant}, but the log ends at event {end}: the two files are not of one moment"
    )]
    Foreign {
        assistant: AssistantId,
        seq: Seq,
        end: Seq,
    },
    #[error(
        "the write-ahead file has another event {seq} of {assistant} than the log: the two files do not belong together"
    )]
    Contradiction { assistant: AssistantId, seq: Seq },
}

/// An intact record.
struct Record<'a> {
    generation: Generation,
    number: u64,
    /// The frames of its events, one after another.
    events: &'a [u8],
    /// The length of its own frame.
    length: usize,
}

/// The records of a write-ahead file. Each is the event frames of one commit, one after another.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Records<'a> {
    /// The records of the generation, in order.
    current: Vec<&'a [u8]>,
    /// Intact records of other generations.
    others: Vec<&'a [u8]>,
    /// The numbers of records of which one copy is damaged.
    mended: Vec<u64>,
}

/// The frame of a record.
fn encode_record(generation: Generation, number: u64, events: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(40 + events.len());
    body.extend_from_slice(generation.bytes());
    body.extend_from_slice(&number.to_le_bytes());
    body.extend_from_slice(events);
    frame::seal(Magic::WriteAhead, &body)
}

/// The record that begins here, if it is intact.
fn record_at(bytes: &[u8]) -> Result<Option<Record<'_>>, WalFault> {
    let length = frame::claimed_length(Magic::WriteAhead, bytes);
    let Some(framed) = length.and_then(|length| bytes.get(..length)) else {
        return Ok(None);
    };
    let mut fields = match frame::unseal(Magic::WriteAhead, framed) {
        Ok(body) => Fields::of(body),
        Err(FrameFault::Damaged) => return Ok(None),
        Err(FrameFault::Newer { found }) => return Err(WalFault::Newer { found }),
    };
    let (Some(generation), Some(number)) = (fields.array(), fields.u64()) else {
        return Ok(None);
    };
    Ok(Some(Record {
        generation: Generation(generation),
        number,
        events: fields.rest(),
        length: framed.len(),
    }))
}

/// Finds the records of a write-ahead file.
fn read_records(bytes: &[u8], generation: Option<Generation>) -> Result<Records<'_>, WalFault> {
    let mut current = BTreeMap::new();
    let mut records = Records::default();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(found) = record_at(rest)? else {
            at += PAGE_BYTES;
            continue;
        };
        if Some(found.generation) == generation {
            current.entry(found.number).or_insert((found.events, 0)).1 += 1;
        } else {
            records.others.push(found.events);
        }
        // An intact record is skipped as a whole: its events can contain anything.
        at += found.length.next_multiple_of(PAGE_BYTES);
    }
    let last = current.last_key_value().map_or(0, |(last, _)| *last);
    for (expected, (number, (events, copies))) in (1..).zip(current) {
        // Only the last record can be incomplete: the next one is written after it was synced.
        if number != expected {
            let number = expected;
            return Err(WalFault::Damaged { number, last });
        }
        if copies < 2 {
            records.mended.push(number);
        }
        records.current.push(events);
    }
    Ok(records)
}

/// Whether a write-ahead file has no record.
pub(crate) fn is_empty(bytes: &[u8]) -> bool {
    read_records(bytes, None).is_ok_and(|records| records.others.is_empty())
}

/// The event frames of a record.
fn events_of(record: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = record;
    std::iter::from_fn(move || {
        let length = frame::claimed_length(Magic::Event, rest)?;
        let (event, later) = rest.split_at_checked(length)?;
        rest = later;
        Some(event)
    })
}
