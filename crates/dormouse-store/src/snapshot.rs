//! Snapshots: kept beside the events, checked like them, and always expendable.

use dormouse_contracts::{AssistantId, Seq, Snapshot};
use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use crate::{
    bytes::Fields,
    fault::Fault,
    frame::{self, FrameFault, Magic},
    tables::{SNAPSHOTS, key, parse_key},
};

/// The largest payload of a snapshot, in bytes.
pub const MAX_SNAPSHOT_BYTES: usize = 64 * 1024 * 1024;

/// How many snapshots of an assistant are kept: the newest, and one more in case it is damaged.
const KEPT: usize = 2;

pub(crate) fn encode(assistant: &AssistantId, snapshot: &Snapshot) -> Vec<u8> {
    let name = assistant.as_str();
    let mut body = Vec::with_capacity(11 + name.len() + snapshot.payload.len());
    body.extend_from_slice(&snapshot.schema.to_le_bytes());
    body.extend_from_slice(&snapshot.seq.0.to_le_bytes());
    body.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(&snapshot.payload);
    frame::seal(Magic::Snapshot, &body)
}

pub(crate) fn decode_at(
    assistant: &AssistantId,
    seq: Seq,
    bytes: &[u8],
) -> Result<Snapshot, FrameFault> {
    let body = frame::unseal(Magic::Snapshot, bytes)?;
    let (name, snapshot) = fields(body).ok_or(FrameFault::Damaged)?;
    if name == assistant.as_str() && snapshot.seq == seq {
        Ok(snapshot)
    } else {
        Err(FrameFault::Damaged)
    }
}

fn fields(body: &[u8]) -> Option<(&str, Snapshot)> {
    let mut fields = Fields::of(body);
    let schema = fields.u16()?;
    let seq = Seq(fields.u64()?);
    let length = usize::from(fields.u8()?);
    let name = fields.text(length)?;
    let payload = fields.rest().to_vec();
    Some((
        name,
        Snapshot {
            seq,
            schema,
            payload,
        },
    ))
}

/// Writes a snapshot and removes all but the newest of its assistant.
pub(crate) fn save(
    transaction: &WriteTransaction,
    assistant: &AssistantId,
    snapshot: &Snapshot,
) -> Result<(), Fault> {
    let mut table = transaction.open_table(SNAPSHOTS)?;
    let bytes = encode(assistant, snapshot);
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

/// The newest snapshot up to a place that is intact. A damaged one is reported and passed over.
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
            .and_then(|seq| decode_at(assistant, seq, value.value()))
        {
            Ok(snapshot) => return Ok(Some(snapshot)),
            Err(fault) => {
                tracing::warn!(%assistant, ?seq, %fault, "a snapshot is passed over");
            }
        }
    }
    Ok(None)
}
