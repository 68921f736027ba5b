//! The file that a snapshot reads, and the commit that the file must still contain.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use crate::header::{FLAGS_AT, HEADER_BYTES, NEWEST_IS_SECOND, SLOTS_AT};

/// The length of a commit slot in the header.
const SLOT_BYTES: usize = 128;

/// The file, and the commit that the snapshot shows.
#[derive(Debug)]
pub(super) struct FrozenSource {
    pub(super) path: PathBuf,
    file: File,
    commit: Commit,
}

/// Identifies a commit: the content of its slot in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Commit(Vec<u8>);

impl Commit {
    fn named_by(header: &[u8]) -> Self {
        let flags = header.get(FLAGS_AT).copied().unwrap_or_default();
        let [first, second] = SLOTS_AT;
        let is_second = flags & NEWEST_IS_SECOND != 0;
        let at = if is_second { second } else { first };
        let slot = header.get(at..at + SLOT_BYTES).unwrap_or(header);
        let mut named = slot.to_vec();
        named.push(u8::from(is_second));
        Self(named)
    }
}

impl FrozenSource {
    pub(super) fn open(path: &Path) -> io::Result<(Self, Vec<u8>)> {
        let mut file = File::open(path)?;
        let header = read_header(&mut file)?;
        let source = Self {
            path: path.to_owned(),
            file,
            commit: Commit::named_by(&header),
        };
        Ok((source, header))
    }

    /// The current length of the file in bytes.
    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Whether no other commit was published since.
    pub(super) fn is_current(&mut self) -> io::Result<bool> {
        Ok(Commit::named_by(&read_header(&mut self.file)?) == self.commit)
    }

    /// Reads a piece of the shown commit; `false` if another commit was published meanwhile, or the file was truncated.
    pub(super) fn read(&mut self, offset: u64, out: &mut [u8]) -> io::Result<bool> {
        self.file.seek(SeekFrom::Start(offset))?;
        let read = self.file.read_exact(out);
        if !self.is_current()? {
            return Ok(false);
        }
        match read {
            // redb truncates a file only after it has published the commit that needs less of it.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| true),
        }
    }
}

/// The error for a reader if commits follow each other faster than it can read.
pub(super) fn busy(path: &Path) -> io::Error {
    let text = format!(
        "another process changes {} faster than it can be read: try again, or stop that process",
        path.display()
    );
    io::Error::new(io::ErrorKind::ResourceBusy, text)
}

fn read_header(file: &mut File) -> io::Result<Vec<u8>> {
    let mut header = Vec::with_capacity(HEADER_BYTES);
    file.seek(SeekFrom::Start(0))?;
    let limit = u64::try_from(HEADER_BYTES).unwrap_or(u64::MAX);
    file.by_ref().take(limit).read_to_end(&mut header)?;
    Ok(header)
}
