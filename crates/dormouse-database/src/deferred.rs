//! Storage that stays as it is until something is to be written for good.
//!
//! redb marks every file that it opens, repairs it if that is necessary, and writes it once more when it closes it, even if
//! nobody changed anything. Here these operations wait until the first transaction begins. If there is none, nothing was
//! written and synced, and a file that this program must not change is found out before it is changed.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use redb::StorageBackend;

use crate::{forward::forward_locks, header::HEADER_BYTES};

/// Storage whose changes wait until [`begin`](Self::begin). All clones are the same storage.
#[derive(Clone, Debug)]
pub(crate) struct DeferredStorage {
    backend: Arc<dyn StorageBackend>,
    deferred: Arc<Deferred>,
}

#[derive(Debug, Default)]
struct Deferred {
    has_begun: AtomicBool,
    waiting: Mutex<Waiting>,
}

/// The operations that wait, in their order.
#[derive(Debug, Default)]
struct Waiting(Vec<Operation>);

#[derive(Debug)]
enum Operation {
    Write {
        offset: u64,
        data: Box<[u8]>,
    },
    /// The new length, and the length before.
    SetLength {
        length: u64,
        before: u64,
    },
    Sync,
}

impl DeferredStorage {
    pub(crate) fn new(backend: impl StorageBackend) -> Self {
        Self {
            backend: Arc::new(backend),
            deferred: Arc::default(),
        }
    }

    /// Carries out what waits, in its order and with its syncs, as if it had not waited. From then on nothing waits. After an
    /// error all of it waits still, and the next call carries it out from the beginning.
    ///
    /// # Errors
    ///
    /// Any error of the storage.
    pub(crate) fn begin(&self) -> io::Result<()> {
        if self.has_begun() {
            return Ok(());
        }
        let mut waiting = self.waiting();
        waiting.carry_out(&*self.backend)?;
        waiting.0 = Vec::new();
        self.deferred.has_begun.store(true, Ordering::Release);
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.deferred.has_begun.load(Ordering::Acquire)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        let waiting = self.deferred.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits; `None` if nothing waits any more.
    fn still_waiting(&self) -> Option<MutexGuard<'_, Waiting>> {
        if self.has_begun() {
            return None;
        }
        let waiting = self.waiting();
        // It may have begun while this call waited for the lock.
        (!self.has_begun()).then_some(waiting)
    }
}

