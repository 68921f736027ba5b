use redb::{TableDefinition, WriteTransaction};

/// The key of the format number in a kind's table.
pub(crate) const FORMAT_KEY: &str = "format";

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
    /// The name of [`FileKind::table`], which identifies the kind. Never change it: a file with another table is
    /// foreign.
    pub name: &'static str,
    /// The format of new files, and the only one that is read. A larger number in a file means a newer format.
    pub format: u64,
    /// The size of the page cache, in bytes.
    pub cache_bytes: usize,
    /// Files up to this size, in bytes, are checked page by page at every opening, about one second per gigabyte. In
    /// larger files every commit also records which pages are in use, so that opening after a crash need not read the
    /// whole file. The content of a damaged page in such a file is not detected: it is read as if it had been written,
    /// and writing over it can even abort the process. Keep checksums in the rows if that matters.
    pub check_up_to_bytes: u64,
}

impl FileKind {
    /// The table that identifies the file. Its key `"format"` is reserved; the owner may use other keys.
    #[must_use]
    pub const fn table(&self) -> TableDefinition<'static, &'static str, u64> {
        TableDefinition::new(self.name)
    }

    /// Writes the format into a new file.
    pub(crate) fn state(&self, writing: &WriteTransaction) -> Result<(), redb::Error> {
        let mut table = writing.open_table(self.table())?;
        table.insert(FORMAT_KEY, self.format)?;
        Ok(())
    }
}
