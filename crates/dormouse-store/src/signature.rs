//! What the file says about itself: that it is a log, in which format, and when and by which program it was created.

use std::path::Path;

use dormouse_contracts::Timestamp;
use dormouse_database::{FileSignature, PendingCommits, SignatureFound};
use redb::{ReadOnlyTable, ReadTransaction, ReadableTable, WriteTransaction};

use crate::{
    events,
    fault::Fault,
    frame::{Fields, FrameFault},
    rows::{META, decode_fact, encode_fact},
    wal::{Generation, PendingAppends, WalFile},
};

/// The format of a file that is complete by itself, as closing it leaves it.
const COMPLETE: u16 = 1;
/// The format of a file that has a write-ahead file. An older program refuses it: it would not read that file.
const WITH_WRITE_AHEAD: u16 = 2;

const FORMAT_KEY: &str = "format";
/// The generation of the records in the write-ahead file. Only a file of that format has it.
const WRITE_AHEAD: &str = "write_ahead";
const CREATED_AT: &str = "created_at";
const CREATED_BY: &str = "created_by";
const PROGRAM: &str = concat!("dormouse-store ", env!("CARGO_PKG_VERSION"));

/// When and by which program a log was created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Creation {
    /// When the file was created, by the clock of its file system; the epoch if that is unknown.
    pub at: Timestamp,
    /// The program and version that created it (`"dormouse-store 0.1.0"`).
    pub program: String,
}

/// The signature of a log's file.
#[derive(Debug)]
pub(crate) struct LogFile {
    /// Memory for pages, in bytes.
    pub(crate) cache_bytes: usize,
}

/// An assistant reads its past in order and writes at its end, so a larger cache gains little.
pub(crate) const LOG_FILE: LogFile = LogFile {
    cache_bytes: 16 * 1024 * 1024,
};

/// In larger files every commit also records which pages are in use, so that opening after a crash need not read the whole
/// file. Opening a larger file after a crash also skips the check of every page. For a smaller file this costs at most
/// some tens of milliseconds for reading the file, and as much for checking its pages. `docs/format.md` has the reasons.
const LARGE_FILE_BYTES: u64 = 64 * 1024 * 1024;

impl FileSignature for LogFile {
    fn what(&self) -> &'static str {
        "an event log"
    }

    fn newest_format(&self) -> u64 {
        WITH_WRITE_AHEAD.into()
    }

    fn cache_bytes(&self) -> usize {
        self.cache_bytes
    }

    fn check_up_to_bytes(&self) -> u64 {
        LARGE_FILE_BYTES
    }

    fn write(
        &self,
        transaction: &WriteTransaction,
        created_at: Timestamp,
    ) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(META)?;
        let mut put = |name: &str, value: &[u8]| -> Result<(), redb::Error> {
            table.insert(name.as_bytes(), encode_fact(name, value).as_slice())?;
            Ok(())
        };
        put(FORMAT_KEY, &COMPLETE.to_le_bytes())?;
        put(CREATED_AT, &created_at.as_micros().to_le_bytes())?;
        put(CREATED_BY, PROGRAM.as_bytes())
    }

    fn read(&self, transaction: &ReadTransaction) -> Result<SignatureFound, redb::Error> {
        let table = match transaction.open_table(META) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(SignatureFound::Foreign),
            Err(error) => return Err(error.into()),
        };
        let format = match fact(&table, FORMAT_KEY)? {
            Ok(bytes) => Fields::of(&bytes).u16(),
            Err(FrameFault::Newer { found }) => return Ok(SignatureFound::Newer(found.into())),
            Err(FrameFault::Damaged) => None,
        };
        Ok(match format {
            Some(COMPLETE | WITH_WRITE_AHEAD) => SignatureFound::Known,
            Some(0) | None => SignatureFound::Damaged,
            Some(found) => SignatureFound::Newer(found.into()),
        })
    }

    fn pending_commits(&self, path: &Path) -> Option<Box<dyn PendingCommits>> {
        Some(Box::new(PendingAppends(WalFile::of(path))))
    }
}

/// The generation of the records that belong to this commit of the file; `None` if the file is complete.
pub(crate) fn generation(transaction: &ReadTransaction) -> Result<Option<Generation>, Fault> {
    let table = transaction.open_table(META)?;
    let is_complete = match fact(&table, FORMAT_KEY)? {
        Ok(format) => Fields::of(&format).u16() == Some(COMPLETE),
        Err(_) => return Err(events::corrupt()),
    };
    if is_complete {
        return Ok(None);
    }
    let found = fact(&table, WRITE_AHEAD)?.ok();
    let generation = found.and_then(|bytes| Generation::parse(&bytes));
    generation.map(Some).ok_or_else(events::corrupt)
}

/// Writes which generation of records belongs to this commit of the file; `None` if the file is complete from now on.
pub(crate) fn set_generation(
    transaction: &WriteTransaction,
    generation: Option<Generation>,
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(META)?;
    let format = match generation {
        Some(generation) => {
            let fact = encode_fact(WRITE_AHEAD, generation.bytes());
            table.insert(WRITE_AHEAD.as_bytes(), fact.as_slice())?;
            WITH_WRITE_AHEAD
        }
        None => {
            table.remove(WRITE_AHEAD.as_bytes())?;
            COMPLETE
        }
    };
    let fact = encode_fact(FORMAT_KEY, &format.to_le_bytes());
    if (table.get(FORMAT_KEY.as_bytes())?).is_none_or(|known| known.value() != fact) {
        table.insert(FORMAT_KEY.as_bytes(), fact.as_slice())?;
    }
    Ok(())
}

/// Whether a copy of the log has this fact, too. The copy has its own format, because it is complete.
pub(crate) fn is_copied(name: &[u8]) -> bool {
    ![FORMAT_KEY, WRITE_AHEAD].map(str::as_bytes).contains(&name)
}

/// The creation of a log; `None` if it is damaged.
pub(crate) fn creation(transaction: &ReadTransaction) -> Result<Option<Creation>, redb::Error> {
    let table = transaction.open_table(META)?;
    let (Ok(at), Ok(program)) = (fact(&table, CREATED_AT)?, fact(&table, CREATED_BY)?) else {
        return Ok(None);
    };
    let (Some(at), Ok(program)) = (Fields::of(&at).i64(), String::from_utf8(program)) else {
        return Ok(None);
    };
    let at = Timestamp::from_micros(at);
    Ok(Some(Creation { at, program }))
}

type MetaTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// The value of a fact. A missing fact counts as damaged, because all facts are written when the file is created.
fn fact(table: &MetaTable, name: &str) -> Result<Result<Vec<u8>, FrameFault>, redb::Error> {
    let Some(found) = table.get(name.as_bytes())? else {
        return Ok(Err(FrameFault::Damaged));
    };
    Ok(decode_fact(name, found.value()).map(<[u8]>::to_vec))
}
