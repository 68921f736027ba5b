//! Bytes to numbers and names.

use super::{HEAD_BYTES, MAGIC, VERSION};

/// Why bytes are not an index that can be used. In every case the index can be built from its texts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// These are other bytes.
    #[error("not an index")]
    NotAnIndex,
    /// A version that this one does not read.
    #[error("an index of version {0}")]
    Version(u32),
    /// The bytes end early, or do not fit their checksum, or contradict themselves.
    #[error("the index is damaged")]
    Damaged,
    /// The index was built with another [`max_terms_per_unit`](crate::Config::max_terms_per_unit).
    #[error("the index was built with another configuration")]
    OtherConfig,
}

/// Reads what is behind the head.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Checks the head.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(DecodeError::NotAnIndex)?;
        let (version, rest) = rest.split_first_chunk().ok_or(DecodeError::Damaged)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let (length, rest) = rest.split_first_chunk().ok_or(DecodeError::Damaged)?;
        let (checksum, rest) = rest.split_first_chunk().ok_or(DecodeError::Damaged)?;
        debug_assert_eq!(bytes.len(), rest.len() + HEAD_BYTES);
        let whole = u64::from_le_bytes(*length) == rest.len() as u64
            && u32::from_le_bytes(*checksum) == crc32fast::hash(rest);
        whole.then_some(Self(rest)).ok_or(DecodeError::Damaged)
    }

    /// Checks that nothing is left.
    pub(super) fn close(self) -> Result<(), DecodeError> {
        self.0.is_empty().then_some(()).ok_or(DecodeError::Damaged)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0;
        let mut rest = self.0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, behind) = rest.split_first().ok_or(DecodeError::Damaged)?;
            rest = behind;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                self.0 = rest;
                return Ok(number);
            }
        }
        Err(DecodeError::Damaged)
    }

    pub(super) fn bits(&mut self) -> Result<u16, DecodeError> {
        u16::try_from(self.number()?)
            .ok()
            .ok_or(DecodeError::Damaged)
    }

    pub(super) fn signed(&mut self) -> Result<i64, DecodeError> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A number of things that follow, each of which takes a byte at least.
    pub(super) fn count(&mut self) -> Result<usize, DecodeError> {
        let count = self.number()?;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= self.0.len())
            .ok_or(DecodeError::Damaged)
    }

    pub(super) fn table(&mut self) -> Result<Vec<&'a str>, DecodeError> {
        let count = self.count()?;
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.count()?;
            let (name, rest) = self
                .0
                .split_at_checked(length)
                .ok_or(DecodeError::Damaged)?;
            self.0 = rest;
            names.push(str::from_utf8(name).ok().ok_or(DecodeError::Damaged)?);
        }
        Ok(names)
    }

    /// The name at the place that follows; `None` for place 0.
    pub(super) fn place(&mut self, table: &[&'a str]) -> Result<Option<&'a str>, DecodeError> {
        let Some(place) = self.number()?.checked_sub(1) else {
            return Ok(None);
        };
        let name = usize::try_from(place)
            .ok()
            .and_then(|place| table.get(place));
        name.copied().map(Some).ok_or(DecodeError::Damaged)
    }

    /// In how many units each of so many terms occurs. Together no more than there are bytes behind them, since each
    /// occurrence takes one.
    pub(super) fn frequencies(&mut self, terms: usize) -> Result<Vec<usize>, DecodeError> {
        let mut frequencies = Vec::with_capacity(terms);
        let mut sum = 0_usize;
        for _ in 0..terms {
            let frequency = self.count()?;
            sum = sum.checked_add(frequency).ok_or(DecodeError::Damaged)?;
            frequencies.push(frequency);
        }
        (sum <= self.0.len())
            .then_some(frequencies)
            .ok_or(DecodeError::Damaged)
    }

    /// Term numbers in order, each below `bound`.
    pub(super) fn bag(&mut self, bound: usize, bag: &mut Vec<u32>) -> Result<(), DecodeError> {
        bag.clear();
        let mut place = 0_u64;
        for _ in 0..self.count()? {
            place = place
                .checked_add(self.number()?)
                .ok_or(DecodeError::Damaged)?;
            let term = place.checked_sub(1).filter(|term| *term < bound as u64);
            let term = term.ok_or(DecodeError::Damaged)?;
            bag.push(u32::try_from(term).ok().ok_or(DecodeError::Damaged)?);
        }
        Ok(())
    }
}
