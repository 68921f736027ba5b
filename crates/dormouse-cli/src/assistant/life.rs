//! `dormouse assistant fork`, `export` and `import`: whole lives, within a folder and between folders.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_contracts::{AssistantId, BoxError, Clock, IdError, ReadEvents, Seq, character_of};
use dormouse_host::{
    SystemClock, WorldFile,
    archive::{self, ImportedLife, LifeExport, LifeExportError, LifeImportError, LifeWish},
    roster::{self, Destination, KnownNames},
};
use dormouse_sandbox::landmarks;
use dormouse_store::{LogOpenError, RedbLog};
use futures_util::stream;

use super::{Folder, Who, decision, newcomer};
use crate::{
    command::{
        CommandError, CommandFailure, Printing, callers_host, callers_path, remark, roster_exit,
        say, view_log,
    },
    exit::{Exit, file_exit},
    grammar::counted,
};

/// How many bytes of a file are read at a time.
const PART: usize = 64 * 1024;

/// A life was not copied, written or read.
#[derive(Debug, thiserror::Error)]
enum LifeError {
    /// The file to import.
    #[error("{} could not be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file to export into.
    #[error(
        "{} could not be created; an existing file is never overwritten. Name a new file in a folder that exists",
        path.display()
    )]
    Create { path: PathBuf, source: io::Error },
    /// The file to export into, while it was written. It was removed.
    #[error("{} could not be written, and was removed", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// No key can be made for the fork.
    #[error("name the key of the fork with --as KEY")]
    NoKey(#[from] IdError),
    /// The log ends earlier.
    #[error("there is no event {at}; the log of {key} ends at event {end}")]
    NoEvent { key: AssistantId, at: Seq, end: Seq },
}

impl CommandFailure for LifeError {
    fn exit(&self) -> Exit {
        match self {
            Self::Read { source, .. }
            | Self::Create { source, .. }
            | Self::Write { source, .. } => file_exit(source),
            Self::NoKey(_) | Self::NoEvent { .. } => Exit::Usage,
        }
    }
}

impl CommandFailure for LifeExportError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unknown(_) | Self::Id(_) => Exit::Usage,
            Self::Read(_) | Self::Decode(_) | Self::Lines(_) => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}

impl CommandFailure for LifeImportError {
    fn exit(&self) -> Exit {
        match self {
            Self::NotALife | Self::Newer { .. } => Exit::Usage,
            Self::Line { .. }
            | Self::CutOff { .. }
            | Self::Behind
            | Self::Checksum
            | Self::State { .. }
            | Self::Decode(_) => Exit::Damaged,
            Self::Roster(error) => roster_exit(error),
            _ => Exit::Failure,
        }
    }
}

impl Folder {
    /// Creates an assistant that has lived as another one did, up to an event or to the end.
    pub(super) async fn fork(
        &self,
        from: &AssistantId,
        at: Option<u64>,
        (key, who): (Option<AssistantId>, Who),
    ) -> Result<Exit, CommandError> {
        let made = || AssistantId::try_new(format!("{from}-fork"));
        let key = key.map_or_else(made, Ok).map_err(LifeError::NoKey)?;
        let newcomer = newcomer(&key, who);
        let host = callers_host();
        let log = match &host {
            Some(host) => host.log().clone(),
            None => self.open_to_write().await?,
        };
        let end = log.end_of(from)?;
        if end == Seq::ZERO {
            return Err(roster::RosterError::Unknown { key: from.clone() }.into());
        }
        let at = at.map_or(end, Seq);
        if at > end {
            let key = from.clone();
            return Err(LifeError::NoEvent { key, at, end }.into());
        }
        let last = match host {
            Some(host) => Box::pin(host.fork(from, at, newcomer, decision("forked"))).await?,
            None => {
                self.check_name(&log, &newcomer).await?;
                let place = (from, at, newcomer);
                let to = self.destination(&log)?;
                Box::pin(roster::fork(&to, place, decision("forked"))).await?
            }
        };
        say(&format!(
            "{key} has lived as {from} did up to event {last}; it is switched off: `dormouse config set --assistant {key} \
            assistant.enabled true` lets it think"
        ))?;
        Ok(Exit::Success)
    }

