use std::{fmt, path::Path};

use dormouse_contracts::Timestamp;
use redb::{ReadTransaction, TableDefinition, TableError, WriteTransaction};

use crate::pending::PendingCommits;

/// The key of the format number in a kind's table.
const FORMAT_KEY: &str = "format";

/// What a file contains, recorded in the file itself. It keeps one kind of file from being opened as another.
///
/// [`FileKind`] is the usual signature. Implement the trait for another type only for files that already record their
/// kind in another way.
pub trait FileSignature: fmt::Debug + Sync {
    /// The name for users, with its article: "a diary". Only messages use it.
    fn what(&self) -> &'static str;

    /// The newest format that this version reads.
    fn newest_format(&self) -> u64;

    /// The size of the page cache, in bytes.
    fn cache_bytes(&self) -> usize;

    /// The limit that [`FileKind::check_up_to_bytes`] describes.
    fn check_up_to_bytes(&self) -> u64;

    /// Writes the signature into a new file. `created_at` is when the file was created, by the clock of its file
    /// system; it is the epoch if that time is unknown.
    ///
    /// # Errors
    ///
    /// Any error of redb.
    fn write(&self, writing: &WriteTransaction, created_at: Timestamp) -> Result<(), redb::Error>;

    /// Reads the signature of a file.
    ///
    /// # Errors
    ///
    /// Any error of redb, if the signature cannot be read.
    fn read(&self, reading: &ReadTransaction) -> Result<SignatureFound, redb::Error>;

    /// The commits of the file at this path that are not in the file yet; `None` if this kind never has any.
    fn pending_commits(&self, _path: &Path) -> Option<Box<dyn PendingCommits>> {
        None
    }
}

/// What [`FileSignature::read`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFound {
    /// A file of this kind, in a format that this version reads.
    Known,
    /// A file of this kind, in this later format.
    Newer(u64),
    /// A file of this kind, in this earlier format, which this version does not read.
    Older(u64),
    /// A file of another kind.
    Foreign,
    /// A signature that is damaged.
    Damaged,
}

/// What a file contains. It keeps one kind of file from being opened as another.
///
/// # Examples
///
/// ```
/// use dormouse_database::FileKind;
///
/// const DIARY: FileKind = FileKind {
///     what: "a diary",
///     name: "diary",
///     format: 1,
///     cache_bytes: 4 << 20,
///     check_up_to_bytes: 64 << 20,
/// };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// The name for users, with its article: "a diary". Only messages use it.
    pub what: &'static str,
    /// The name of [`FileKind::table`], which identifies the kind. Never change it: a file without this table is
    /// refused as [`SignatureFound::Foreign`].
    pub name: &'static str,
    /// The format of new files, and the only one that is read. A larger number in a file means a newer
    /// format, a smaller one an older format; both are refused.
    pub format: u64,
    /// The size of the page cache, in bytes.
    pub cache_bytes: usize,
    /// A file up to this size, in bytes, is checked page by page when it is opened, which takes about one second per gigabyte.
    /// If the file was closed properly, only a file of at most 4 MiB is checked. So opening a file that was closed takes the
    /// same time however long it is. In files above this size every commit also records which pages are in use, so that
    /// opening after a crash need not read the whole file. Damage to a page that is not checked is not detected: its content
    /// is used as it is, and overwriting it can even abort the process. Keep checksums in the rows if that matters.
    pub check_up_to_bytes: u64,
}

impl FileKind {
    /// The table that identifies the file. Its key `"format"` is reserved; the owner may use other keys.
    #[must_use]
    pub const fn table(&self) -> TableDefinition<'static, &'static str, u64> {
        TableDefinition::new(self.name)
    }
}

impl FileSignature for FileKind {
    fn what(&self) -> &'static str {
        self.what
    }

    fn newest_format(&self) -> u64 {
        self.format
    }

    fn cache_bytes(&self) -> usize {
        self.cache_bytes
    }

    fn check_up_to_bytes(&self) -> u64 {
        self.check_up_to_bytes
    }

    fn write(&self, writing: &WriteTransaction, _: Timestamp) -> Result<(), redb::Error> {
        let mut table = writing.open_table(self.table())?;
        table.insert(FORMAT_KEY, self.format)?;
        Ok(())
    }

    fn read(&self, reading: &ReadTransaction) -> Result<SignatureFound, redb::Error> {
        let table = match reading.open_table(self.table()) {
            Ok(table) => table,
            Err(TableError::Storage(error)) => return Err(error.into()),
            Err(_) => return Ok(SignatureFound::Foreign),
        };
        let format = table.get(FORMAT_KEY)?.map(|format| format.value());
        Ok(match format {
            Some(found) if found == self.format => SignatureFound::Known,
            Some(found) if found > self.format => SignatureFound::Newer(found),
            Some(found) => SignatureFound::Older(found),
            None => SignatureFound::Foreign,
        })
    }
}
