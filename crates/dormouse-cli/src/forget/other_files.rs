//! Files of the folder other than log, world and memory: typed lines, recordings, old copies, and files of other
//! programs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_engine::Selected;
use serde_json::Value;

use super::{Plans, journal::NEW};
use dormouse_host::DataFolder;

/// Larger files of other programs are not searched, in bytes.
const SEARCHED: u64 = 256 << 20;

/// The content of the other files.
#[derive(Debug, Default)]
pub(super) struct OtherFiles {
    /// Typed lines and exported memories, without the lines that contain forgotten words.
    pub(super) shortened: Vec<(PathBuf, String)>,
    /// Recordings, and exports of a person, that contain forgotten words. They are removed as a whole, because a
    /// recording has replies in pieces.
    copies: Vec<PathBuf>,
    /// Copies of logs and memories that the program made before it replaced them. They are always removed.
    old_copies: Vec<PathBuf>,
    /// Whether one of these holds forgotten words, as far as that can be seen.
    is_in_old_copy: bool,
    /// Other files that contain forgotten words. They do not belong to the program.
    pub(super) unknown: Vec<PathBuf>,
}

impl OtherFiles {
    /// Searches the folder, but not its subfolders.
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
                found.is_in_old_copy = found.is_in_old_copy || holds_bytes(&file, plans)?;
                found.old_copies.push(file);
            } else if file == data.game_people() {
                found.without_accounts(file, plans)?;
            } else if file == data.history() {
                let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
                found.shorten(file, &text, plans);
            } else if fs::metadata(&file)?.len() <= SEARCHED {
                found.search(file, plans)?;
            }
        }
        Ok(found)
    }

    /// Files that are removed.
    pub(super) fn removed(&self) -> impl Iterator<Item = &PathBuf> {
        self.copies.iter().chain(&self.old_copies)
    }

    /// Whether no file has to be changed or removed.
    pub(super) fn is_nothing(&self) -> bool {
        self.shortened.is_empty() && self.copies.is_empty() && !self.is_in_old_copy
    }

    /// Removes the accounts of a person from those that a game has named.
    fn without_accounts(&mut self, file: PathBuf, plans: &Plans) -> io::Result<()> {
        // A damaged file counts as an empty one: the game names its people again.
        let Ok(mut known) = serde_json::from_slice::<Value>(&fs::read(&file)?) else {
            self.old_copies.push(file);
            return Ok(());
        };
        let selected: Vec<_> = plans
            .values()
            .map(|plan| plan.selection().selected())
            .collect();
        let is_taken = |account: &Value| {
            let id = account.get(1).and_then(Value::as_str);
            let mut ids = selected.iter().flat_map(Selected::ids);
            ids.any(|taken| Some(taken.as_str()) == id)
        };
        if let Some(accounts) = known.get_mut("accounts").and_then(Value::as_object_mut) {
            let before = accounts.len();
            accounts.retain(|_, account| !is_taken(account));
            if accounts.len() < before {
                self.shortened.push((file, known.to_string()));
            }
        }
        Ok(())
    }

    fn search(&mut self, file: PathBuf, plans: &Plans) -> io::Result<()> {
        let bytes = fs::read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        if !holds(&text, plans) {
            return Ok(());
        }
        if fs::symlink_metadata(&file)?.is_symlink() {
            // The entry is a link: the file itself is kept elsewhere.
            self.unknown.push(file);
        } else if is_memory_export(&text) {
            self.shorten(file, &text, plans);
        } else if is_recording(&text) || is_person(&text) {
            self.copies.push(file);
        } else {
            self.unknown.push(file);
        }
        Ok(())
    }

    /// Removes the lines of a text file that contain forgotten words.
    fn shorten(&mut self, file: PathBuf, text: &str, plans: &Plans) {
        let kept: Vec<_> = text.lines().filter(|line| !holds(line, plans)).collect();
        if kept.len() < text.lines().count() {
            let without = kept.into_iter().flat_map(|line| [line, "\n"]).collect();
            self.shortened.push((file, without));
        }
    }
}

/// Whether a text contains forgotten words. JSON is searched string by string.
fn holds(text: &str, plans: &Plans) -> bool {
    plans
        .values()
        .any(|plan| match serde_json::from_str::<Value>(text) {
            Ok(mut json) => plan.scrub(&mut json),
            Err(_) => plan.scrub_text(text).is_some(),
        })
}

/// Whether a database file contains forgotten words. A file that is too large to be searched counts as one that does.
fn holds_bytes(file: &Path, plans: &Plans) -> io::Result<bool> {
    if fs::metadata(file)?.len() > SEARCHED {
        return Ok(true);
    }
    Ok(holds(&String::from_utf8_lossy(&fs::read(file)?), plans))
}

/// Whether `dormouse memory export` wrote the file.
fn is_memory_export(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let line = serde_json::from_str::<Value>(first).unwrap_or_default();
    line.get("text").is_some_and(Value::is_string)
        && line.get("source_key").is_some_and(Value::is_string)
}

/// Whether `dormouse export --person` wrote the file.
fn is_person(text: &str) -> bool {
    let document = serde_json::from_str::<Value>(text).unwrap_or_default();
    document.get("type").and_then(Value::as_str) == Some("person")
        && document.get("assistants").is_some_and(Value::is_array)
}

fn is_recording(text: &str) -> bool {
    text.get(..64)
        .unwrap_or(text)
        .contains("\"dormouse_cassette\"")
}

/// Whether the program writes a file of this name in the data folder, and the file holds words of people.
pub(super) fn is_of_program(name: &str) -> bool {
    let is_setting = ["dialects.json", "dormouse.toml"].contains(&name);
    let is_other = ["history.txt", "evennia-people.json"].contains(&name);
    (is_in_use(name) && !is_setting) || is_old_copy(name) || is_other
}

/// The files that are rewritten or rebuilt, and those of the operator.
fn is_in_use(name: &str) -> bool {
    let is_memory =
        name.starts_with("memory-") && (name.ends_with(".redb") || name.contains(".redb.index"));
    is_memory
        || name.ends_with(NEW)
        || [
            "log.redb",
            "log.redb.wal",
            "world.redb",
            "http-world.redb",
            "evennia.redb",
            "dialects.json",
            "dormouse.toml",
            "forget.json",
        ]
        .contains(&name)
}

/// Copies that salvaging, rebuilding and creating leave: `log.redb.damaged`, `memory-KEY.redb.former`, `….again`.
fn is_old_copy(name: &str) -> bool {
    let of = |start: &str| name.starts_with(start) && name.contains(".redb.");
    let is_of_data = ["log.", "world.", "http-world.", "evennia.", "memory-"].map(of);
    is_of_data.contains(&true)
        || (of(".") && name.ends_with(".new"))
        // Written first, and then renamed to `evennia-people.json`.
        || name == "evennia-people.new"
        // Answers of the service, which repeat what was said. Then idempotency keys are forgotten.
        || name == "replies.jsonl"
        || name == "replies.jsonl.new"
        // A life that was being copied when the program was killed.
        || name.starts_with("life-") && name.contains(".redb.new")
}
