//! Binding a memory to a log other than its own: a log that was lost and begun anew, or restored to an earlier point.

use std::collections::BTreeMap;

use dormouse_contracts::{AssistantId, Outcome, ReadEvents, Sender, Seq, Timestamp};
use dormouse_memory::{LogPosition, Memory, RecordId};

use super::{
    catch_up::{CatchUpError, check_log},
    context::Read,
    reading::{Log, PAGE},
};
use crate::event::{Event, LOG_ORIGIN};

/// How many records are read at a time.
const RECORDS: usize = 1_000;
/// Why records were detached.
const REASON: &str = "bound to another log";

/// The result of binding a memory to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebound {
    /// The memory follows this log already. Nothing was changed.
    NothingToDo,
    /// The memory goes on with this log.
    Bound {
        /// The last event that the memory's own log and this one share.
        shared: Seq,
        /// How many records come from events that this log does not hold. They are kept.
        detached: usize,
    },
}

/// Binds a memory to this log, whatever log it has taken in before. Nothing is lost: records of events that the log
/// does not hold are detached and kept, and so is everything that people changed by hand. The part that the two logs
/// share is not taken in again; [`catch_up`](super::catch_up()) takes in the rest.
///
/// Reads the records, and the log up to the point where the two differ. Nobody else may write to either meanwhile.
///
/// # Errors
///
/// [`CatchUpError`]; nothing was changed.
pub async fn rebind<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    memory: &Memory,
) -> Result<Rebound, CatchUpError> {
    match check_log(log, key, memory).await {
        Ok(()) => return Ok(Rebound::NothingToDo),
        Err(CatchUpError::Ahead { .. } | CatchUpError::OtherLog { .. }) => {}
        Err(error) => return Err(error),
    }
    let known = from_log(memory).await?;
    let through = memory.log_position().await?.seq;
    let shared = shared(&Log { events: log, key }, &known, through).await?;
    let behind = known.range(Seq(shared.seq + 1)..);
    let detached: Vec<RecordId> = behind.map(|(_, record)| record.id).collect();
    let count = detached.len();
    memory.rebind_log(shared, detached, REASON).await?;
    Ok(Rebound::Bound {
        shared: Seq(shared.seq),
        detached: count,
    })
}

/// A record that was made from an event.
struct OfEvent {
    id: RecordId,
    at: Timestamp,
}

/// The records that were made from a log, by event.
async fn from_log(memory: &Memory) -> Result<BTreeMap<Seq, OfEvent>, CatchUpError> {
    let mut known = BTreeMap::new();
    let mut after = None;
    loop {
        let page = memory.records(after, RECORDS).await?;
        let Some(last) = page.last() else {
            return Ok(known);
        };
        after = Some(last.id);
        for record in &page {
            let (id, at) = (record.id, record.at);
            let origin = record.provenance.origin.as_deref();
            let seq = origin.and_then(|origin| origin.strip_prefix(LOG_ORIGIN)?.parse().ok());
            known.extend(seq.map(|seq| (Seq(seq), OfEvent { id, at })));
        }
    }
}

/// The last event before the log differs from what the memory knows of its own log.
async fn shared<L: ReadEvents + ?Sized>(
    log: &Log<'_, L>,
    known: &BTreeMap<Seq, OfEvent>,
    through: u64,
) -> Result<LogPosition, CatchUpError> {
    let mut shared = LogPosition::default();
    loop {
        let page = log.page(Seq(shared.seq), PAGE).await?;
        if page.is_empty() {
            return Ok(shared);
        }
        for read in &page {
            let record = known.get(&read.stored.seq);
            if read.stored.seq.0 > through || !agrees(read, record) {
                return Ok(shared);
            }
            shared = read.position();
        }
    }
}

/// Whether a memory would make this record from the event, or none if there is none.
fn agrees(read: &Read, record: Option<&OfEvent>) -> bool {
    let found = record.map(|record| record.at);
    match &read.event {
        Event::Perceived(perceived) => {
            let attested = &perceived.perception.attested;
            match attested.sender {
                Sender::Myself { .. } => found.is_none(),
                _ => found == Some(attested.at),
            }
        }
        Event::Remembered(_) => found == Some(read.stored.at),
        // Not every effect that was done is speech.
        Event::EffectSettled(settled) if matches!(settled.outcome, Outcome::Done(_)) => {
            found.is_none_or(|at| at == read.stored.at)
        }
        _ => found.is_none(),
    }
}
