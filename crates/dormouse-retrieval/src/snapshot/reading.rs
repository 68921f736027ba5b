//! Decodes the numbers and names of a snapshot.

use super::header::{HEAD_BYTES, MAGIC, VERSION};

/// Why bytes cannot be decoded. In every case the index can be rebuilt from its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotDecodeError {
    /// The bytes are not an index.
    #[error("the bytes are not an index")]
    NotAnIndex,
    /// Another version wrote the index.
    #[error("the index has version {0}; expected {VERSION}")]
    Version(u32),
    /// The bytes are truncated, do not match their checksum, or contradict themselves.
    #[error("the index is damaged")]
    Damaged,
    /// The index was built with another [`max_terms_per_unit`](crate::Config::max_terms_per_unit) or
    /// [`passage_words`](crate::Config::passage_words).
    #[error("the index was built with another configuration")]
    OtherConfig,
}

/// Reads the bytes after the header.
pub(super) struct SnapshotReader<'a>(&'a [u8]);

impl<'a> SnapshotReader<'a> {
    /// Checks the header.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, SnapshotDecodeError> {
        let rest = bytes
            .strip_prefix(&MAGIC)
            .ok_or(SnapshotDecodeError::NotAnIndex)?;
        let (version, rest) = rest
            .split_first_chunk()
            .ok_or(SnapshotDecodeError::Damaged)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(SnapshotDecodeError::Version(version));
        }
        let (length, rest) = rest
            .split_first_chunk()
            .ok_or(SnapshotDecodeError::Damaged)?;
        let (checksum, rest) = rest
            .split_first_chunk()
            .ok_or(SnapshotDecodeError::Damaged)?;
        debug_assert_eq!(bytes.len(), rest.len() + HEAD_BYTES);
        let whole = u64::from_le_bytes(*length) == rest.len() as u64
            && u32::from_le_bytes(*checksum) == crc32fast::hash(rest);
        whole
            .then_some(Self(rest))
            .ok_or(SnapshotDecodeError::Damaged)
    }

    /// Checks that no bytes are left.
    pub(super) fn close(self) -> Result<(), SnapshotDecodeError> {
        self.0
            .is_empty()
            .then_some(())
            .ok_or(SnapshotDecodeError::Damaged)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, SnapshotDecodeError> {
        let mut number = 0;
        let mut rest = self.0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, behind) = rest.split_first().ok_or(SnapshotDecodeError::Damaged)?;
            rest = behind;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                self.0 = rest;
                return Ok(number);
            }
        }
        Err(SnapshotDecodeError::Damaged)
    }

    pub(super) fn bits(&mut self) -> Result<u16, SnapshotDecodeError> {
        u16::try_from(self.number()?)
            .ok()
            .ok_or(SnapshotDecodeError::Damaged)
    }

    pub(super) fn signed(&mut self) -> Result<i64, SnapshotDecodeError> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The number of items that follow. Each item takes at least one byte.
    pub(super) fn count(&mut self) -> Result<usize, SnapshotDecodeError> {
        let count = self.number()?;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= self.0.len())
            .ok_or(SnapshotDecodeError::Damaged)
    }

    pub(super) fn table(&mut self) -> Result<Vec<&'a str>, SnapshotDecodeError> {
        let count = self.count()?;
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.count()?;
            let (name, rest) = self
                .0
                .split_at_checked(length)
                .ok_or(SnapshotDecodeError::Damaged)?;
            self.0 = rest;
            names.push(
                str::from_utf8(name)
                    .ok()
                    .ok_or(SnapshotDecodeError::Damaged)?,
            );
        }
        Ok(names)
    }

    /// Reads a place in `table`, counted from 1, and returns the name there. Place 0 means no name.
    pub(super) fn place(
        &mut self,
        table: &[&'a str],
    ) -> Result<Option<&'a str>, SnapshotDecodeError> {
        let Some(place) = self.number()?.checked_sub(1) else {
            return Ok(None);
        };
        let name = usize::try_from(place)
            .ok()
            .and_then(|place| table.get(place));
        name.copied().map(Some).ok_or(SnapshotDecodeError::Damaged)
    }

    /// Reads for each of `terms` terms the number of units that contain it. The sum cannot exceed the number of bytes
    /// left, because each occurrence takes one byte.
    pub(super) fn frequencies(&mut self, terms: usize) -> Result<Vec<usize>, SnapshotDecodeError> {
        let mut frequencies = Vec::with_capacity(terms);
        let mut sum = 0_usize;
        for _ in 0..terms {
            let frequency = self.count()?;
            sum = sum
                .checked_add(frequency)
                .ok_or(SnapshotDecodeError::Damaged)?;
            frequencies.push(frequency);
        }
        (sum <= self.0.len())
            .then_some(frequencies)
            .ok_or(SnapshotDecodeError::Damaged)
    }

    /// Sorted term numbers, each below `bound`.
    pub(super) fn bag(
        &mut self,
        bound: usize,
        bag: &mut Vec<u32>,
    ) -> Result<(), SnapshotDecodeError> {
        bag.clear();
        let mut place = 0_u64;
        for _ in 0..self.count()? {
            place = place
                .checked_add(self.number()?)
                .ok_or(SnapshotDecodeError::Damaged)?;
            let term = place.checked_sub(1).filter(|term| *term < bound as u64);
            let term = term.ok_or(SnapshotDecodeError::Damaged)?;
            bag.push(
                u32::try_from(term)
                    .ok()
                    .ok_or(SnapshotDecodeError::Damaged)?,
            );
        }
        Ok(())
    }
}
