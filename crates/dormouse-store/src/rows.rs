//! The tables of the file, the order of their keys, and what each value contains. `docs/format.md` has the bytes.

use dormouse_contracts::{AssistantId, NewEvent, Seq, Snapshot, StoredEvent, Timestamp, invariant};
use redb::TableDefinition;

use crate::frame::{self, Fields, FrameFault, Magic};

#[cfg(test)]
mod tests;

type Bytes = &'static [u8];

/// [`key`] of an event → [`encode_event`].
pub(crate) const EVENTS: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("events");
/// Assistant → [`encode_head`].
pub(crate) const HEADS: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("heads");
/// [`key`] of a snapshot → [`encode_snapshot`].
pub(crate) const SNAPSHOTS: TableDefinition<'static, Bytes, Bytes> =
    TableDefinition::new("snapshots");
/// Name of a fact about the file → [`encode_fact`].
pub(crate) const META: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("meta");

/// The largest payload of one event, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 16 * 1024 * 1024;

/// The longest name of an event's kind, in bytes of ASCII.
pub const MAX_KIND_BYTES: usize = 64;

/// The largest payload of a snapshot, in bytes.
pub const MAX_SNAPSHOT_BYTES: usize = 64 * 1024 * 1024;

/// The largest frame of an event: header, fixed fields, names and payload. A longer frame in a damaged file is not an
/// event.
pub(crate) const MAX_EVENT_BYTES: usize =
    frame::HEADER_BYTES + 20 + 64 + MAX_KIND_BYTES + MAX_PAYLOAD_BYTES;

/// A key: the assistant's name, a zero byte (which no name contains), and the sequence number in big-endian order. So
/// in byte order, the keys of one assistant are neighbours and sorted by sequence number.
pub(crate) fn key(assistant: &AssistantId, seq: Seq) -> Vec<u8> {
    let name = assistant.as_str().as_bytes();
    let mut key = Vec::with_capacity(name.len() + 9);
    key.extend_from_slice(name);
    key.push(0);
    key.extend_from_slice(&seq.0.to_be_bytes());
    key
}

/// The assistant and the sequence number of a key; `None` if the bytes are not a key.
pub(crate) fn parse_key(key: &[u8]) -> Option<(AssistantId, Seq)> {
    let (rest, seq) = key.split_last_chunk::<8>()?;
    let (zero, name) = rest.split_last()?;
    if *zero != 0 {
        return None;
    }
    let name = std::str::from_utf8(name).ok()?;
    Some((
        AssistantId::try_new(name).ok()?,
        Seq(u64::from_be_bytes(*seq)),
    ))
}

/// An event and its assistant, as decoded from a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedEvent {
    pub(crate) assistant: AssistantId,
    pub(crate) event: StoredEvent,
}

/// Whether the log accepts the event: its kind is valid and its payload is not too large.
pub(crate) fn is_acceptable(event: &NewEvent) -> bool {
    is_kind(event.kind) && event.payload.len() <= MAX_PAYLOAD_BYTES
}

fn is_kind(kind: &str) -> bool {
    (1..=MAX_KIND_BYTES).contains(&kind.len()) && kind.is_ascii()
}

/// The frame of an acceptable event. The checksum covers the assistant and the sequence number. So a record at a wrong
/// position is not mistaken for the record that belongs there.
pub(crate) fn encode_event(assistant: &AssistantId, seq: Seq, event: &NewEvent) -> Vec<u8> {
    encode(
        assistant,
        seq,
        event.at,
        event.kind,
        event.schema,
        &event.payload,
    )
}

/// The frame of an event that was read from a log.
pub(crate) fn encode_stored(assistant: &AssistantId, event: &StoredEvent) -> Vec<u8> {
    let StoredEvent {
        seq,
        at,
        kind,
        schema,
        payload,
    } = event;
    encode(assistant, *seq, *at, kind, *schema, payload)
}

fn encode(
    assistant: &AssistantId,
    seq: Seq,
    at: Timestamp,
    kind: &str,
    schema: u16,
    payload: &[u8],
) -> Vec<u8> {
    let name = assistant.as_str();
    let mut body = Vec::with_capacity(20 + name.len() + kind.len() + payload.len());
    body.extend_from_slice(&schema.to_le_bytes());
    body.extend_from_slice(&seq.0.to_le_bytes());
    body.extend_from_slice(&at.as_micros().to_le_bytes());
    body.push(length_byte(name));
    body.push(length_byte(kind));
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(kind.as_bytes());
    body.extend_from_slice(payload);
    frame::seal(Magic::Event, &body)
}

pub(crate) fn decode_event(bytes: &[u8]) -> Result<OwnedEvent, FrameFault> {
    let body = frame::unseal(Magic::Event, bytes)?;
    event_fields(body).ok_or(FrameFault::Damaged)
}

