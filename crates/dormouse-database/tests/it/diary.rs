//! A kind of file for these tests, and a folder with one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dormouse_database::{
    Database, DatabaseFault, DatabaseOpenError, FileKind, begin_write, begin_write_in_memory,
    contained,
};
use redb::{ReadableTable, TableDefinition, WriteTransaction};
use tempfile::TempDir;

pub(crate) const DIARY: FileKind = FileKind {
    what: "a diary",
    name: "diary",
    format: 2,
    cache_bytes: 1 << 20,
    check_up_to_bytes: u64::MAX,
};

/// The same, all of whose files count as large.
pub(crate) const LARGE: FileKind = FileKind {
    check_up_to_bytes: 0,
    ..DIARY
};

pub(crate) const DAYS: TableDefinition<'_, u64, &str> = TableDefinition::new("days");

pub(crate) fn lay_down(writing: &WriteTransaction) -> Result<(), redb::Error> {
    let mut days = writing.open_table(DAYS)?;
    days.insert(0, "It began.")?;
    Ok(())
}

pub(crate) fn open(path: &Path) -> Result<Database, DatabaseOpenError> {
    dormouse_database::open(path, &DIARY, lay_down)
}

pub(crate) fn write(database: &Database, days: std::ops::Range<u64>) -> Result<(), DatabaseFault> {
    contained(|| {
        let writing = begin_write(database)?;
        {
            let mut table = writing.open_table(DAYS)?;
            for day in days {
                let text = format!("day {day}, tea. ").repeat(20);
                table.insert(day, text.as_str())?;
            }
        }
        Ok(writing.commit()?)
    })
}

/// Writes one day in memory.
pub(crate) fn write_in_memory(database: &Database, day: u64) -> Result<(), DatabaseFault> {
    contained(|| {
        let writing = begin_write_in_memory(database)?;
        writing.open_table(DAYS)?.insert(day, "Nothing yet.")?;
        Ok(writing.commit()?)
    })
}

/// The whole diary.
pub(crate) fn read(database: &Database) -> Result<Vec<(u64, String)>, DatabaseFault> {
    contained(|| {
        let table = database.begin_read()?.open_table(DAYS)?;
        let mut all = Vec::new();
        for row in table.iter()? {
            let (day, text) = row?;
            all.push((day.value(), text.value().to_owned()));
        }
        Ok(all)
    })
}

/// A folder of its own for one file.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    /// With a diary of several commits in it, closed.
    pub(crate) fn written() -> Self {
        let place = Self::new();
        let database = open(&place.path()).unwrap();
        write(&database, 1..150).unwrap();
        write(&database, 150..160).unwrap();
        place
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("diary.redb")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The names of all files there are.
    pub(crate) fn files(&self) -> Vec<String> {
        let listed = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = listed
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
