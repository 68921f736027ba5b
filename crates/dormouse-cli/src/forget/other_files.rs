//! Files of the folder other than log, world and memory: what was typed, recordings, old copies, and what others put there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{Plans, journal::NEW};
use crate::data::DataFolder;

/// Larger files of others are not searched, in bytes.
const SEARCHED: u64 = 256 << 20;

/// What the other files hold.
#[derive(Debug, Default)]
pub(super) struct OtherFiles {
    /// What was typed, without the lines that hold forgotten words, if there are such.
    pub(super) history: Option<String>,
    /// Recordings that hold forgotten words. Replies lie in them in pieces, so they are removed.
    pub(super) recordings: Vec<PathBuf>,
    /// Copies of logs and memories that the program made before it replaced them.
    pub(super) old_copies: Vec<PathBuf>,
    /// Other files that hold forgotten words. They are not the program's.
    pub(super) unknown: Vec<PathBuf>,
}

impl OtherFiles {
    /// Looks through the folder, not through folders in it.
    pub(super) fn in_folder(data: &DataFolder, plans: &Plans) -> io::Result<Self> {
        let mut found = Self::default();
        let mut files: Vec<_> = fs::read_dir(data.path())?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if is_in_use(&name) {
                continue;
            }
            if is_old_copy(&name) {
                found.old_copies.push(file);
            } else if file == data.history() {
                found.history = without_lines(&file, plans)?;
            } else if fs::metadata(&file)?.len() <= SEARCHED {
                found.search(file, plans)?;
            }
        }
        Ok(found)
    }

    fn search(&mut self, file: PathBuf, plans: &Plans) -> io::Result<()> {
        let bytes = fs::read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        if !holds(&text, plans) {
            return Ok(());
        }
        match is_recording(&text) {
            true => self.recordings.push(file),
            false => self.unknown.push(file),
        }
        Ok(())
    }
}

/// Whether a text holds forgotten words. JSON is searched string by string.
fn holds(text: &str, plans: &Plans) -> bool {
    plans
        .values()
        .any(|plan| match serde_json::from_str::<Value>(text) {
            Ok(mut json) => plan.scrub(&mut json),
            Err(_) => plan.scrub_text(text).is_some(),
        })
}

fn is_recording(text: &str) -> bool {
    text.get(..64)
        .unwrap_or(text)
        .contains("\"dormouse_cassette\"")
}

/// The files that are rewritten or made again, and the operator's own.
fn is_in_use(name: &str) -> bool {
    let is_memory =
        name.starts_with("memory-") && (name.ends_with(".redb") || name.contains(".redb.index"));
    is_memory
        || name.ends_with(NEW)
        || [
            "log.redb",
            "world.redb",
            "dialects.json",
            "dormouse.toml",
            "forget.json",
        ]
        .contains(&name)
}

/// Copies that salvaging, rebuilding and creating leave: `log.redb.damaged`, `memory-KEY.redb.former`, `….again`.
fn is_old_copy(name: &str) -> bool {
    let of = |start: &str| name.starts_with(start) && name.contains(".redb.");
    of("log.") || of("world.") || of("memory-") || (of(".") && name.ends_with(".new"))
}

/// The lines of a text file without those that hold forgotten words; `None` if there are no such lines.
fn without_lines(file: &Path, plans: &Plans) -> io::Result<Option<String>> {
    let text = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    let kept: Vec<_> = text.lines().filter(|line| !holds(line, plans)).collect();
    if kept.len() == text.lines().count() {
        return Ok(None);
    }
    let mut without = kept.join("\n");
    without.push('\n');
    Ok(Some(without))
}
