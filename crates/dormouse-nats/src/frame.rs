//! One message of the stream: the events of one append, and what links it to the message before.
//!
//! ```text
//! magic FE 64 6E FF · format u16 · first u64 · epoch u64 · writer [16] · previous stream sequence u64 · previous hash [32]
//! length of the assistant's key u8 · key · number of events u32
//! for each event: at i64 · schema u16 · length of its kind u8 · kind · length of its payload u32 · payload
//! SHA-256 of all of that [32], which is the hash of the message
//! ```
//!
//! All numbers are little-endian.

use dormouse_contracts::{AssistantId, NewEvent, Seq, StoredEvent, Timestamp};
use sha2::{Digest, Sha256};

/// The newest format that this version reads, and the only one that it writes.
pub(crate) const FORMAT: u16 = 1;
/// Longer names of kinds are not accepted.
pub(crate) const MAX_KIND_BYTES: usize = 64;
const MAGIC: [u8; 4] = [0xFE, b'd', b'n', 0xFF];
const HASH_BYTES: usize = 32;

/// The SHA-256 of a message.
pub(crate) type Hash = [u8; HASH_BYTES];

/// Identifies one connection of one process. Drawn at random when it connects.
pub(crate) type WriterId = [u8; 16];

/// Everything in a message but its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The sequence number of its first event.
    pub(crate) first: Seq,
    /// The epoch of the owner who wrote it.
    pub(crate) epoch: u64,
    /// Which connection wrote it.
    pub(crate) writer: WriterId,
    /// The stream sequence of the message before it of the same assistant; 0 if there is none.
    pub(crate) previous: u64,
    /// The hash of that message; zeros if there is none.
    pub(crate) previous_hash: Hash,
}

/// A message that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) header: Header,
    pub(crate) events: Vec<StoredEvent>,
    pub(crate) hash: Hash,
}

/// A message to publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hash: Hash,
}

/// Why a message could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameFault {
    #[error("the message does not match its hash, or is not a message of this log")]
    Damaged,
    #[error("the message is intact, but belongs to another assistant")]
    OtherAssistant,
    #[error("the message has format {found}, and this version reads up to {FORMAT}")]
    Newer { found: u16 },
}

/// Whether every log accepts this event.
pub(crate) fn is_acceptable(event: &NewEvent) -> bool {
    (1..=MAX_KIND_BYTES).contains(&event.kind.len())
        && event.kind.is_ascii()
        && u32::try_from(event.payload.len()).is_ok()
}

/// The message with these events, which [`is_acceptable`] accepts.
pub(crate) fn seal(assistant: &AssistantId, header: &Header, events: &[NewEvent]) -> Sealed {
    let payloads: usize = events.iter().map(|e| e.payload.len()).sum();
    let mut out = Vec::with_capacity(payloads + 128 * (events.len() + 2));
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&FORMAT.to_le_bytes());
    out.extend_from_slice(&header.first.0.to_le_bytes());
    out.extend_from_slice(&header.epoch.to_le_bytes());
    out.extend_from_slice(&header.writer);
    out.extend_from_slice(&header.previous.to_le_bytes());
    out.extend_from_slice(&header.previous_hash);
    put_short(&mut out, assistant.as_str());
    out.extend_from_slice(&length(events.len()).to_le_bytes());
    for event in events {
        out.extend_from_slice(&event.at.as_micros().to_le_bytes());
        out.extend_from_slice(&event.schema.to_le_bytes());
        put_short(&mut out, event.kind);
        out.extend_from_slice(&length(event.payload.len()).to_le_bytes());
        out.extend_from_slice(&event.payload);
    }
    let hash: Hash = Sha256::digest(&out).into();
    out.extend_from_slice(&hash);
    Sealed { bytes: out, hash }
}

