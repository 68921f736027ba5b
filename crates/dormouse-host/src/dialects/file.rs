//! The file of the dialect book: read as a whole, written as a whole.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use dormouse_contracts::invariant;
use dormouse_database::temporary_name;
use dormouse_dialects::{BookError, DialectBook};

/// How many damaged files are kept in the same folder.
const KEPT_ASIDE: u32 = 100;

/// The learnt dialects cannot be read or stored. Nothing else fails because of this, because they can be learnt again.
#[derive(Debug, thiserror::Error)]
pub enum DialectsError {
    /// It cannot be read.
    #[error("what was learnt about models cannot be read from {}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A newer program wrote it.
    #[error("what was learnt about models was written by a newer version and is not used")]
    Newer(#[source] BookError),
    /// It is damaged, and was renamed.
    #[error("the file with what was learnt about models is damaged; it is kept as {}, and a new one is used", aside.display())]
    Damaged {
        /// Where it is now.
        aside: PathBuf,
        /// What is wrong with it.
        source: BookError,
    },
    /// It is damaged, and stays where it is.
    #[error("the file {} with what was learnt about models is damaged; the next start uses a new one", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: BookError,
    },
    /// It cannot be written.
    #[error("what was learnt about models cannot be written to {}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The book in the file, or an empty one if there is no file.
pub(super) fn read_book(file: &Path) -> Result<DialectBook, DialectsError> {
    let text = match read_text(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DialectBook::default()),
        Err(source) => {
            let file = file.to_owned();
            return Err(DialectsError::Read { file, source });
        }
        Ok(text) => text,
    };
    DialectBook::from_json(&text).map_err(|source| match source {
        newer @ BookError::Newer { .. } => DialectsError::Newer(newer),
        source => DialectsError::Unreadable {
            file: file.to_owned(),
            source,
        },
    })
}

/// Reads the text. Bytes that are not UTF-8 make an invalid book, which is reported as damaged.
fn read_text(file: &Path) -> io::Result<String> {
    let open = File::open(file)?;
    if !open.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let limit = DialectBook::JSON_LIMIT as u64 + 1;
    open.take(limit).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the book to a new file that only its owner can read, and moves it into place once it is on disk.
pub(super) fn write_book(file: &Path, book: &DialectBook) -> Result<(), DialectsError> {
    let failed = |source| DialectsError::Write {
        file: file.to_owned(),
        source,
    };
    let text = book.to_json().map_err(|error| failed(error.into()))?;
    let new = temporary_name(file, std::process::id(), 0)
        .ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let written = write_whole(&new, &text).and_then(|()| fs::rename(&new, file));
    if let Err(error) = written {
        // A partial file is useless. If removing it fails too, the first error already tells the cause.
        drop(fs::remove_file(&new));
        return Err(failed(error));
    }
    Ok(())
}

fn write_whole(new: &Path, text: &str) -> io::Result<()> {
    // An earlier process with the same process id may have left this file.
    drop(fs::remove_file(new));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut open = options.open(new)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()
}

/// Gives the file another name, and returns it.
pub(super) fn put_aside(file: &Path) -> Result<PathBuf, DialectsError> {
    let failed = |source| DialectsError::Write {
        file: file.to_owned(),
        source,
    };
    let names = (1..=KEPT_ASIDE).map(|number| beside(file, &format!(".damaged-{number}")));
    let free = names.clone().find(|name| !name.exists());
    // If all names are taken, the last one is replaced.
    let aside = free.or_else(|| names.clone().next_back());
    let aside = invariant!(aside, "there is at least one name");
    fs::rename(file, &aside).map_err(failed)?;
    Ok(aside)
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(end);
    name.into()
}
