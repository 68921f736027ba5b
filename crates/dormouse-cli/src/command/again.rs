//! Rebuilding a memory from its log, in place of the present one.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
};

use dormouse_contracts::AssistantId;
use dormouse_database::DatabaseOpenError as File;
use dormouse_engine::catch_up;
use dormouse_host::{DataFolder, SystemClock, check_format, remove_memory};
use dormouse_memory::{Memory, MemoryError, MemoryOpenError, RecordId};
use dormouse_store::{LogOpenError, RedbLog};

use super::{
    error::{CommandError, CommandFailure},
    output::remark,
};
use crate::{
    exit::{Exit, Report},
    grammar::counted,
};

/// How many records are read at a time.
const PAGE: usize = 1_000;

/// Whether the user has already agreed to lose records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    ToBeAsked,
}

impl From<bool> for Consent {
    fn from(yes: bool) -> Self {
        if yes { Self::Given } else { Self::ToBeAsked }
    }
}

/// Rebuilds the memory of this assistant from its log, in place of the present one.
pub(crate) async fn make_memory_again(
    data: &DataFolder,
    log: &RedbLog,
    key: &AssistantId,
) -> Result<(), CommandError> {
    let path = data.memory(key);
    // The program that has the log open owns the folder, but another program may still read or change the memory.
    if let Err(error @ MemoryOpenError::File(File::InUse { .. })) = open(&path, key).await {
        return Err(error.into());
    }
    let again = make(data, log, key).await?;
    put_in_place(&again, &path)
}

/// Rebuilds the memory as [`make_memory_again`] does. Prints what it holds now and what the log gives, and asks before
/// records are lost. A missing log counts as empty, and is created if the user agrees.
pub(super) async fn replace_memory(
    data: &DataFolder,
    key: &AssistantId,
    consent: Consent,
) -> Result<(), CommandError> {
    let (log_path, path) = (data.log(), data.memory(key));
    check_format(data).await?;
    let log = match RedbLog::open_existing(&log_path) {
        Ok(log) => Some(log),
        Err(LogOpenError::Absent { .. }) if path.exists() => None,
        Err(error) => return Err(error.into()),
    };
    let present = match open(&path, key).await {
        Ok(memory) => Present::Readable(texts(&memory).await?),
        Err(MemoryOpenError::File(File::Absent { .. })) => Present::Readable(BTreeMap::new()),
        Err(error @ MemoryOpenError::File(File::InUse { .. })) => return Err(error.into()),
        Err(error) => Present::Unreadable(error),
    };
    let again = match &log {
        Some(log) => Some(make(data, log, key).await?),
        None => None,
    };
    let new = match &again {
        Some(again) => texts(&open(again, key).await?).await?,
        None => BTreeMap::new(),
    };
    let loses = present.loses(&new);
    remark(&present.compared(&new, again.is_none()));
    if loses && consent == Consent::ToBeAsked && !asked("Replace the memory?")? {
        if let Some(again) = &again {
            remove_memory(again)?;
        }
        return Err(NotReplaced.into());
    }
    let again = match again {
        Some(again) => again,
        None => make(data, &RedbLog::open(&log_path)?, key).await?,
    };
    put_in_place(&again, &path)
}

/// The present memory.
enum Present {
    /// The texts of its records in use.
    Readable(BTreeMap<RecordId, String>),
    Unreadable(MemoryOpenError),
}

impl Present {
    /// Whether something would be lost. The content of a damaged memory is unknown. If the log gives records, they are
    /// most likely the same ones, so nothing counts as lost. An intact file of another kind is never replaced.
    fn loses(&self, new: &BTreeMap<RecordId, String>) -> bool {
        match self {
            Self::Readable(_) => self.lost(new) > 0,
            Self::Unreadable(
                MemoryOpenError::OtherAssistant { .. }
                | MemoryOpenError::File(File::Foreign { .. } | File::NewerFormat { .. }),
            ) => true,
            Self::Unreadable(_) => new.is_empty(),
        }
    }

    /// How many records in use the new memory does not hold.
    fn lost(&self, new: &BTreeMap<RecordId, String>) -> u64 {
        let Self::Readable(present) = self else {
            return 0;
        };
        let lost = present
            .iter()
            .filter(|(id, text)| new.get(id) != Some(text));
        lost.count() as u64
    }

    fn compared(&self, new: &BTreeMap<RecordId, String>, is_log_missing: bool) -> String {
        let gives = match is_log_missing {
            true => "the log is missing; a new log is empty and gives 0 records".to_owned(),
            false => format!("the log gives {}", new.len()),
        };
        match self {
            Self::Readable(present) => {
                let now = counted(present.len() as u64, "record", "records");
                let lost = match self.lost(new) {
                    0 => String::new(),
                    1 => "; 1 of the present records would be lost".to_owned(),
                    lost => format!("; {lost} of the present records would be lost"),
                };
                format!("the memory holds {now} in use; {gives}{lost}")
            }
            Self::Unreadable(error) => {
                format!("the memory cannot be read ({}); {gives}", Report(error))
            }
        }
    }
}

/// Asks at the terminal; without one the answer is no.
fn asked(question: &str) -> Result<bool, CommandError> {
    let (input, mut err) = (io::stdin(), io::stderr());
    if !input.is_terminal() || !err.is_terminal() {
        return Ok(false);
    }
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    input.lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// The user has not agreed.
#[derive(Debug, thiserror::Error)]
#[error(
    "nothing was changed. `dormouse memory export FILE` saves the records that the memory holds; with --yes it is replaced \
     anyway"
)]
struct NotReplaced;

impl CommandFailure for NotReplaced {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// The texts of the records in use.
async fn texts(memory: &Memory) -> Result<BTreeMap<RecordId, String>, MemoryError> {
    let mut texts = BTreeMap::new();
    let mut after = None;
    loop {
        let page = memory.records(after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(texts);
        };
        after = Some(last.id);
        let in_use = page.into_iter().filter(|record| record.is_in_use());
        texts.extend(in_use.map(|record| (record.id, record.text)));
    }
}

async fn open(path: &Path, key: &AssistantId) -> Result<Memory, MemoryOpenError> {
    let memory = Memory::builder(key.clone(), SystemClock);
    memory.open_existing(path).await
}

/// Makes a new memory from the whole log, next to the present one. The present one stays until the new one is complete,
/// even if this program is killed.
async fn make(
    data: &DataFolder,
    log: &RedbLog,
    key: &AssistantId,
) -> Result<PathBuf, CommandError> {
    let again = data.memory_being_made(key);
    remove_memory(&again)?;
    let made = make_at(&again, log, key).await;
    if made.is_err() {
        remove_memory(&again)?;
    }
    made.map(|()| again)
}

async fn make_at(path: &Path, log: &RedbLog, key: &AssistantId) -> Result<(), CommandError> {
    let memory = Memory::builder(key.clone(), SystemClock);
    let memory = memory.open(path).await?;
    catch_up(log, key, &memory).await?;
    memory.checkpoint().await?;
    Ok(())
}

/// Gives the new memory the name of the present one.
fn put_in_place(again: &Path, path: &Path) -> Result<(), CommandError> {
    // If this stops here, the next command that reads the memory rebuilds it.
    remove_memory(path)?;
    fs::rename(again, path).map_err(|source| ReplaceError {
        file: again.to_owned(),
        source,
    })?;
    Ok(remove_memory(again)?)
}

/// A memory could not be replaced.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be replaced; nothing is lost, because the log holds everything", file.display())]
struct ReplaceError {
    file: PathBuf,
    source: io::Error,
}

impl CommandFailure for ReplaceError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}