/// Keys and kinds are at most 64 bytes long.
fn put_short(out: &mut Vec<u8>, text: &str) {
    out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(text.as_bytes());
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Decodes a message of this assistant.
pub(crate) fn unseal(assistant: &AssistantId, bytes: &[u8]) -> Result<Frame, FrameFault> {
    let split = bytes.len().checked_sub(HASH_BYTES);
    let (body, hash) = split
        .and_then(|at| bytes.split_at_checked(at))
        .ok_or(FrameFault::Damaged)?;
    let computed: Hash = Sha256::digest(body).into();
    let mut fields = Fields(body);
    let magic: [u8; 4] = fields.array().ok_or(FrameFault::Damaged)?;
    let format = fields.u16().ok_or(FrameFault::Damaged)?;
    // The hash is checked before the format: only an intact message may claim to be of a newer format.
    if magic != MAGIC || computed != hash || format == 0 {
        return Err(FrameFault::Damaged);
    }
    if format > FORMAT {
        return Err(FrameFault::Newer { found: format });
    }
    let (key, frame) = decode(fields, computed).ok_or(FrameFault::Damaged)?;
    if key != assistant.as_str() {
        return Err(FrameFault::OtherAssistant);
    }
    Ok(frame)
}

fn decode(mut fields: Fields<'_>, hash: Hash) -> Option<(&str, Frame)> {
    let header = Header {
        first: Seq(fields.u64()?),
        epoch: fields.u64()?,
        writer: fields.array()?,
        previous: fields.u64()?,
        previous_hash: fields.array()?,
    };
    let key = fields.short()?;
    let count = fields.u32()?;
    let mut events = Vec::new();
    let mut seq = header.first;
    for _ in 0..count {
        events.push(StoredEvent {
            seq,
            at: Timestamp::from_micros(i64::from_le_bytes(fields.array()?)),
            schema: fields.u16()?,
            kind: fields.short()?.to_owned(),
            payload: {
                let length = usize::try_from(fields.u32()?).ok()?;
                fields.take(length)?.to_vec()
            },
        });
        seq = seq.next();
    }
    let is_whole = fields.0.is_empty() && !events.is_empty() && header.first > Seq::ZERO;
    is_whole.then_some((
        key,
        Frame {
            header,
            events,
            hash,
        },
    ))
}

/// Fields read from the front of a slice, and never past its end.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A text behind its length in one byte.
    fn short(&mut self) -> Option<&'a str> {
        let [length] = self.array::<1>()?;
        std::str::from_utf8(self.take(usize::from(length))?).ok()
    }
}

/// A hash in hexadecimal, as the id of its message.
pub(crate) fn hex(hash: &Hash) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    let digits = hash
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alice() -> AssistantId {
        AssistantId::try_new("alice").unwrap()
    }

    fn header() -> Header {
        Header {
            first: Seq(7),
            epoch: 3,
            writer: [5; 16],
            previous: 41,
            previous_hash: [9; 32],
        }
    }

    fn events(payloads: &[Vec<u8>]) -> Vec<NewEvent> {
        let event = |payload: &Vec<u8>| NewEvent {
            at: Timestamp::from_micros(i64::MIN),
            kind: "heard",
            schema: u16::MAX,
            payload: payload.clone(),
        };
        payloads.iter().map(event).collect()
    }

    proptest! {
        #[test]
        fn a_message_gives_back_its_events_and_no_changed_or_lost_byte_goes_unnoticed(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..5),
            at in any::<prop::sample::Index>(),
            flip in 1_u8..,
        ) {
            let sealed = seal(&alice(), &header(), &events(&payloads));
            let frame = unseal(&alice(), &sealed.bytes).unwrap();
            prop_assert_eq!(&frame.header, &header());
            prop_assert_eq!(frame.hash, sealed.hash);
            let seqs: Vec<_> = frame.events.iter().map(|e| e.seq.0).collect();
            prop_assert_eq!(seqs, (7..7 + payloads.len() as u64).collect::<Vec<_>>());
            let read: Vec<_> = frame.events.into_iter().map(|e| e.payload).collect();
            prop_assert_eq!(read, payloads);

            let at = at.index(sealed.bytes.len());
            prop_assert_eq!(unseal(&alice(), &sealed.bytes[..at]), Err(FrameFault::Damaged));
            let mut changed = sealed.bytes;
            changed[at] ^= flip;
            prop_assert_eq!(unseal(&alice(), &changed), Err(FrameFault::Damaged));
        }
    }

    #[test]
    fn a_message_of_another_assistant_is_refused() {
        let sealed = seal(&alice(), &header(), &events(&[vec![1]]));
        let bob = AssistantId::try_new("bob").unwrap();
        assert_eq!(unseal(&bob, &sealed.bytes), Err(FrameFault::OtherAssistant));
    }

    #[test]
    fn an_intact_message_of_a_later_format_is_newer_and_not_damaged() {
        let mut bytes = seal(&alice(), &header(), &events(&[vec![1]])).bytes;
        bytes.truncate(bytes.len() - HASH_BYTES);
        bytes[4] = 2;
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        assert_eq!(
            unseal(&alice(), &bytes),
            Err(FrameFault::Newer { found: 2 })
        );
    }

    #[test]
    fn an_id_is_the_hash_in_hexadecimal() {
        let mut hash = [0; 32];
        hash[0] = 0xAB;
        assert_eq!(hex(&hash), format!("ab{}", "00".repeat(31)));
    }
}
