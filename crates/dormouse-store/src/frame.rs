//! The frame around everything that the log writes: a magic number, a checksum, a length and a format.
//!
//! The layout of these fourteen bytes never changes. So a reader can distinguish a damaged frame from one that a newer
//! program wrote, and can find events in a file whose tables are no longer readable.

use dormouse_contracts::invariant;

/// Bytes before the body: magic (4), checksum (4), length (4), format (2).
pub(crate) const HEADER_BYTES: usize = 14;

/// The format of the frames that this program writes.
pub(crate) const FORMAT: u16 = 1;

/// What a frame contains. The first and last byte of a magic number never occur in UTF-8. So no text of an event looks
/// like a frame to a scan of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    Event,
    Head,
    Snapshot,
    Meta,
    WriteAhead,
}

impl Magic {
    pub(crate) const fn bytes(self) -> [u8; 4] {
        let kind = match self {
            Self::Event => b'e',
            Self::Head => b'h',
            Self::Snapshot => b's',
            Self::Meta => b'm',
            Self::WriteAhead => b'w',
        };
        [0xFE, b'd', kind, 0xFF]
    }
}

/// Why a frame could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameFault {
    /// The length, the magic number or the checksum does not match, or the body has invalid content.
    #[error("the record does not match its checksum or its position")]
    Damaged,
    /// The frame is intact, but this program does not know its format.
    #[error("the record has format {found}, and this version reads up to {FORMAT}")]
    Newer { found: u16 },
}

/// Puts `body` into a frame. The caller keeps its size far below 4 GiB.
pub(crate) fn seal(magic: Magic, body: &[u8]) -> Vec<u8> {
    seal_as(magic, FORMAT, body)
}

/// Puts `body` into a frame that claims this format.
pub(crate) fn seal_as(magic: Magic, format: u16, body: &[u8]) -> Vec<u8> {
    let length = HEADER_BYTES.saturating_add(body.len());
    let length_field = invariant!(u32::try_from(length), "a frame is shorter than 4 GiB");
    let mut checked = Vec::with_capacity(length.saturating_sub(8));
    checked.extend_from_slice(&length_field.to_le_bytes());
    checked.extend_from_slice(&format.to_le_bytes());
    checked.extend_from_slice(body);
    let mut frame = Vec::with_capacity(length);
    frame.extend_from_slice(&magic.bytes());
    frame.extend_from_slice(&crc32fast::hash(&checked).to_le_bytes());
    frame.extend_from_slice(&checked);
    frame
}

/// The body of a frame that is complete, matches its checksum and has a known format.
pub(crate) fn unseal(magic: Magic, frame: &[u8]) -> Result<&[u8], FrameFault> {
    let mut fields = Fields::of(frame);
    let found: [u8; 4] = fields.array().ok_or(FrameFault::Damaged)?;
    let checksum = fields.u32().ok_or(FrameFault::Damaged)?;
    let checked = fields.rest();
    let length = fields.u32().ok_or(FrameFault::Damaged)?;
    let format = fields.u16().ok_or(FrameFault::Damaged)?;
    let is_whole = usize::try_from(length).is_ok_and(|length| length == frame.len());
    // The checksum is checked before the format: only an intact frame may claim to be of a newer format.
    if found != magic.bytes() || !is_whole || crc32fast::hash(checked) != checksum || format == 0 {
        return Err(FrameFault::Damaged);
    }
    if format > FORMAT {
        return Err(FrameFault::Newer { found: format });
    }
    Ok(fields.rest())
}

/// The length that a frame with this start claims to have, header included.
pub(crate) fn claimed_length(magic: Magic, start: &[u8]) -> Option<usize> {
    let mut fields = Fields::of(start);
    let found: [u8; 4] = fields.array()?;
    fields.u32()?;
    let length = usize::try_from(fields.u32()?).ok()?;
    (found == magic.bytes() && length >= HEADER_BYTES).then_some(length)
}

/// Fixed-width little-endian fields, read from the front of a slice and never past its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// The next `length` bytes as text.
    pub(crate) fn text(&mut self, length: usize) -> Option<&'a str> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        std::str::from_utf8(head).ok()
    }
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
        let frame = seal_as(Magic::Event, 7, b"any payload");
        assert_eq!(
            unseal(Magic::Event, &frame),
            Err(FrameFault::Newer { found: 7 })
        );
    }

    #[test]
    fn a_frame_of_one_kind_is_not_taken_for_another() {
        assert_eq!(
            unseal(Magic::Head, &seal(Magic::Event, b"x")),
            Err(FrameFault::Damaged)
        );
    }

    #[test]
    fn fields_are_read_in_order_and_never_past_the_end() {
        let mut fields = Fields::of(&[1, 2, 0, b'a', b'b', 9]);
        assert_eq!(fields.u8(), Some(1));
        assert_eq!(fields.u16(), Some(2));
        assert_eq!(fields.text(2), Some("ab"));
        assert_eq!(fields.u16(), None);
        assert_eq!(fields.rest(), [9], "a failed read takes nothing");
    }
}
