//! The new files, next to the old ones.

use std::path::{Path, PathBuf};

use dormouse_bridge::{BridgeOpenError, BridgeRecord, rewrite_bridge};
use dormouse_contracts::{AssistantId, BoxError, Clock, NewEvent, StoredEvent};
use dormouse_database::DatabaseOpenError;
use dormouse_engine::{ForgetPlan, LogRewrite};
use dormouse_host::{DataFolder, SystemClock};
use dormouse_memory::{Memory, MemoryOpenError};
use dormouse_sandbox::{RewriteWorld, WorldRewriteError, count_changed, rewrite_world};
use dormouse_store::{RedbLog, RewriteError, RewriteEvents};
use serde_json::{Value, json};

use super::{
    Plans, ends,
    journal::{FileError, Journal, new_form, remove_new_files},
    other_files::OtherFiles,
};
use crate::{
    command::{CommandError, CommandFailure, MemoryFile, block_on, memory_open_exit, world_exit},
    exit::Exit,
    recall,
};

/// A new file could not be written. Nothing was forgotten, and the old files are unchanged.
#[derive(Debug, thiserror::Error)]
enum PrepareError {
    #[error("{source}; nothing was forgotten, and nothing was changed")]
    Log {
        #[source]
        source: RewriteError,
    },
    #[error("{source}; nothing was forgotten, and nothing was changed")]
    World {
        #[from]
        source: WorldRewriteError,
    },
    #[error("{source}; nothing was forgotten, and nothing was changed")]
    Bridge {
        #[from]
        source: BridgeOpenError,
    },
    #[error("{source}; nothing was forgotten, and nothing was changed")]
    Memory {
        #[source]
        source: MemoryOpenError,
    },
    #[error(
        "the vectors of {assistant} could not be removed from their server; nothing was forgotten. Try again when it can be reached"
    )]
    Vectors {
        /// Whose.
        assistant: AssistantId,
    },
}

impl CommandFailure for PrepareError {
    fn exit(&self) -> Exit {
        match self {
            Self::World {
                source: WorldRewriteError::Open(error),
            } => world_exit(error),
            Self::Bridge {
                source: BridgeOpenError::File(DatabaseOpenError::InUse { .. }),
            } => Exit::InUse,
            Self::Memory { source } => memory_open_exit(source),
            Self::Log { .. } | Self::World { .. } | Self::Bridge { .. } | Self::Vectors { .. } => {
                Exit::Failure
            }
        }
    }
}

/// The files of the folder that change.
#[derive(Debug)]
pub(super) struct FoundFiles {
    /// The files of worlds that are rewritten.
    pub(super) worlds: Vec<WorldOf>,
    pub(super) others: OtherFiles,
}

impl FoundFiles {
    /// Looks into the folder. Changes nothing.
    pub(super) fn in_folder(
        file: &MemoryFile,
        plans: &Plans,
        is_whole_folder: bool,
    ) -> Result<Self, CommandError> {
        let data = file.data();
        let others = OtherFiles::in_folder(data, plans)?;
        // The free pages of a world's file may still contain deliveries that are no longer in any record.
        let mut worlds = Vec::new();
        for world in WorldOf::ALL {
            if is_whole_folder
                && world.file(data).exists()
                && (!ends(plans).is_empty() || world.changed(data, plans)? > 0)
            {
                worlds.push(world);
            }
        }
        Ok(Self { worlds, others })
    }

    /// Whether only the log would lose words. The world also has words that no assistant heard, or that the log masks.
    pub(super) fn is_nothing(&self) -> bool {
        self.worlds.is_empty() && self.others.is_nothing()
    }

    /// Files of other programs that contain forgotten words.
    pub(super) fn unknown(&self) -> &[PathBuf] {
        &self.others.unknown
    }
}

/// A world of which the folder may have a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum WorldOf {
    Sandbox,
    Http,
    Game,
}

impl WorldOf {
    const ALL: [Self; 3] = [Self::Sandbox, Self::Http, Self::Game];

    pub(super) fn file(self, data: &DataFolder) -> PathBuf {
        match self {
            Self::Sandbox => data.world(),
            Self::Http => data.http_world(),
            Self::Game => data.game(),
        }
    }

