//! What the first bytes of a file reveal before redb touches it.
//!
//! The layout is redb's file format 3; `docs/format.md` describes the part that matters here. This module cannot prove
//! that a file is intact. It recognises some kinds of damage, so that errors name them, and it repairs one kind: see
//! [`Header::Unsettled`].

use std::{io, ops::Bound};

use redb::StorageBackend;

/// The part of the header that names the newest commit.
pub(crate) const HEADER_BYTES: usize = 320;

const MAGIC: [u8; 9] = [b'r', b'e', b'd', b'b', 0x1A, 0x0A, 0xA9, 0x0D, 0x0A];
/// The smallest database that redb makes: its header page and one page of data.
const SMALLEST_BYTES: u64 = 2 * 4096;

/// Where the layout of the pages is stored: five numbers of four bytes.
const LAYOUT_AT: usize = 12;
/// The commit slots, and where each one stores the number of its transaction.
pub(crate) const SLOTS_AT: [usize; 2] = [64, 192];
const TRANSACTION_AT: usize = 104;

/// The offset of the byte with the flags below.
pub(crate) const FLAGS_AT: usize = 9;
pub(crate) const NEWEST_IS_SECOND: u8 = 1;
const NOT_CLOSED: u8 = 2;
const TWO_PHASES: u8 = 4;

/// The result of examining the first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// Not a redb database.
    Foreign,
    /// A database that was longer when this header was written.
    Truncated { found: u64, expected: u64 },
    /// A database that claims to be closed, but does not point at its newest commit. Opening the commit that it points
    /// at could silently undo acknowledged commits. There are two causes: a changed bit, and a process that was killed
    /// while redb repaired the file, because redb writes "closed" before its repair is committed.
    Unsettled {
        /// The flags that make redb look for the newest commit: not closed, and committed in one phase. redb then takes
        /// the newest commit whose pages all match their checksums.
        flags: u8,
    },
    /// The header shows no problem.
    Plausible {
        /// Whether the file was closed properly, or a process ended before it closed the file.
        ending: Ending,
    },
}

/// How the last process that wrote a file ended its work on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It closed the file, so everything was on disk.
    Closed,
    /// It was killed, or it has the file open.
    Cut,
}

/// The result of [`prepare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prepared {
    /// Another process, or another handle in this one, has the storage open.
    InUse,
    Alone(Header),
}

/// Examines the header under a lock, so that nobody is writing it, and mends an unsettled one.
pub(crate) fn prepare(backend: &dyn StorageBackend) -> io::Result<Prepared> {
    let whole = (Bound::Unbounded, Bound::Unbounded);
    // Storage without locks (memory, a snapshot, some file systems) returns an error and counts as not in use.
    let locked = backend.try_lock_range(whole.0, whole.1);
    if let Ok(false) = locked {
        return Ok(Prepared::InUse);
    }
    let prepared = look(backend).and_then(|header| {
        settle(backend, header)?;
        Ok(Prepared::Alone(header))
    });
    if let Ok(true) = locked {
        // redb takes locks of its own, which this lock would block.
        let unlocked = backend.unlock_range(whole.0, whole.1);
        return prepared.and_then(|found| unlocked.map(|()| found).map_err(io::Error::from));
    }
    prepared
}

fn look(backend: &dyn StorageBackend) -> io::Result<Header> {
    let length = backend.len()?;
    let wanted = usize::try_from(length).unwrap_or(usize::MAX);
    let mut start = vec![0; wanted.min(HEADER_BYTES)];
    backend.read(0, &mut start)?;
    Ok(examine(&start, length))
}

fn settle(backend: &dyn StorageBackend, header: Header) -> io::Result<()> {
    match header {
        Header::Unsettled { flags } => {
            tracing::info!("a repair of the file was interrupted, and is done again");
            backend.write(FLAGS_AT as u64, &[flags])?;
            backend.sync_data()
        }
        Header::Foreign | Header::Truncated { .. } | Header::Plausible { .. } => Ok(()),
    }
}

/// Examines a file of `length` bytes; `start` is its first [`HEADER_BYTES`], or all of it.
fn examine(start: &[u8], length: u64) -> Header {
    let shared = start.len().min(MAGIC.len());
    if start.get(..shared) != MAGIC.get(..shared) {
        return Header::Foreign;
    }
    let truncated = |expected| Header::Truncated {
        found: length,
        expected,
    };
    let Some(fields) = HeaderFields::parse(start) else {
        return truncated(SMALLEST_BYTES);
    };
    if length < fields.expected {
        return truncated(fields.expected);
    }
    let [first, second] = fields.transactions;
    let (current, other) = if fields.flags & NEWEST_IS_SECOND == 0 {
        (first, second)
    } else {
        (second, first)
    };
    // After a crash, an unfinished newer commit is normal: redb sees that the file was not closed, and decides.
    if fields.flags & NOT_CLOSED == 0 && other > current {
        return Header::Unsettled {
            flags: (fields.flags & !TWO_PHASES) | NOT_CLOSED,
        };
    }
    let ending = match fields.flags & NOT_CLOSED {
        0 => Ending::Closed,
        _ => Ending::Cut,
    };
    Header::Plausible { ending }
}

struct HeaderFields {
    flags: u8,
    /// The length of the file according to its layout.
    expected: u64,
    transactions: [u64; 2],
}

impl HeaderFields {
    fn parse(start: &[u8]) -> Option<Self> {
        let [first, second] = SLOTS_AT;
        let transaction = |slot| Some(u64::from_le_bytes(*at(start, slot + TRANSACTION_AT)?));
        Some(Self {
            flags: *start.get(FLAGS_AT)?,
            expected: expected_bytes(start)?,
            transactions: [transaction(first)?, transaction(second)?],
        })
    }
}

/// The length of the file according to its layout. Absurd numbers saturate: such a file is reported as truncated.
fn expected_bytes(start: &[u8]) -> Option<u64> {
    let number = |index: usize| {
        let bytes = at(start, LAYOUT_AT + 4 * index)?;
        Some(u64::from(u32::from_le_bytes(*bytes)))
    };
    let [
        page_bytes,
        region_header_pages,
        region_pages,
        full_regions,
        last_pages,
    ] = [number(0)?, number(1)?, number(2)?, number(3)?, number(4)?];
    let last = if last_pages > 0 {
        region_header_pages.saturating_add(last_pages)
    } else {
        0
    };
    let pages = region_header_pages
        .saturating_add(region_pages)
        .saturating_mul(full_regions)
        .saturating_add(last)
        .saturating_add(1);
    Some(pages.saturating_mul(page_bytes).max(SMALLEST_BYTES))
}

fn at<const N: usize>(start: &[u8], offset: usize) -> Option<&[u8; N]> {
    start.get(offset..)?.first_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truncated(found: u64, expected: u64) -> Header {
        Header::Truncated { found, expected }
    }

    #[test]
    fn a_file_of_any_length_that_is_not_a_database_is_foreign() {
        assert_eq!(examine(b"#!/bin/sh\n", 10), Header::Foreign);
        assert_eq!(examine(b"x", 1), Header::Foreign);
    }

    #[test]
    fn the_first_bytes_of_a_database_alone_are_a_truncated_one() {
        assert_eq!(examine(&MAGIC[..4], 4), truncated(4, 8192));
        assert_eq!(examine(&MAGIC, 9), truncated(9, 8192));
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let mut start = [0xFF; HEADER_BYTES];
        start[..9].copy_from_slice(&MAGIC);
        assert_eq!(examine(&start, 1 << 20), truncated(1 << 20, u64::MAX));
    }
}