    /// Writes the life of an assistant into a new file.
    pub(super) async fn export(
        &self,
        key: &AssistantId,
        into: &Path,
    ) -> Result<Exit, CommandError> {
        let events = match callers_host() {
            Some(host) => write(host.export(key)?, into).await?,
            None => {
                let log = view_log(&self.data.log(), Printing::Text)?;
                let mut known = log.assistants()?.into_iter();
                let end = known
                    .find(|(its, _)| its == key)
                    .map_or(Seq::ZERO, |(_, end)| end);
                let character = character_of(key).map_err(LifeExportError::Id)?;
                let life = (key.clone(), end);
                let life = LifeExport::begin(log, life, character, SystemClock.now())?;
                write(life, into).await?
            }
        };
        let events = counted(events, "event", "events");
        remark(&format!(
            "{events} of {key} written. The file holds everything that was said; keys and tokens are not in it"
        ));
        Ok(Exit::Success)
    }

    /// Creates an assistant that goes on with the life in a file.
    pub(super) async fn import(&self, from: &Path, wish: LifeWish) -> Result<Exit, CommandError> {
        let read = |source| LifeError::Read {
            path: from.to_owned(),
            source,
        };
        let mut file = File::open(callers_path(from)).map_err(read)?;
        if file.metadata().map_err(read)?.is_dir() {
            // Opening a folder succeeds; reading it does not.
            return Err(read(io::ErrorKind::IsADirectory.into()).into());
        }
        let parts = std::iter::from_fn(move || {
            let mut part = vec![0; PART];
            match file.read(&mut part) {
                Ok(0) => None,
                Ok(read) => {
                    part.truncate(read);
                    Some(Ok(part))
                }
                Err(error) => Some(Err(BoxError::from(error))),
            }
        });
        let (parts, decision) = (stream::iter(parts), decision("imported"));
        let imported = match callers_host() {
            Some(host) => Box::pin(host.import(wish, decision, parts)).await?,
            None => {
                let log = self.open_or_create().await?;
                let (to, mut names) = (self.destination(&log)?, KnownNames::new());
                Box::pin(archive::import(&to, wish, decision, &mut names, parts)).await?
            }
        };
        say(&said(&imported))?;
        Ok(Exit::Success)
    }

    /// The log, which is created if it is missing, if no program runs the assistants.
    pub(super) async fn open_or_create(&self) -> Result<RedbLog, CommandError> {
        match self.open_to_write().await {
            Err(CommandError::LogOpen(LogOpenError::Absent { .. })) => {
                self.data.create()?;
                Ok(RedbLog::open(&self.data.log())?)
            }
            opened => opened,
        }
    }

    /// This folder, as a place in which a life goes on. Only the caller has the log open.
    fn destination<'a>(&'a self, log: &'a RedbLog) -> Result<Destination<'a>, CommandError> {
        self.data.remove_lives_being_made()?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let worlds = WorldFile::all(&self.data, None, &clock)?;
        Ok(Destination {
            log,
            folder: &self.data,
            config: &self.config,
            landmarks: landmarks(),
            worlds: worlds.iter().map(|world| world.id().clone()).collect(),
            character: &character_of,
            takes_configured: true,
            clock: &SystemClock,
        })
    }
}

/// Writes a life into a new file, and returns how many events it has. A file that is not complete is removed.
async fn write<L: ReadEvents>(mut life: LifeExport<L>, into: &Path) -> Result<u64, CommandError> {
    let path = callers_path(into);
    let mut file = File::create_new(&path).map_err(|source| LifeError::Create {
        path: into.to_owned(),
        source,
    })?;
    let written = write_to(&mut file, &mut life, into).await;
    if written.is_err() {
        drop(fs::remove_file(&path));
    }
    written.map(|()| life.events())
}

async fn write_to<L: ReadEvents>(
    file: &mut File,
    life: &mut LifeExport<L>,
    into: &Path,
) -> Result<(), CommandError> {
    let failed = |source| LifeError::Write {
        path: into.to_owned(),
        source,
    };
    while let Some(part) = life.next().await? {
        file.write_all(&part).map_err(failed)?;
    }
    Ok(file.sync_all().map_err(failed)?)
}

fn said(life: &ImportedLife) -> String {
    let ImportedLife {
        key,
        original,
        events,
        state,
        is_same_state,
    } = life;
    let compared = match is_same_state {
        true => "they fold to the state that the file names",
        false => {
            "their checksum is right; another version of the program wrote the file, so states were not compared"
        }
    };
    format!(
        "{key} goes on with the life of {original}: {}, and {compared} ({state}). It is switched off: `dormouse config set \
        --assistant {key} assistant.enabled true` lets it think",
        counted(*events, "event", "events")
    )
}
