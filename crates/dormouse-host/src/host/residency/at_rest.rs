//! The file of residents at rest: what a start has to know of each, so that it need not read thousands of lives.
//!
//! It follows from the logs and the configuration, and nothing depends on it: a resident that it does not have, or whose log
//! has grown since, is read from its log. It holds keys and numbers, and no words of anybody.

use std::{
    collections::BTreeMap,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_contracts::{AssistantId, Seq, Timestamp};
use dormouse_database::temporary_name;
use serde::{Deserialize, Serialize};

use super::living::Rested;
use crate::host::Shared;

/// With fewer residents, reading their logs takes no longer than a blink, and no file is written. Nor is a memory left behind its
/// log on disk then.
pub(super) const WORTH_A_FILE: usize = 64;

/// A resident that is put away, of which nothing else has to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AtRest {
    /// The end of its log.
    pub(super) seq: Seq,
    /// The last delivery of the world that it heard.
    pub(super) heard: u64,
    /// When it wakes by itself, if something is due.
    pub(super) due: Option<Timestamp>,
}

impl AtRest {
    /// What to write of a resident; `None` if it has more to be kept than fits here.
    pub(super) fn of(shared: &Shared, rested: &Rested) -> Option<Self> {
        let is_plain = rested.awaiting.is_none()
            && !rested.has_tasks
            && !rested.is_archived
            && Arc::ptr_eq(&rested.classify, &shared.classify);
        is_plain.then_some(Self {
            seq: rested.seq,
            heard: rested.heard,
            due: rested.due,
        })
    }

    pub(super) fn rested(self, shared: &Shared) -> Rested {
        Rested {
            seq: self.seq,
            heard: self.heard,
            due: self.due,
            classify: Arc::clone(&shared.classify),
            awaiting: None,
            has_tasks: false,
            is_archived: false,
        }
    }
}

/// All of them, by key.
pub(super) type AllAtRest = BTreeMap<AssistantId, AtRest>;

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct RestFile {
    /// The configuration, the world and the program that it was written with. When something is due depends on them.
    of: u64,
    residents: AllAtRest,
}

/// Where the residents at rest are kept, and for what they hold.
#[derive(Clone, Debug)]
pub(super) struct RestPlace {
    path: PathBuf,
    of: u64,
    /// How many times it was written. Each time uses another temporary name, since the time before may not have ended.
    writes: u32,
}

impl RestPlace {
    pub(super) fn of(shared: &Shared) -> Self {
        let mut of = DefaultHasher::new();
        let config = format!("{:?}", shared.config);
        (config, shared.world.id(), env!("CARGO_PKG_VERSION")).hash(&mut of);
        Self {
            path: shared.folder.residents(),
            of: of.finish(),
            writes: 0,
        }
    }

    /// The residents in the file; none if there is no file, or none of this configuration, world and program.
    pub(super) fn read(&self) -> AllAtRest {
        let read = fs::read(&self.path)
            .and_then(|text| Ok(serde_json::from_slice::<RestFile>(&text)?))
            .inspect_err(|error| {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::info!(%error, "the file of residents at rest cannot be used, and is made again");
                }
            });
        match read {
            Ok(file) if file.of == self.of => file.residents,
            Ok(_) | Err(_) => AllAtRest::new(),
        }
    }

    /// A function that replaces the file, and may block. If that fails, the next start reads logs instead.
    pub(super) fn write(&mut self, residents: AllAtRest) -> impl FnOnce() + Send + use<> {
        self.writes = self.writes.wrapping_add(1);
        let Self { path, of, writes } = self.clone();
        move || {
            let written = serde_json::to_vec(&RestFile { of, residents })
                .map_err(io::Error::from)
                .and_then(|text| replace(&path, writes, &text));
            if let Err(error) = written {
                tracing::warn!(%error, "the file of residents at rest could not be written; the next start takes longer");
            }
        }
    }
}

/// It need not be on disk when this returns: an older file, or one that is cut, only makes a start slower.
fn replace(path: &Path, number: u32, text: &[u8]) -> io::Result<()> {
    let new =
        temporary_name(path, std::process::id(), number).ok_or(io::ErrorKind::InvalidInput)?;
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // The first error says what is wrong.
        drop(fs::remove_file(&new));
    }
    written
}
