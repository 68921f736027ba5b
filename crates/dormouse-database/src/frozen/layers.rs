//! The content of a snapshot. A block comes from the pages written in memory if it is there, otherwise from the copy,
//! otherwise from the file.

use std::{collections::BTreeMap, io};

use super::source::{FrozenSource, busy};

const BLOCK_BYTES: usize = 4096;

#[derive(Debug)]
pub(super) struct Layers {
    /// The header that was read first. By now, the header in the file may name a later commit.
    header: Vec<u8>,
    /// The start of the file, as far as it was copied.
    copy: Vec<u8>,
    /// Blocks below this position come from the copy or the file, unless they were written in memory. Blocks above it
    /// start as zeros. It never grows.
    below: u64,
    length: u64,
    changed: BTreeMap<u64, Vec<u8>>,
}

/// The parts of a range, one per block: block number, first byte within it, length.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let block_bytes = to_u64(BLOCK_BYTES);
    let mut at = offset;
    let mut left = length;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let within = usize::try_from(at % block_bytes).unwrap_or(0);
        let taken = left.min(BLOCK_BYTES - within);
        let piece = (at / block_bytes, within, taken);
        at = at.saturating_add(to_u64(taken));
        left -= taken;
        Some(piece)
    })
}

fn to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Layers {
    pub(super) fn new(header: Vec<u8>, length: u64) -> Self {
        Self {
            header,
            copy: Vec::new(),
            below: length,
            length,
            changed: BTreeMap::new(),
        }
    }

    /// Reserves memory for a copy of this many bytes, so that the copy is never reallocated while it grows.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::OutOfMemory`] if the memory cannot be reserved.
    pub(super) fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        Ok(self.copy.try_reserve_exact(bytes)?)
    }

    /// Appends the next bytes of the file to the copy.
    pub(super) fn show(&mut self, bytes: &[u8]) {
        self.copy.extend_from_slice(bytes);
    }

    /// The memory that the copy uses, in bytes.
    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.copy.capacity()
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The current content of a block; zero where the file has none.
    fn block(&self, source: &mut FrozenSource, number: u64) -> io::Result<Vec<u8>> {
        if let Some(block) = self.changed.get(&number) {
            return Ok(block.clone());
        }
        let mut block = vec![0; BLOCK_BYTES];
        let start = number.saturating_mul(to_u64(BLOCK_BYTES));
        let shown = usize::try_from(self.below.saturating_sub(start)).unwrap_or(BLOCK_BYTES);
        if let Some(shown) = block.get_mut(..shown.min(BLOCK_BYTES)) {
            self.fill(source, start, shown)?;
        }
        if number == 0 {
            block
                .iter_mut()
                .zip(&self.header)
                .for_each(|(to, from)| *to = *from);
        }
        Ok(block)
    }

    fn fill(&self, source: &mut FrozenSource, start: u64, shown: &mut [u8]) -> io::Result<()> {
        let copied = usize::try_from(start).ok().and_then(|start| {
            let end = start.checked_add(shown.len())?;
            self.copy.get(start..end)
        });
        match copied {
            Some(copied) => shown.copy_from_slice(copied),
            None if shown.is_empty() => {}
            None if source.read(start, shown)? => {}
            None => return Err(busy(&source.path)),
        }
        Ok(())
    }

    fn check(&self, offset: u64, length: usize) -> io::Result<()> {
        let end = offset.checked_add(to_u64(length));
        if end.is_some_and(|end| end <= self.length) {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    pub(super) fn read(
        &self,
        source: &mut FrozenSource,
        offset: u64,
        out: &mut [u8],
    ) -> io::Result<()> {
        self.check(offset, out.len())?;
        let mut rest = out;
        for (number, within, taken) in pieces(offset, rest.len()) {
            let block = self.block(source, number)?;
            let (now, later) = rest.split_at_mut(taken);
            let found = block.get(within..within + taken);
            now.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            rest = later;
        }
        Ok(())
    }

    pub(super) fn set_len(&mut self, length: u64) {
        // Bytes beyond the new length must be zero if the file grows again. The block at the edge stays: redb rewrites
        // it.
        let last = length.div_ceil(to_u64(BLOCK_BYTES));
        self.changed.split_off(&last);
        self.below = self.below.min(length);
        self.header
            .truncate(usize::try_from(length).unwrap_or(usize::MAX));
        self.length = length;
    }

    pub(super) fn write(
        &mut self,
        source: &mut FrozenSource,
        offset: u64,
        data: &[u8],
    ) -> io::Result<()> {
        self.check(offset, data.len())?;
        let mut rest = data;
        for (number, within, taken) in pieces(offset, data.len()) {
            let mut block = self.block(source, number)?;
            let (now, later) = rest.split_at(taken);
            let target = block.get_mut(within..within + taken);
            target
                .ok_or(io::ErrorKind::UnexpectedEof)?
                .copy_from_slice(now);
            self.changed.insert(number, block);
            rest = later;
        }
        Ok(())
    }
}
