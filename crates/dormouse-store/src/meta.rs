//! Facts about the file as a whole: its format, and when and by which program it was made.

use dormouse_contracts::Timestamp;
use dormouse_database::{FileSignature, SignatureFound};
use redb::{ReadTransaction, WriteTransaction};

use crate::{
    bytes::Fields,
    frame::{self, FORMAT, FrameFault, Magic},
    tables::META,
};

const FORMAT_KEY: &str = "format";
const CREATED_AT: &str = "created_at";
const CREATED_BY: &str = "created_by";
const PROGRAM: &str = concat!("dormouse-store ", env!("CARGO_PKG_VERSION"));

/// When and by what a log was made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// When the file was made, by the clock of its file system; the epoch if that is not known.
    pub at: Timestamp,
    /// The program and version that made it (`"dormouse-store 0.1.0"`).
    pub program: String,
}

/// The signature of a log's file.
#[derive(Debug)]
pub(crate) struct LogFile {
    /// Memory for pages, in bytes.
    pub(crate) cache_bytes: usize,
}

/// An assistant reads its past in order and writes at its end, so a larger cache buys little.
pub(crate) const LOG_FILE: LogFile = LogFile {
    cache_bytes: 16 * 1024 * 1024,
};

/// In larger files every commit also records which pages are in use, so that opening after a crash need not read the whole
/// file, and opening does not check every page. In smaller ones both take at most some tens of milliseconds.
/// `docs/format.md` has the reasons.
const LARGE_FILE_BYTES: u64 = 64 * 1024 * 1024;

impl FileSignature for LogFile {
    fn what(&self) -> &'static str {
        "an event log"
    }

    fn newest_format(&self) -> u64 {
        FORMAT.into()
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
        write(transaction, created_at)
    }

    fn read(&self, transaction: &ReadTransaction) -> Result<SignatureFound, redb::Error> {
        Ok(match read(transaction)? {
            Meta::Known(_) => SignatureFound::Known,
            Meta::Newer { found } => SignatureFound::Newer(found.into()),
            Meta::None => SignatureFound::Foreign,
            Meta::Damaged => SignatureFound::Damaged,
        })
    }
}

/// What the file says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meta {
    /// Its format is known.
    Known(Origin),
    /// It was written by a newer program.
    Newer { found: u16 },
    /// There is no such statement: this is not a log.
    None,
    /// The statement is there and cannot be used.
    Damaged,
}

/// Writes the facts into a new file.
fn write(transaction: &WriteTransaction, created_at: Timestamp) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(META)?;
    let mut put = |name: &str, value: &[u8]| -> Result<(), redb::Error> {
        table.insert(name.as_bytes(), seal(name, value).as_slice())?;
        Ok(())
    };
    put(FORMAT_KEY, &FORMAT.to_le_bytes())?;
    put(CREATED_AT, &created_at.as_micros().to_le_bytes())?;
    put(CREATED_BY, PROGRAM.as_bytes())
}

fn seal(name: &str, value: &[u8]) -> Vec<u8> {
    let mut body = vec![u8::try_from(name.len()).unwrap_or(u8::MAX)];
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(value);
    frame::seal(Magic::Meta, &body)
}

/// Reads them back.
pub(crate) fn read(transaction: &ReadTransaction) -> Result<Meta, redb::Error> {
    let table = match transaction.open_table(META) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Meta::None),
        Err(error) => return Err(error.into()),
    };
    let value = |name: &str| -> Result<Result<Vec<u8>, FrameFault>, redb::Error> {
        let Some(found) = table.get(name.as_bytes())? else {
            return Ok(Err(FrameFault::Damaged));
        };
        Ok(unseal(name, found.value()))
    };
    let format = match value(FORMAT_KEY)? {
        Ok(bytes) => Fields::of(&bytes).u16(),
        Err(FrameFault::Newer { found }) => return Ok(Meta::Newer { found }),
        Err(FrameFault::Damaged) => return Ok(Meta::Damaged),
    };
    match format {
        Some(found) if found > FORMAT => return Ok(Meta::Newer { found }),
        Some(FORMAT) => {}
        Some(_) | None => return Ok(Meta::Damaged),
    }
    let (Ok(at), Ok(program)) = (value(CREATED_AT)?, value(CREATED_BY)?) else {
        return Ok(Meta::Damaged);
    };
    let (Some(at), Ok(program)) = (Fields::of(&at).i64(), String::from_utf8(program)) else {
        return Ok(Meta::Damaged);
    };
    Ok(Meta::Known(Origin {
        at: Timestamp::from_micros(at),
        program,
    }))
}

fn unseal(name: &str, bytes: &[u8]) -> Result<Vec<u8>, FrameFault> {
    let mut fields = Fields::of(frame::unseal(Magic::Meta, bytes)?);
    let length = usize::from(fields.u8().ok_or(FrameFault::Damaged)?);
    match fields.text(length) {
        Some(found) if found == name => Ok(fields.rest().to_vec()),
        _ => Err(FrameFault::Damaged),
    }
}
