//! What can be told from the first bytes of a file before the database touches it.
//!
//! The layout is that of redb's file format 3. Nothing here says that a file is good: it only finds two ways in which it
//! is not, of which the library would notice one late or never, and the other not at all.

use std::{io, ops::Bound};

use redb::{DatabaseError, StorageBackend, StorageError};

const MAGIC: [u8; 9] = [b'r', b'e', b'd', b'b', 0x1A, 0x0A, 0xA9, 0x0D, 0x0A];

/// The bytes of both commit slots, and all before them.
const HEADER_BYTES: usize = 320;

const FLAGS_AT: usize = 9;
const SECOND_IS_CURRENT: u8 = 1;
const NOT_CLOSED: u8 = 2;
const TWO_PHASES: u8 = 4;

/// Where the numbers of the last two transactions stand.
const TRANSACTIONS_AT: [usize; 2] = [64 + 104, 192 + 104];

/// A file is shorter than its own first page says.
#[derive(Debug, thiserror::Error)]
#[error("it was cut short: it has {found} bytes and should have at least {expected}")]
struct CutShort {
    found: u64,
    expected: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    /// It says it was closed well, and yet does not point at its newest transaction. Two things lead here: a changed
    /// bit, and a process killed while redb repaired the file, for redb says "closed" before its repair is
    /// committed. Followed as it is, it could silently take back what was committed.
    Unsettled {
        /// The flags under which redb takes the newest transaction whose pages all match their checksums.
        flags: u8,
    },
    /// It should be so long, and is not.
    CutShort { expected: u64 },
    /// Nothing wrong that can be seen from here; or no database, which redb says best.
    Plausible,
}

/// Refuses storage that was cut short, and makes one that redb would misread one that it repairs.
pub(crate) fn settle(backend: &impl StorageBackend) -> Result<(), DatabaseError> {
    match backend.try_lock_range(Bound::Unbounded, Bound::Unbounded) {
        Ok(true) => {
            let settled = settle_locked(backend);
            let unlocked = backend.unlock_range(Bound::Unbounded, Bound::Unbounded);
            settled?;
            unlocked.map_err(|error| io_error(io::Error::other(error)))
        }
        Ok(false) => Err(DatabaseError::DatabaseAlreadyOpen),
        // Without locks nobody can tell who else is writing, so it is left as it is.
        Err(_) => Ok(()),
    }
}

fn settle_locked(backend: &impl StorageBackend) -> Result<(), DatabaseError> {
    let found = backend.len().map_err(io_error)?;
    let mut start = [0; HEADER_BYTES];
    if found < HEADER_BYTES as u64 {
        return Ok(());
    }
    backend.read(0, &mut start).map_err(io_error)?;
    match examine(&start, found) {
        Header::Plausible => Ok(()),
        Header::CutShort { expected } => Err(io_error(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            CutShort { found, expected },
        ))),
        Header::Unsettled { flags } => {
            tracing::info!("a file was left in the middle of a repair, which is done again");
            backend.write(FLAGS_AT as u64, &[flags]).map_err(io_error)?;
            backend.sync_data().map_err(io_error)
        }
    }
}

fn io_error(error: io::Error) -> DatabaseError {
    DatabaseError::Storage(StorageError::Io(error))
}

/// Looks at the start of a file of `length` bytes.
fn examine(start: &[u8; HEADER_BYTES], length: u64) -> Header {
    if !start.starts_with(&MAGIC) {
        return Header::Plausible;
    }
    let expected = expected(start);
    if length < expected {
        return Header::CutShort { expected };
    }
    let flags = start.get(FLAGS_AT).copied().unwrap_or_default();
    let [first, second] = TRANSACTIONS_AT.map(|at| u64::from_le_bytes(bytes(start, at)));
    let (current, other) = if flags & SECOND_IS_CURRENT == 0 {
        (first, second)
    } else {
        (second, first)
    };
    // In a file that was not closed, a newer transaction that was not finished is nothing unusual.
    if flags & NOT_CLOSED == 0 && other > current {
        return Header::Unsettled {
            flags: (flags & !TWO_PHASES) | NOT_CLOSED,
        };
    }
    Header::Plausible
}

/// The least length in bytes of a file with this layout: its first page, and regions of pages.
fn expected(start: &[u8; HEADER_BYTES]) -> u64 {
    let [page_bytes, head_pages, region_pages, regions, last_pages] =
        [12, 16, 20, 24, 28].map(|at| u64::from(u32::from_le_bytes(bytes(start, at))));
    let last = if last_pages > 0 {
        head_pages.saturating_add(last_pages)
    } else {
        0
    };
    head_pages
        .saturating_add(region_pages)
        .saturating_mul(regions)
        .saturating_add(last)
        .saturating_add(1)
        .saturating_mul(page_bytes)
}

fn bytes<const N: usize>(start: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    start
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .copied()
        .unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(flags: u8, transactions: [u64; 2]) -> [u8; HEADER_BYTES] {
        let mut start = [0; HEADER_BYTES];
        start[..9].copy_from_slice(&MAGIC);
        start[FLAGS_AT] = flags;
        for (at, transaction) in TRANSACTIONS_AT.into_iter().zip(transactions) {
            start[at..at + 8].copy_from_slice(&transaction.to_le_bytes());
        }
        start
    }

    #[test]
    fn a_closed_file_points_at_its_newest_transaction() {
        let look = |flags, transactions| examine(&header(flags, transactions), 1 << 20);
        assert_eq!(look(0, [8, 7]), Header::Plausible);
        assert_eq!(look(SECOND_IS_CURRENT, [7, 8]), Header::Plausible);
        assert_eq!(look(NOT_CLOSED, [7, 8]), Header::Plausible);
        assert_eq!(
            look(TWO_PHASES, [7, 8]),
            Header::Unsettled { flags: NOT_CLOSED }
        );
        assert_eq!(
            look(SECOND_IS_CURRENT | TWO_PHASES, [8, 7]),
            Header::Unsettled {
                flags: SECOND_IS_CURRENT | NOT_CLOSED
            }
        );
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let mut start = [0xFF; HEADER_BYTES];
        start[..9].copy_from_slice(&MAGIC);
        assert_eq!(
            examine(&start, 1 << 20),
            Header::CutShort { expected: u64::MAX }
        );
    }
}
