use redb::{TableDefinition, WriteTransaction};

/// Under which name the format stands in a kind's table.
pub(crate) const FORMAT_KEY: &str = "format";

/// What a file holds, so that none is taken for another.
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
    /// What a user calls it, with its article: "a diary". It stands in messages only.
    pub what: &'static str,
    /// The name of [`FileKind::table`], by which the file is known. Never changed: a file with another one is
    /// foreign.
    pub name: &'static str,
    /// The format a new file gets, and the only one that is read. A larger one in a file is a newer format.
    pub format: u64,
    /// How much of the file is kept in memory, in bytes.
    pub cache_bytes: usize,
    /// Files up to this size, in bytes, are checked page by page at every opening, about a second for a gigabyte.
    /// For larger ones every commit records also which pages are in use, so that opening one after a crash
    /// need not read all of it either. What a damaged page of such a file holds is then read as if it had been
    /// written, and writing over it can even end the process: who must not mistake it keeps checksums in its rows.
    pub check_up_to_bytes: u64,
}

impl FileKind {
    /// The table that says what the file is. The name `"format"` in it is taken; others are the owner's.
    #[must_use]
    pub const fn table(&self) -> TableDefinition<'static, &'static str, u64> {
        TableDefinition::new(self.name)
    }

    /// Writes into a new file what it is.
    pub(crate) fn state(&self, writing: &WriteTransaction) -> Result<(), redb::Error> {
        let mut table = writing.open_table(self.table())?;
        table.insert(FORMAT_KEY, self.format)?;
        Ok(())
    }
}