    /// The name of the file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "world.redb",
            Self::Http => "http-world.redb",
            Self::Game => "evennia.redb",
        }
    }

    /// How many records of the file the plans change.
    fn changed(self, data: &DataFolder, plans: &Plans) -> Result<u64, PrepareError> {
        let (file, mut words) = (self.file(data), WorldWords { plans });
        Ok(match self {
            Self::Sandbox => count_changed(&file, &mut words)?,
            Self::Http | Self::Game => {
                dormouse_bridge::count_changed(&file, &mut |record| words.bridged(record))?
            }
        })
    }

    /// Writes the new form of the file next to it.
    fn rewrite(self, data: &DataFolder, plans: &Plans) -> Result<(), PrepareError> {
        let (file, mut words) = (self.file(data), WorldWords { plans });
        let into = new_form(&file);
        match self {
            Self::Sandbox => drop(rewrite_world(&file, &into, &mut words)?),
            Self::Http | Self::Game => {
                rewrite_bridge(&file, &into, &mut |record| words.bridged(record))?;
            }
        }
        Ok(())
    }
}

/// The new files, complete, and what is left to do.
pub(super) struct NewFiles {
    journal: Journal,
    /// Memories whose vectors were removed from a server. While they are open here, no other program puts vectors there.
    emptied: Vec<Memory>,
    /// The assistants whose vectors stay on their server: their memory is missing or damaged, and only it knows the
    /// names of its collections.
    pub(super) vectors_left: Vec<AssistantId>,
}

impl NewFiles {
    /// Commits: from here on the forgetting will be completed.
    pub(super) fn commit(self, data: &DataFolder) -> Result<(), CommandError> {
        let Self {
            journal, emptied, ..
        } = self;
        let committed = journal.commit(data);
        // From here on the journal locks out other programs.
        drop(emptied);
        committed
    }
}

/// Writes the new files. Until they are committed, nothing has changed.
pub(super) fn new_files(
    file: &MemoryFile,
    log: &RedbLog,
    plans: &Plans,
    found: &FoundFiles,
    by: &str,
    reason: &str,
) -> Result<NewFiles, CommandError> {
    let data = file.data();
    remove_new_files(data.path());
    let written = write(file, log, plans, found, (by, reason));
    if written.is_err() {
        remove_new_files(data.path());
    }
    written
}

fn write(
    file: &MemoryFile,
    log: &RedbLog,
    plans: &Plans,
    found: &FoundFiles,
    (by, reason): (&str, &str),
) -> Result<NewFiles, CommandError> {
    let data = file.data();
    let mut journal = Journal::default();
    let changed = ends(plans);
    let keys: Vec<_> = changed.into_keys().collect();
    for key in &keys {
        block_on(free(data, key))??;
    }
    if !keys.is_empty() {
        let mut rewrite = Rewrite {
            plans,
            under_way: None,
            by,
            reason,
        };
        let into = new_form(&data.log());
        let rewritten = log.rewrite(&into, &mut rewrite);
        rewritten.map_err(|source| PrepareError::Log { source })?;
        journal.replace.push(name(&data.log()));
    }
    for world in &found.worlds {
        world.rewrite(data, plans)?;
        journal.replace.push(name(&world.file(data)));
    }
    for (path, without) in &found.others.shortened {
        write_new(&new_form(path), without.as_bytes())?;
        journal.replace.push(name(path));
    }
    journal.remove = found.others.removed().map(|path| name(path)).collect();
    let (mut emptied, mut vectors_left) = (Vec::new(), Vec::new());
    for key in &keys {
        match block_on(without_vectors(file, key))?? {
            Emptied::Nothing => {}
            Emptied::Memory(memory) => emptied.push(*memory),
            Emptied::Unknown => vectors_left.push(key.clone()),
        }
    }
    journal.memories = keys;
    Ok(NewFiles {
        journal,
        emptied,
        vectors_left,
    })
}

