//! One event as bytes, and back.

use dormouse_contracts::{AssistantId, NewEvent, Seq, StoredEvent, Timestamp};

use crate::{
    bytes::Fields,
    frame::{self, FrameFault, Magic},
};

/// The largest payload of one event, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 16 * 1024 * 1024;

/// The longest name of an event's kind, in bytes of ASCII.
pub const MAX_KIND_BYTES: usize = 64;

/// Above this, a frame found in a damaged file is no event: header, fixed fields, names and payload.
pub(crate) const MAX_RECORD_BYTES: usize =
    frame::HEADER_BYTES + 20 + 64 + MAX_KIND_BYTES + MAX_PAYLOAD_BYTES;

/// An event and whose it is, as found in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) assistant: AssistantId,
    pub(crate) event: StoredEvent,
}

/// Whether the log accepts such an event at all.
pub(crate) fn is_acceptable(event: &NewEvent) -> bool {
    is_kind(event.kind) && event.payload.len() <= MAX_PAYLOAD_BYTES
}

fn is_kind(kind: &str) -> bool {
    (1..=MAX_KIND_BYTES).contains(&kind.len()) && kind.is_ascii()
}

/// The bytes of an acceptable event at its place. Whose it is and where it stands are part of what the
/// checksum covers: a record moved to another place does not pass for the one that belongs there.
pub(crate) fn encode(assistant: &AssistantId, seq: Seq, event: &NewEvent) -> Vec<u8> {
    let name = assistant.as_str();
    let mut body = Vec::with_capacity(20 + name.len() + event.kind.len() + event.payload.len());
    body.extend_from_slice(&event.schema.to_le_bytes());
    body.extend_from_slice(&seq.0.to_le_bytes());
    body.extend_from_slice(&event.at.as_micros().to_le_bytes());
    body.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    body.push(u8::try_from(event.kind.len()).unwrap_or(u8::MAX));
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(event.kind.as_bytes());
    body.extend_from_slice(&event.payload);
    frame::seal(Magic::Event, &body)
}

/// The event in a record, and whose it is.
pub(crate) fn decode(bytes: &[u8]) -> Result<Record, FrameFault> {
    let body = frame::unseal(Magic::Event, bytes)?;
    fields(body).ok_or(FrameFault::Damaged)
}

fn fields(body: &[u8]) -> Option<Record> {
    let mut fields = Fields::of(body);
    let schema = fields.u16()?;
    let seq = Seq(fields.u64()?);
    let at = Timestamp::from_micros(fields.i64()?);
    let name_bytes = usize::from(fields.u8()?);
    let kind_bytes = usize::from(fields.u8()?);
    let assistant = AssistantId::try_new(fields.text(name_bytes)?).ok()?;
    let kind = fields.text(kind_bytes)?;
    is_kind(kind).then(|| Record {
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

/// The event in a record that must be this assistant's and stand at this place.
pub(crate) fn decode_at(
    assistant: &AssistantId,
    seq: Seq,
    bytes: &[u8],
) -> Result<StoredEvent, FrameFault> {
    let record = decode(bytes)?;
    if record.assistant == *assistant && record.event.seq == seq {
        Ok(record.event)
    } else {
        Err(FrameFault::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alice() -> AssistantId {
        AssistantId::try_new("alice").unwrap()
    }

    fn event(payload: Vec<u8>) -> NewEvent {
        NewEvent {
            at: Timestamp::from_micros(-7),
            kind: "heard",
            schema: 3,
            payload,
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_comes_back_whole(
            seq in any::<u64>(),
            at in any::<i64>(),
            schema in any::<u16>(),
            payload in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let new = NewEvent { at: Timestamp::from_micros(at), kind: "heard", schema, payload: payload.clone() };
            let bytes = encode(&alice(), Seq(seq), &new);
            prop_assert_eq!(decode(&bytes), Ok(Record {
                assistant: alice(),
                event: StoredEvent {
                    seq: Seq(seq),
                    at: Timestamp::from_micros(at),
                    kind: "heard".into(),
                    schema,
                    payload,
                },
            }));
        }
    }

    #[test]
    fn a_record_moved_to_another_place_is_damaged() {
        let bytes = encode(&alice(), Seq(4), &event(b"tea".to_vec()));
        assert!(decode_at(&alice(), Seq(4), &bytes).is_ok());
        assert_eq!(
            decode_at(&alice(), Seq(5), &bytes),
            Err(FrameFault::Damaged)
        );
        let bob = AssistantId::try_new("bob").unwrap();
        assert_eq!(decode_at(&bob, Seq(4), &bytes), Err(FrameFault::Damaged));
    }

    #[test]
    fn the_bytes_of_format_1_are_these() {
        let bytes = encode(&alice(), Seq(4), &event(b"tea".to_vec()));
        let mut expected = vec![0xFE, b'd', b'e', 0xFF];
        expected.extend([0; 4]); // the checksum, taken below
        expected.extend([45 + 1, 0, 0, 0]);
        expected.extend([1, 0]);
        expected.extend([3, 0]);
        expected.extend([4, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([0xF9, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        expected.extend([5, 5]);
        expected.extend(*b"aliceheardtea");
        let length = u32::try_from(expected.len()).unwrap();
        expected[8..12].copy_from_slice(&length.to_le_bytes());
        let checksum = crc32fast::hash(&expected[8..]);
        expected[4..8].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(bytes, expected);
    }

    #[test]
    fn kinds_and_payloads_have_bounds() {
        let kind = |kind| NewEvent {
            kind,
            ..event(Vec::new())
        };
        assert!(!is_acceptable(&kind("")));
        assert!(!is_acceptable(&kind("gehört")));
        assert!(!is_acceptable(&kind(
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        )));
        assert!(is_acceptable(&event(vec![0; MAX_PAYLOAD_BYTES])));
        assert!(!is_acceptable(&event(vec![0; MAX_PAYLOAD_BYTES + 1])));
    }
}
