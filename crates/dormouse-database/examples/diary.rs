//! A file that is made, written, read again, and then damaged.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, fs, path::Path};

use dormouse_database::{Database, FileKind, begin_write, open, open_existing};
use redb::{ReadableTable, TableDefinition};

const DIARY: FileKind = FileKind {
    what: "a diary",
    name: "diary",
    format: 1,
    cache_bytes: 4 << 20,
    check_up_to_bytes: 64 << 20,
};

const DAYS: TableDefinition<'_, u64, &str> = TableDefinition::new("days");

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("diary.redb");
    let diary = open(&path, &DIARY, |writing| {
        writing.open_table(DAYS)?;
        Ok(())
    })?;
    let writing = begin_write(&diary)?;
    writing
        .open_table(DAYS)?
        .insert(1, "Tea with the Hatter.")?;
    writing.commit()?;
    print_days(&diary)?;

    println!("opened twice: {}", refusal(&path));
    drop(diary);
    let whole = fs::read(&path)?;
    fs::write(&path, whole.get(..whole.len() / 2).unwrap_or_default())?;
    println!("cut in half: {}", refusal(&path));
    Ok(())
}

fn print_days(diary: &Database) -> Result<(), Box<dyn Error>> {
    for row in diary.begin_read()?.open_table(DAYS)?.iter()? {
        let (day, text) = row?;
        println!("day {}: {}", day.value(), text.value());
    }
    Ok(())
}

fn refusal(path: &Path) -> String {
    match open_existing(path, &DIARY) {
        Ok(_) => "it opens".to_owned(),
        Err(error) => error.to_string(),
    }
}