impl StorageBackend for DeferredStorage {
    fn len(&self) -> io::Result<u64> {
        match self.still_waiting().and_then(|waiting| waiting.length()) {
            Some(length) => Ok(length),
            None => self.backend.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match self.still_waiting() {
            Some(waiting) => waiting.read(&*self.backend, offset, out),
            None => self.backend.read(offset, out),
        }
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        match self.still_waiting() {
            Some(mut waiting) => {
                let before = waiting.length().map_or_else(|| self.backend.len(), Ok)?;
                waiting.0.push(Operation::SetLength { length, before });
                Ok(())
            }
            None => self.backend.set_len(length),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        match self.still_waiting() {
            Some(mut waiting) => {
                if let Some(Operation::Write { .. } | Operation::SetLength { .. }) =
                    waiting.0.last()
                {
                    waiting.0.push(Operation::Sync);
                }
                Ok(())
            }
            None => self.backend.sync_data(),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match self.still_waiting() {
            Some(mut waiting) => {
                let data = data.into();
                waiting.0.push(Operation::Write { offset, data });
                Ok(())
            }
            None => self.backend.write(offset, data),
        }
    }

    forward_locks!(backend);
}

impl Waiting {
    /// The length of the storage once everything is carried out; `None` if nothing changes it.
    fn length(&self) -> Option<u64> {
        let mut newest_first = self.0.iter().rev();
        newest_first.find_map(|operation| match operation {
            Operation::SetLength { length, .. } => Some(*length),
            Operation::Write { .. } | Operation::Sync => None,
        })
    }

    /// Reads what will be there once everything is carried out.
    fn read(&self, backend: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let first_length = self.0.iter().find_map(|operation| match operation {
            Operation::SetLength { before, .. } => Some(*before),
            Operation::Write { .. } | Operation::Sync => None,
        });
        // What is beyond the end of the storage begins as zeros.
        let there = first_length.map_or(u64::MAX, |length| length.saturating_sub(offset));
        let there = usize::try_from(there).map_or(out.len(), |there| there.min(out.len()));
        let (held, beyond) = out.split_at_mut(there);
        if !held.is_empty() {
            backend.read(offset, held)?;
        }
        beyond.fill(0);
        for operation in &self.0 {
            match operation {
                Operation::Write { offset: at, data } => overlay(out, offset, data, *at),
                Operation::SetLength { length, .. } => {
                    let kept = usize::try_from(length.saturating_sub(offset)).unwrap_or(usize::MAX);
                    out.iter_mut().skip(kept).for_each(|byte| *byte = 0);
                }
                Operation::Sync => {}
            }
        }
        Ok(())
    }

    fn carry_out(&self, backend: &dyn StorageBackend) -> io::Result<()> {
        if let Some(end) = self.end_within_header() {
            let mut header = vec![0; end];
            self.read(backend, 0, &mut header)?;
            backend.write(0, &header)?;
            return backend.sync_data();
        }
        self.0.iter().try_for_each(|operation| match operation {
            Operation::Write { offset, data } => backend.write(*offset, data),
            Operation::SetLength { length, .. } => backend.set_len(*length),
            Operation::Sync => backend.sync_data(),
        })
    }

    /// Where the last byte ends that is written, if nothing but the header is. Then the operations only set marks in it, each
    /// instead of the one before, and the last state of the header is enough.
    fn end_within_header(&self) -> Option<usize> {
        let mut last = None;
        for operation in &self.0 {
            match operation {
                Operation::Write { offset, data } => {
                    let end = usize::try_from(*offset).ok()?.checked_add(data.len())?;
                    last = last.max(Some(end).filter(|end| *end <= HEADER_BYTES));
                    last.filter(|_| end <= HEADER_BYTES)?;
                }
                Operation::SetLength { .. } => return None,
                Operation::Sync => {}
            }
        }
        last
    }
}

/// Copies the part of `data`, which begins at `at`, that lies in `out`, which begins at `offset`.
fn overlay(out: &mut [u8], offset: u64, data: &[u8], at: u64) {
    let skipped =
        |from: u64, to: u64| usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX);
    let out = out.iter_mut().skip(skipped(offset, at));
    let data = data.iter().skip(skipped(at, offset));
    out.zip(data).for_each(|(to, from)| *to = *from);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use redb::backends::InMemoryBackend;

    use super::*;

    /// What is done to storage of this length. A write stays within the length that the storage has then.
    fn change(storage: &dyn StorageBackend, (kind, from, to): (u8, u64, u64), byte: u8) {
        let length = storage.len().unwrap();
        match kind {
            0 => storage.set_len(from).unwrap(),
            1 => storage.sync_data().unwrap(),
            _ => {
                let (from, to) = (from.min(length), to.min(length));
                let data = vec![byte; usize::try_from(to.saturating_sub(from)).unwrap()];
                storage.write(from, &data).unwrap();
            }
        }
    }

    fn content(storage: &dyn StorageBackend) -> Vec<u8> {
        let mut content = vec![0; usize::try_from(storage.len().unwrap()).unwrap()];
        storage.read(0, &mut content).unwrap();
        content
    }

    fn backend() -> Arc<InMemoryBackend> {
        let backend = InMemoryBackend::new();
        backend.set_len(700).unwrap();
        backend.write(0, &[7; 700]).unwrap();
        Arc::new(backend)
    }

    /// Storage that somebody else can still look at.
    #[derive(Debug)]
    struct Seen(Arc<InMemoryBackend>);

    impl StorageBackend for Seen {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }

        fn set_len(&self, length: u64) -> io::Result<()> {
            self.0.set_len(length)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.0.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.0.write(offset, data)
        }
    }

    proptest! {
        #[test]
        fn what_waits_reads_as_if_it_were_done_and_is_done_in_the_end(
            changes in prop::collection::vec((0_u8..6, 0_u64..900, 0_u64..900), 0..12),
            part in (0_u64..900, 0_u64..900),
        ) {
            let (plain, under) = (backend(), backend());
            let deferred = DeferredStorage::new(Seen(Arc::clone(&under)));
            for (byte, it) in (0..).zip(&changes) {
                change(&*plain, *it, byte);
                change(&deferred, *it, byte);
                prop_assert_eq!(content(&deferred), content(&*plain));
                let length = plain.len().unwrap();
                let (from, to) = (part.0.min(length), part.1.min(length));
                let mut read = vec![0; usize::try_from(to.saturating_sub(from)).unwrap()];
                deferred.read(from, &mut read).unwrap();
                let whole = content(&*plain);
                let from = usize::try_from(from).unwrap();
                prop_assert_eq!(&read[..], &whole[from..from + read.len()]);
            }
            prop_assert_eq!(content(&*under), vec![7; 700]);
            deferred.begin().unwrap();
            prop_assert_eq!(content(&*under), content(&*plain));
            deferred.write(0, &[]).unwrap();
            prop_assert_eq!(content(&deferred), content(&*plain));
        }
    }
}
