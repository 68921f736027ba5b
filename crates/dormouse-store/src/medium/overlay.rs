//! A file that can be opened as if it were writable, and stays as it is.
//!
//! redb repairs what it opens, which a damaged file must not suffer: there is only one of it.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use redb::StorageBackend;

use super::Medium;

const BLOCK_BYTES: usize = 4096;

/// A file whose changes are kept in memory.
#[derive(Debug)]
pub(crate) struct Overlay {
    pub(crate) path: PathBuf,
}

impl Medium for Overlay {
    fn backend(&self) -> io::Result<Box<dyn StorageBackend>> {
        let file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        Ok(Box::new(Layers {
            state: Mutex::new(State {
                file,
                below: length,
                length,
                changed: BTreeMap::new(),
            }),
        }))
    }
}

#[derive(Debug)]
struct Layers {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Up to here the file shows through where nothing was changed; it shrinks, and never grows again.
    below: u64,
    length: u64,
    changed: BTreeMap<u64, Vec<u8>>,
}

impl Layers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pieces of a range that lie in one block each: block number, first byte within it, length.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let block_bytes = u64::try_from(BLOCK_BYTES).unwrap_or(u64::MAX);
    let mut at = offset;
    let mut left = length;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let within = usize::try_from(at % block_bytes).unwrap_or(0);
        let taken = left.min(BLOCK_BYTES - within);
        let piece = (at / block_bytes, within, taken);
        at = at.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
        left -= taken;
        Some(piece)
    })
}

impl State {
    /// A block as it is now: changed, or as in the file, and zero where the file has nothing.
    fn block(&mut self, number: u64) -> io::Result<Vec<u8>> {
        if let Some(block) = self.changed.get(&number) {
            return Ok(block.clone());
        }
        let mut block = vec![0; BLOCK_BYTES];
        let start = number.saturating_mul(u64::try_from(BLOCK_BYTES).unwrap_or(u64::MAX));
        let shown = usize::try_from(self.below.saturating_sub(start)).unwrap_or(BLOCK_BYTES);
        if let Some(shown) = block.get_mut(..shown.min(BLOCK_BYTES)) {
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(shown)?;
        }
        Ok(block)
    }

    fn check(&self, offset: u64, length: usize) -> io::Result<()> {
        let end = u64::try_from(length)
            .ok()
            .and_then(|length| offset.checked_add(length));
        if end.is_some_and(|end| end <= self.length) {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

impl StorageBackend for Layers {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.state();
        state.check(offset, out.len())?;
        let mut rest = out;
        for (number, within, taken) in pieces(offset, rest.len()) {
            let block = state.block(number)?;
            let (now, later) = rest.split_at_mut(taken);
            let found = block.get(within..within + taken);
            now.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            rest = later;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state();
        // What is cut off and grown back is zero; the block at the edge is left to be rewritten by its owner.
        let last = len.div_ceil(u64::try_from(BLOCK_BYTES).unwrap_or(u64::MAX));
        state.changed.split_off(&last);
        state.below = state.below.min(len);
        state.length = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        state.check(offset, data.len())?;
        let mut rest = data;
        for (number, within, taken) in pieces(offset, data.len()) {
            let mut block = state.block(number)?;
            let (now, later) = rest.split_at(taken);
            let target = block.get_mut(within..within + taken);
            target
                .ok_or(io::ErrorKind::UnexpectedEof)?
                .copy_from_slice(now);
            state.changed.insert(number, block);
            rest = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Write(usize, Vec<u8>),
        Read(usize, usize),
        Resize(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let data = proptest::collection::vec(1_u8.., 0..9000);
        prop_oneof![
            4 => (0_usize..30_000, data).prop_map(|(at, data)| Step::Write(at, data)),
            4 => (0_usize..30_000, 0_usize..9000).prop_map(|(at, length)| Step::Read(at, length)),
            // redb changes the length by whole pages only.
            1 => (0_usize..8).prop_map(|blocks| Step::Resize(blocks * BLOCK_BYTES)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_behaves_as_a_file_and_never_changes_the_one_below(steps in proptest::collection::vec(step(), 0..30)) {
            let below: Vec<u8> = (0..5 * BLOCK_BYTES).map(|at| (at % 251) as u8).collect();
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), &below).unwrap();
            let backend = Overlay { path: file.path().into() }.backend().unwrap();
            let mut model = below.clone();
            for step in steps {
                match step {
                    Step::Write(at, data) => {
                        let fits = at + data.len() <= model.len();
                        prop_assert_eq!(backend.write(at as u64, &data).is_ok(), fits);
                        if fits {
                            model[at..at + data.len()].copy_from_slice(&data);
                        }
                    }
                    Step::Read(at, length) => {
                        let mut out = vec![0; length];
                        let read = backend.read(at as u64, &mut out).ok().map(|()| out.as_slice());
                        prop_assert_eq!(read, model.get(at..at + length));
                    }
                    Step::Resize(length) => {
                        backend.set_len(length as u64).unwrap();
                        model.resize(length, 0);
                        prop_assert_eq!(backend.len().unwrap(), length as u64);
                    }
                }
            }
            prop_assert_eq!(fs::read(file.path()).unwrap(), below);
        }
    }
}
