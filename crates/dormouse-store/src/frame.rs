//! The frame around everything the log writes: a magic number, a checksum, a length and a format.
//!
//! Every format there will ever be has these fourteen bytes, so that a reader can tell damage from a
//! newer program, and so that records can be found in a file whose tables cannot be read any more.

use crate::bytes::Fields;

/// Bytes before the body: magic (4), checksum (4), length (4), format (2).
pub(crate) const HEADER_BYTES: usize = 14;

/// The format of records, heads, snapshots and the file itself that this program writes.
pub(crate) const FORMAT: u16 = 1;

/// What a frame holds. The first and last byte of a magic number never occur in UTF-8, so no text an
/// event carries can look like a frame to a program that searches a damaged file for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    Event,
    Head,
    Snapshot,
    Meta,
}

impl Magic {
    pub(crate) const fn bytes(self) -> [u8; 4] {
        let kind = match self {
            Self::Event => b'e',
            Self::Head => b'h',
            Self::Snapshot => b's',
            Self::Meta => b'm',
        };
        [0xFE, b'd', kind, 0xFF]
    }
}

/// Why a frame could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameFault {
    /// Length, magic or checksum do not fit, or the body does not hold what it should.
    #[error("the record does not match its checksum or its place")]
    Damaged,
    /// The frame is intact and of a format this program does not know.
    #[error("the record has format {found}, and this version reads up to {FORMAT}")]
    Newer { found: u16 },
}

/// Puts `body` into a frame. The caller bounds its size; a frame is far below 4 GiB.
pub(crate) fn seal(magic: Magic, body: &[u8]) -> Vec<u8> {
    seal_as(magic, FORMAT, body)
}

/// Puts `body` into a frame that claims this format.
pub(crate) fn seal_as(magic: Magic, format: u16, body: &[u8]) -> Vec<u8> {
    let length = HEADER_BYTES.saturating_add(body.len());
    let mut checked = Vec::with_capacity(length.saturating_sub(8));
    checked.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    checked.extend_from_slice(&format.to_le_bytes());
    checked.extend_from_slice(body);
    let mut frame = Vec::with_capacity(length);
    frame.extend_from_slice(&magic.bytes());
    frame.extend_from_slice(&crc32fast::hash(&checked).to_le_bytes());
    frame.extend_from_slice(&checked);
    frame
}

/// The body of a frame that is whole, matches its checksum and has a known format.
pub(crate) fn unseal(magic: Magic, frame: &[u8]) -> Result<&[u8], FrameFault> {
    let mut fields = Fields::of(frame);
    let found: [u8; 4] = fields.array().ok_or(FrameFault::Damaged)?;
    let checksum = fields.u32().ok_or(FrameFault::Damaged)?;
    let checked = fields.rest();
    let length = fields.u32().ok_or(FrameFault::Damaged)?;
    let format = fields.u16().ok_or(FrameFault::Damaged)?;
    let whole = usize::try_from(length).is_ok_and(|length| length == frame.len());
    if found != magic.bytes() || !whole || crc32fast::hash(checked) != checksum || format == 0 {
        return Err(FrameFault::Damaged);
    }
    if format > FORMAT {
        return Err(FrameFault::Newer { found: format });
    }
    Ok(fields.rest())
}

/// The length a frame that starts with these bytes claims to have, header included.
pub(crate) fn claimed_length(magic: Magic, start: &[u8]) -> Option<usize> {
    let mut fields = Fields::of(start);
    let found: [u8; 4] = fields.array()?;
    fields.u32()?;
    let length = usize::try_from(fields.u32()?).ok()?;
    (found == magic.bytes() && length >= HEADER_BYTES).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_frame_gives_back_its_body_and_no_changed_byte_goes_unnoticed(
            body in proptest::collection::vec(any::<u8>(), 0..200),
            at in any::<prop::sample::Index>(),
            flip in 1_u8..,
        ) {
            let mut frame = seal(Magic::Event, &body);
            prop_assert_eq!(unseal(Magic::Event, &frame), Ok(body.as_slice()));
            let at = at.index(frame.len());
            frame[at] ^= flip;
            prop_assert_eq!(unseal(Magic::Event, &frame), Err(FrameFault::Damaged));
        }

        #[test]
        fn a_cut_frame_is_damaged(body in proptest::collection::vec(any::<u8>(), 0..50), cut in any::<prop::sample::Index>()) {
            let frame = seal(Magic::Head, &body);
            prop_assert_eq!(unseal(Magic::Head, &frame[..cut.index(frame.len())]), Err(FrameFault::Damaged));
        }
    }

    #[test]
    fn an_intact_frame_of_a_later_format_is_newer_and_not_damaged() {
        let frame = seal_as(Magic::Event, 7, b"whatever comes");
        assert_eq!(
            unseal(Magic::Event, &frame),
            Err(FrameFault::Newer { found: 7 })
        );
    }

    #[test]
    fn a_frame_of_one_sort_is_not_taken_for_another() {
        assert_eq!(
            unseal(Magic::Head, &seal(Magic::Event, b"x")),
            Err(FrameFault::Damaged)
        );
    }
}
