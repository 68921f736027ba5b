//! What can be told from the first bytes of a file before the database touches it.
//!
//! The layout is redb's file format 3, and is also in `docs/format.md`. Nothing here decides that a file is
//! good; it only recognises some ways in which it is not, and gives refusals their right name. One of them it
//! mends: see [`Header::Unsettled`].

use std::io;

use redb::StorageBackend;

use crate::{bytes::Fields, medium::WHOLE};

/// The bytes this module looks at.
pub(crate) const HEADER_BYTES: usize = 320;

const MAGIC: [u8; 9] = [b'r', b'e', b'd', b'b', 0x1A, 0x0A, 0xA9, 0x0D, 0x0A];
/// The smallest database redb makes: its header page and one page of data.
const SMALLEST_BYTES: u64 = 2 * 4096;

/// Where the byte with the flags below stands.
const FLAGS_AT: u64 = 9;
const PRIMARY_IS_SECOND: u8 = 1;
const NOT_CLOSED: u8 = 2;
const TWO_PHASES: u8 = 4;

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// No redb database.
    Foreign,
    /// A database that was longer when this was written.
    Truncated { expected: u64 },
    /// A database that says it was closed well, and yet does not point at its newest transaction. Following it
    /// could silently take back what was acknowledged. Two things lead here: a changed bit, and a process killed
    /// while redb repaired the file it had been left, for redb says "closed" before its repair is committed.
    Unsettled {
        /// The flags under which redb finds out by itself: not closed, and not to be followed without checking.
        /// It then takes the newest transaction whose pages all match their checksums.
        flags: u8,
    },
    /// Nothing wrong that can be seen from here.
    Plausible,
}

/// Looks at the start of a database.
pub(crate) fn look(backend: &dyn StorageBackend) -> io::Result<(u64, Header)> {
    let length = backend.len()?;
    let wanted = usize::try_from(length).unwrap_or(usize::MAX);
    let mut start = vec![0; wanted.min(HEADER_BYTES)];
    backend.read(0, &mut start)?;
    Ok((length, examine(&start, length)))
}

/// Makes a database that redb would misread one that it repairs. Does nothing to one that somebody has open.
pub(crate) fn settle(backend: &dyn StorageBackend) -> io::Result<()> {
    let locked = backend.try_lock_range(WHOLE.0, WHOLE.1);
    if let Ok(false) = locked {
        return Ok(());
    }
    let settled = look(backend).and_then(|(_, header)| match header {
        Header::Unsettled { flags } => {
            tracing::info!("the log was left in the middle of a repair, which is done again");
            backend.write(FLAGS_AT, &[flags])?;
            backend.sync_data()
        }
        Header::Foreign | Header::Truncated { .. } | Header::Plausible => Ok(()),
    });
    // redb takes locks of its own, which this one would refuse.
    if let Ok(true) = locked {
        let unlocked = backend.unlock_range(WHOLE.0, WHOLE.1);
        return settled.and(unlocked.map_err(io::Error::from));
    }
    settled
}

/// Looks at the start of a file of `length` bytes; `start` is its first [`HEADER_BYTES`], or all of it.
pub(crate) fn examine(start: &[u8], length: u64) -> Header {
    let shared = start.len().min(MAGIC.len());
    if start.get(..shared) != MAGIC.get(..shared) {
        return Header::Foreign;
    }
    let Some(fields) = parse(start) else {
        return Header::Truncated {
            expected: SMALLEST_BYTES,
        };
    };
    if length < fields.expected {
        return Header::Truncated {
            expected: fields.expected,
        };
    }
    let [first, second] = fields.transactions;
    let (current, other) = if fields.flags & PRIMARY_IS_SECOND == 0 {
        (first, second)
    } else {
        (second, first)
    };
    // After a crash, a newer transaction that was not finished is nothing unusual.
    if fields.flags & NOT_CLOSED == 0 && other > current {
        return Header::Unsettled {
            flags: (fields.flags & !TWO_PHASES) | NOT_CLOSED,
        };
    }
    Header::Plausible
}

struct Parsed {
    flags: u8,
    expected: u64,
    transactions: [u64; 2],
}

fn parse(start: &[u8]) -> Option<Parsed> {
    let mut fields = Fields::of(start.get(MAGIC.len()..HEADER_BYTES)?);
    let flags = fields.u8()?;
    fields.u16()?;
    let page_bytes = u64::from(fields.u32()?);
    let region_header_pages = u64::from(fields.u32()?);
    let region_pages = u64::from(fields.u32()?);
    let full_regions = u64::from(fields.u32()?);
    let last_pages = u64::from(fields.u32()?);
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
    Some(Parsed {
        flags,
        expected: pages.saturating_mul(page_bytes).max(SMALLEST_BYTES),
        transactions: [transaction(start, 64)?, transaction(start, 192)?],
    })
}

/// The number of the transaction in the commit slot at `slot`.
fn transaction(start: &[u8], slot: usize) -> Option<u64> {
    Fields::of(start.get(slot.checked_add(104)?..)?).u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_database_is_foreign_however_short() {
        assert_eq!(examine(b"#!/bin/sh\n", 10), Header::Foreign);
        assert_eq!(examine(b"x", 1), Header::Foreign);
    }

    #[test]
    fn the_first_bytes_of_a_database_alone_are_a_truncated_one() {
        assert_eq!(
            examine(&MAGIC[..4], 4),
            Header::Truncated { expected: 8192 }
        );
        assert_eq!(examine(&MAGIC, 9), Header::Truncated { expected: 8192 });
    }

    #[test]
    fn absurd_sizes_do_not_overflow() {
        let mut start = [0xFF; HEADER_BYTES];
        start[..9].copy_from_slice(&MAGIC);
        assert_eq!(
            examine(&start, 1 << 20),
            Header::Truncated { expected: u64::MAX }
        );
    }
}
