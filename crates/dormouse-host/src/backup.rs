//! A copy of the data folder as it is at one moment, made while assistants live in it.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_bridge::{BridgeFile, BridgeOpenError};
use dormouse_contracts::{Clock, ReadError, Senses, WorldError, WorldId};
use dormouse_sandbox::{Sandbox, WorldRewriteError};
use dormouse_store::{LogOpenError, LogView, RedbLog, RewriteError};

use crate::{
    folder::{DataError, DataFolder},
    folder_world::FolderWorld,
    host::HostError,
};

/// What a backup holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupReport {
    /// How many assistants its log has.
    pub assistants: usize,
    /// How many events they have together.
    pub events: u64,
    /// The size of its files, in bytes.
    pub bytes: u64,
}

/// The backup failed. Its files were removed, and the data folder is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// Something is where the backup should be.
    #[error("{} exists already; a backup needs a new folder", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The folder cannot be created.
    #[error(transparent)]
    Folder(#[from] DataError),
    /// The log cannot be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The world could not be reached.
    #[error("the world could not be read")]
    World(#[from] WorldError),
    /// The log was not copied.
    #[error(transparent)]
    Log(#[from] RewriteError),
    /// The world was not copied.
    #[error("the world could not be copied")]
    WorldCopy(#[from] WorldRewriteError),
    /// What a world outside of this process has reported was not copied.
    #[error("the world could not be copied")]
    Bridge(#[from] BridgeOpenError),
    /// The new log cannot be opened.
    #[error("the copy of the log cannot be read")]
    Copy(#[from] LogOpenError),
    /// The log is damaged, so its copy is.
    #[error(
        "the log is damaged, and so is its copy: `dormouse log verify` says where, and `dormouse log salvage` saves what is left"
    )]
    Damaged,
    /// A file could not be written.
    #[error("{} could not be written", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The file of a world, open.
#[derive(Clone, Debug)]
pub struct WorldFile {
    name: OsString,
    open: OpenWorld,
}

#[derive(Clone, Debug)]
enum OpenWorld {
    Sandbox(Sandbox),
    Bridge(BridgeFile),
}

impl WorldFile {
    /// The file of the world that assistants live in.
    #[must_use]
    pub fn of(world: &FolderWorld, folder: &DataFolder) -> Self {
        match world {
            FolderWorld::Sandbox(world) => Self {
                name: name(&folder.world()),
                open: OpenWorld::Sandbox(world.clone()),
            },
            FolderWorld::Http(world) => Self {
                name: name(&folder.http_world()),
                open: OpenWorld::Bridge(world.file().clone()),
            },
            FolderWorld::Game(game) => Self {
                name: name(&folder.game()),
                open: OpenWorld::Bridge(game.file().clone()),
            },
        }
    }

    /// The id of the world.
    #[must_use]
    pub fn id(&self) -> &WorldId {
        match &self.open {
            OpenWorld::Sandbox(world) => world.id(),
            OpenWorld::Bridge(file) => file.world(),
        }
    }

    /// Opens the files of worlds in this folder, except that of `lived_in`, which is open already and becomes the last.
    ///
    /// # Errors
    ///
    /// [`HostError`] if one of them cannot be opened.
    pub fn all(
        folder: &DataFolder,
        lived_in: Option<&FolderWorld>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Vec<Self>, HostError> {
        let lived_in = lived_in.map(|world| Self::of(world, folder));
        let is_open = |file: &Path| {
            let name = name(file);
            lived_in.as_ref().is_some_and(|world| world.name == name)
        };
        let mut all = Vec::new();
        let sandbox = folder.world();
        if sandbox.exists() && !is_open(&sandbox) {
            all.push(Self {
                name: name(&sandbox),
                open: OpenWorld::Sandbox(Sandbox::open(&sandbox, Arc::clone(clock))?),
            });
        }
        for (file, kind) in [(folder.http_world(), "http"), (folder.game(), "evennia")] {
            if file.exists() && !is_open(&file) {
                all.push(Self {
                    name: name(&file),
                    open: OpenWorld::Bridge(BridgeFile::open(&file, kind)?),
                });
            }
        }
        all.extend(lived_in);
        Ok(all)
    }
}

fn name(file: &Path) -> OsString {
    file.file_name().map(ToOwned::to_owned).unwrap_or_default()
}

/// Files of the folder that are not derived from others, apart from the log and the world: the configuration, what was learnt
/// about models, the digests of tokens, the tools of a world, the accounts of a game, and the tools of servers to which a person
/// agreed.
const SMALL_FILES: [&str; 6] = [
    "dormouse.toml",
    "dialects.json",
    "tokens.json",
    "http-world-tools.json",
    "evennia-people.json",
    "mcp-tools.json",
];

/// Copies a data folder into the new folder `into`, which is then a data folder, too. `worlds` are the
/// files of worlds in the folder; the one that assistants live in is the last.
///
/// Log and world are taken at one moment: the copy is what a crash at that moment would have left, so an assistant that lives in
/// it loses no message and repeats no effect. Memories are not copied, because they are made again from the log.
///
/// Blocks its thread while files are copied; assistants go on meanwhile. If the future is dropped, nothing of the backup stays or
/// all of it.
///
/// # Errors
///
/// [`BackupError`].
pub async fn back_up(
    folder: &DataFolder,
    log: &RedbLog,
    worlds: &[WorldFile],
    into: &Path,
) -> Result<BackupReport, BackupError> {
    if fs::symlink_metadata(into).is_ok() {
        let path = into.to_owned();
        return Err(BackupError::Exists { path });
    }
    // Nobody takes an incomplete copy for a backup: it has another name until it is complete.
    let mut name = into.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = DataFolder::at(PathBuf::from(name))?;
    new.create()?;
    let copied = match copy(folder, log, worlds, &new).await {
        Ok(report) => put_in_place(new.path(), into).map(|()| report),
        failed => failed,
    };
    if copied.is_err()
        && let Err(error) = fs::remove_dir_all(new.path())
    {
        tracing::warn!(%error, folder = %new.path().display(), "what was written of a backup could not be removed");
    }
    copied
}

async fn copy(
    folder: &DataFolder,
    log: &RedbLog,
    worlds: &[WorldFile],
    new: &DataFolder,
) -> Result<BackupReport, BackupError> {
    // Only one world is lived in, and it is the last. The others stay as they are.
    let mut moment = None;
    for world in worlds {
        let log = log.clone();
        let into = new.path().join(&world.name);
        let taken = match &world.open {
            OpenWorld::Sandbox(world) => {
                let (world, log) = world.moment(move || log.moment()).await?;
                world.write(&into)?;
                log
            }
            OpenWorld::Bridge(file) => {
                let (world, log) = file.moment(move || log.moment()).await?;
                world.write(&into)?;
                log
            }
        };
        moment = Some(taken?);
    }
    let moment = match moment {
        Some(moment) => moment,
        None => log.moment()?,
    };
    moment.write(&new.log())?;
    for name in SMALL_FILES {
        let file = new.path().join(name);
        let copied = fs::copy(folder.path().join(name), &file).and_then(|_| sync(&file));
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => copied.map_err(|source| BackupError::File { file, source })?,
        }
    }
    report(new)
}

/// Reads the whole copy of the log, because a backup that cannot be read is worse than none.
fn report(new: &DataFolder) -> Result<BackupReport, BackupError> {
    let log = LogView::open(&new.log())?;
    if !log.verify()?.is_intact() {
        return Err(BackupError::Damaged);
    }
    let ends = log.assistants()?;
    Ok(BackupReport {
        assistants: ends.len(),
        events: ends.iter().map(|(_, end)| end.0).sum(),
        bytes: size(new.path()).map_err(|source| BackupError::File {
            file: new.path().to_owned(),
            source,
        })?,
    })
}

fn size(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |bytes, entry| Ok(bytes + entry?.metadata()?.len()))
}

fn put_in_place(new: &Path, into: &Path) -> Result<(), BackupError> {
    let parent = match into.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let placed = sync(new)
        .and_then(|()| fs::rename(new, into))
        .and_then(|()| sync(parent));
    placed.map_err(|source| BackupError::File {
        file: into.to_owned(),
        source,
    })
}

/// A file, or the names in a folder, are on disk afterwards.
fn sync(path: &Path) -> io::Result<()> {
    match fs::File::open(path) {
        Ok(file) if cfg!(unix) || path.is_file() => file.sync_all(),
        Err(error) if cfg!(unix) => Err(error),
        // Other systems cannot open folders.
        Ok(_) | Err(_) => Ok(()),
    }
}