fn event_fields(body: &[u8]) -> Option<OwnedEvent> {
    let mut fields = Fields::of(body);
    let schema = fields.u16()?;
    let seq = Seq(fields.u64()?);
    let at = Timestamp::from_micros(fields.i64()?);
    let name_bytes = usize::from(fields.u8()?);
    let kind_bytes = usize::from(fields.u8()?);
    let assistant = AssistantId::try_new(fields.text(name_bytes)?).ok()?;
    let kind = fields.text(kind_bytes)?;
    is_kind(kind).then(|| OwnedEvent {
        assistant,
        event: StoredEvent {
            seq,
            at,
            kind: kind.to_owned(),
            schema,
            payload: fields.rest().to_vec(),
        },
    })
}

/// Decodes an event. It must belong to this assistant and have this sequence number.
pub(crate) fn decode_event_at(
    assistant: &AssistantId,
    seq: Seq,
    bytes: &[u8],
) -> Result<StoredEvent, FrameFault> {
    let found = decode_event(bytes)?;
    if found.assistant == *assistant && found.event.seq == seq {
        Ok(found.event)
    } else {
        Err(FrameFault::Damaged)
    }
}

/// The frame of a head: where an assistant's log ends.
///
/// A head repeats the sequence number of the last event, and is written in the same transaction. Without it, a log
/// whose end was lost would look like a shorter log, and the next append would overwrite history.
pub(crate) fn encode_head(assistant: &AssistantId, end: Seq) -> Vec<u8> {
    let name = assistant.as_str();
    let mut body = Vec::with_capacity(9 + name.len());
    body.extend_from_slice(&end.0.to_le_bytes());
    body.push(length_byte(name));
    body.extend_from_slice(name.as_bytes());
    frame::seal(Magic::Head, &body)
}

pub(crate) fn decode_head(assistant: &AssistantId, bytes: &[u8]) -> Result<Seq, FrameFault> {
    let mut fields = Fields::of(frame::unseal(Magic::Head, bytes)?);
    let end = fields.u64().ok_or(FrameFault::Damaged)?;
    let length = usize::from(fields.u8().ok_or(FrameFault::Damaged)?);
    let name = fields.text(length).ok_or(FrameFault::Damaged)?;
    (name == assistant.as_str() && fields.rest().is_empty())
        .then_some(Seq(end))
        .ok_or(FrameFault::Damaged)
}

pub(crate) fn encode_snapshot(assistant: &AssistantId, snapshot: &Snapshot) -> Vec<u8> {
    let name = assistant.as_str();
    let mut body = Vec::with_capacity(11 + name.len() + snapshot.payload.len());
    body.extend_from_slice(&snapshot.schema.to_le_bytes());
    body.extend_from_slice(&snapshot.seq.0.to_le_bytes());
    body.push(length_byte(name));
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(&snapshot.payload);
    frame::seal(Magic::Snapshot, &body)
}

/// Decodes a snapshot. It must belong to this assistant and have this sequence number.
pub(crate) fn decode_snapshot_at(
    assistant: &AssistantId,
    seq: Seq,
    bytes: &[u8],
) -> Result<Snapshot, FrameFault> {
    let body = frame::unseal(Magic::Snapshot, bytes)?;
    let (name, snapshot) = snapshot_fields(body).ok_or(FrameFault::Damaged)?;
    if name == assistant.as_str() && snapshot.seq == seq {
        Ok(snapshot)
    } else {
        Err(FrameFault::Damaged)
    }
}

fn snapshot_fields(body: &[u8]) -> Option<(&str, Snapshot)> {
    let mut fields = Fields::of(body);
    let schema = fields.u16()?;
    let seq = Seq(fields.u64()?);
    let length = usize::from(fields.u8()?);
    let name = fields.text(length)?;
    let snapshot = Snapshot {
        seq,
        schema,
        payload: fields.rest().to_vec(),
    };
    Some((name, snapshot))
}

/// The frame of a fact about the file as a whole.
pub(crate) fn encode_fact(name: &str, value: &[u8]) -> Vec<u8> {
    let mut body = vec![length_byte(name)];
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(value);
    frame::seal(Magic::Meta, &body)
}

/// Decodes the value of a fact that must have this name.
pub(crate) fn decode_fact<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a [u8], FrameFault> {
    let mut fields = Fields::of(frame::unseal(Magic::Meta, bytes)?);
    let length = usize::from(fields.u8().ok_or(FrameFault::Damaged)?);
    match fields.text(length) {
        Some(found) if found == name => Ok(fields.rest()),
        _ => Err(FrameFault::Damaged),
    }
}

fn length_byte(name: &str) -> u8 {
    invariant!(u8::try_from(name.len()), "no name is longer than 64 bytes")
}