/// Another program may still read or change the memory.
async fn free(data: &DataFolder, key: &AssistantId) -> Result<(), PrepareError> {
    let opened = Memory::builder(key.clone(), SystemClock).open_existing(data.memory(key));
    match opened.await {
        Err(source @ MemoryOpenError::File(DatabaseOpenError::InUse { .. })) => {
            Err(PrepareError::Memory { source })
        }
        // A memory that is missing or damaged is made again.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What happened to the vectors of an assistant.
enum Emptied {
    /// It has no vectors on a server.
    Nothing,
    /// The vectors of this memory were removed.
    Memory(Box<Memory>),
    /// It is unknown where they are.
    Unknown,
}

/// Of these assistants, those whose vectors may be on a server, but whose memory is missing, so that their place is
/// unknown.
pub(super) fn without_memory<'k>(
    file: &MemoryFile,
    keys: impl IntoIterator<Item = &'k AssistantId>,
) -> Result<Vec<AssistantId>, CommandError> {
    if recall::vector_index(file.config())?.is_none() {
        return Ok(Vec::new());
    }
    let is_missing = |key: &&AssistantId| !file.data().memory(key).exists();
    Ok(keys.into_iter().filter(is_missing).cloned().collect())
}

/// Removes the vectors of a memory from their server, and returns the memory. If the forgetting fails later, the
/// vectors are made again from the memory.
async fn without_vectors(file: &MemoryFile, key: &AssistantId) -> Result<Emptied, CommandError> {
    let path = file.data().memory(key);
    let mut config = file.config().clone();
    config.assistant.set_key(key.clone());
    if recall::vector_index(&config)?.is_none() {
        return Ok(Emptied::Nothing);
    }
    let opened = recall::memory_builder(&config)?.open_existing(&path).await;
    let memory = match opened {
        Ok(memory) => memory,
        Err(source @ MemoryOpenError::File(DatabaseOpenError::InUse { .. })) => {
            return Err(PrepareError::Memory { source }.into());
        }
        Err(_) => return Ok(Emptied::Unknown),
    };
    match memory.empty_index().await? {
        None => Ok(Emptied::Memory(Box::new(memory))),
        Some(_) => Err(PrepareError::Vectors {
            assistant: key.clone(),
        }
        .into()),
    }
}

/// A file of the folder by its name alone, so that the folder may be moved.
fn name(path: &Path) -> PathBuf {
    path.file_name().map(PathBuf::from).unwrap_or_default()
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    use std::io::Write;
    let written = std::fs::File::create(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|source| FileError {
        file: path.to_owned(),
        is_done: false,
        source,
    })
}

/// The new log: each assistant's events without what its plan takes, and the event that says so.
struct Rewrite<'p> {
    plans: &'p Plans,
    under_way: Option<LogRewrite<'p>>,
    by: &'p str,
    reason: &'p str,
}

impl RewriteEvents for Rewrite<'_> {
    fn payload(
        &mut self,
        assistant: &AssistantId,
        event: &StoredEvent,
    ) -> Result<Option<Vec<u8>>, BoxError> {
        let plan = self.plans.get(assistant).filter(|plan| plan.events() > 0);
        let Some(plan) = plan else {
            return Ok(None);
        };
        let rewrite = self.under_way.get_or_insert_with(|| LogRewrite::new(plan));
        Ok(rewrite.payload(event)?)
    }

    fn appended(&mut self, _: &AssistantId) -> Result<Vec<NewEvent>, BoxError> {
        let Some(rewrite) = self.under_way.take() else {
            return Ok(Vec::new());
        };
        let event = rewrite.end(SystemClock.now(), self.by, self.reason)?;
        Ok(vec![event])
    }
}

/// The new world: without what any plan takes.
struct WorldWords<'p> {
    plans: &'p Plans,
}

impl WorldWords<'_> {
    fn record(
        &self,
        record: &str,
        scrub: impl Fn(&ForgetPlan, &mut Value) -> bool,
    ) -> Result<Option<String>, BoxError> {
        let mut value: Value = serde_json::from_str(record)?;
        let mut is_changed = false;
        for plan in self.plans.values() {
            is_changed |= scrub(plan, &mut value);
        }
        Ok(is_changed.then(|| value.to_string()))
    }

    fn bridged(&mut self, record: BridgeRecord<'_>) -> Result<Option<String>, BoxError> {
        match record {
            BridgeRecord::Delivery(record) => self.perception(record),
            BridgeRecord::Receipt { key, row } => {
                let row: Value = serde_json::from_str(row)?;
                let Some(outcome) = row.get("outcome") else {
                    return Ok(None);
                };
                // The form in which the sandbox keeps an act, which is what a plan reads. The words of the act are not kept.
                let act = json!({"effect": {"key": key}, "outcome": outcome});
                let changed = self.effect(&act.to_string())?;
                changed.map(|act| with_outcome(row, &act)).transpose()
            }
        }
    }
}

fn with_outcome(mut row: Value, act: &str) -> Result<String, BoxError> {
    let mut act: Value = serde_json::from_str(act)?;
    if let (Some(outcome), Some(new)) = (row.get_mut("outcome"), act.get_mut("outcome")) {
        *outcome = new.take();
    }
    Ok(row.to_string())
}

impl RewriteWorld for WorldWords<'_> {
    fn perception(&mut self, record: &str) -> Result<Option<String>, BoxError> {
        self.record(record, ForgetPlan::scrub_perception)
    }

    fn effect(&mut self, record: &str) -> Result<Option<String>, BoxError> {
        self.record(record, ForgetPlan::scrub_effect)
    }
}
