//! Saves and loads snapshots. They have checksums, as events do, and can always be created again from the events.

use dormouse_contracts::{AssistantId, Seq, Snapshot};
use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use crate::{
    fault::Fault,
    frame::FrameFault,
    rows::{SNAPSHOTS, decode_snapshot_at, encode_snapshot, key, parse_key},
};

/// How many snapshots of an assistant are kept: the newest, and the one before it in case the newest is damaged.
const KEPT: usize = 2;

/// Writes a snapshot, and removes all but the newest [`KEPT`] snapshots of its assistant.
pub(crate) fn save(
    transaction: &WriteTransaction,
    assistant: &AssistantId,
    snapshot: &Snapshot,
) -> Result<(), Fault> {
    let mut table = transaction.open_table(SNAPSHOTS)?;
    let bytes = encode_snapshot(assistant, snapshot);
    table.insert(key(assistant, snapshot.seq).as_slice(), bytes.as_slice())?;
    let mut surplus = Vec::new();
    let (first, last) = (key(assistant, Seq::ZERO), key(assistant, Seq(u64::MAX)));
    for entry in table
        .range(first.as_slice()..=last.as_slice())?
        .rev()
        .skip(KEPT)
    {
        surplus.push(entry?.0.value().to_vec());
    }
    for old in surplus {
        table.remove(old.as_slice())?;
    }
    Ok(())
}

/// The newest intact snapshot up to a sequence number. Damaged ones are logged and skipped.
pub(crate) fn load(
    transaction: &ReadTransaction,
    assistant: &AssistantId,
    up_to: Seq,
) -> Result<Option<Snapshot>, Fault> {
    let table = transaction.open_table(SNAPSHOTS)?;
    let (first, last) = (key(assistant, Seq::ZERO), key(assistant, up_to));
    for entry in table.range(first.as_slice()..=last.as_slice())?.rev() {
        let (key, value) = entry?;
        let seq = parse_key(key.value()).map(|(_, seq)| seq);
        match seq
            .ok_or(FrameFault::Damaged)
            .and_then(|seq| decode_snapshot_at(assistant, seq, value.value()))
        {
            Ok(snapshot) => return Ok(Some(snapshot)),
            Err(fault) => {
                tracing::warn!(%assistant, ?seq, %fault, "a damaged snapshot is skipped");
            }
        }
    }
    Ok(None)
}
