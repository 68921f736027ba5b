//! The data folder and what is in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::AssistantId;
use dormouse_memory::Memory;
use dormouse_store::write_ahead_file;

/// How the name of a life that is being copied begins and ends; its key is in between.
const NEW_LIFE: &str = "life-";
const NEW_LIFE_END: &str = ".redb.new";

/// The folder that holds everything the program keeps.
#[derive(Clone, Debug)]
pub struct DataFolder(PathBuf);

/// The data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The path is not a folder.
    #[error("{} is not a folder; expected the data folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A file could not be removed.
    #[error("{} could not be removed", file.display())]
    Remove {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It could not be created.
    #[error("the data folder {} could not be created", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl DataFolder {
    /// The folder at this path. It may be missing, but a file is refused. Creates nothing.
    ///
    /// # Errors
    ///
    /// [`DataError::NotAFolder`].
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, DataError> {
        let path = path.into();
        match fs::metadata(&path) {
            Ok(found) if !found.is_dir() => Err(DataError::NotAFolder { path }),
            Ok(_) | Err(_) => Ok(Self(path)),
        }
    }

    /// Creates the folder if it is missing, readable only by its owner.
    ///
    /// # Errors
    ///
    /// [`DataError`]; nothing was created.
    pub fn create(&self) -> Result<(), DataError> {
        let path = || self.0.clone();
        match fs::metadata(&self.0) {
            Ok(found) if found.is_dir() => return Ok(()),
            Ok(_) => return Err(DataError::NotAFolder { path: path() }),
            Err(_) => {}
        }
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(&self.0).map_err(|source| DataError::Create {
            path: path(),
            source,
        })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The event log.
    pub fn log(&self) -> PathBuf {
        self.0.join("log.redb")
    }

    /// The memory of this assistant, rebuilt from the log if it is missing. The assistants of a folder share its log and its
    /// world; each has its own memory.
    pub fn memory(&self, key: &AssistantId) -> PathBuf {
        self.0.join(format!("memory-{key}.redb"))
    }

    /// A new memory of this assistant while it is rebuilt, next to the present one. An interrupted rebuild leaves it
    /// behind.
    pub fn memory_being_made(&self, key: &AssistantId) -> PathBuf {
        self.0.join(format!("memory-{key}.redb.again"))
    }

    /// Removes what an interrupted rebuild of this memory left: it may contain words that were erased since. Call it
    /// only while the log is open for writing: that prevents a rebuild by another process.
    ///
    /// # Errors
    ///
    /// [`DataError::Remove`].
    pub fn remove_memory_being_made(&self, key: &AssistantId) -> Result<(), DataError> {
        remove_memory(&self.memory_being_made(key))
    }

    /// The log of a life that is being copied into the folder, until it is complete.
    pub(crate) fn life_being_made(&self, key: &AssistantId) -> PathBuf {
        self.0.join(format!("{NEW_LIFE}{key}{NEW_LIFE_END}"))
    }

    /// Removes what copying a life left behind when the program was killed. Call it only while the log is open for writing: that
    /// prevents a copy by another process.
    ///
    /// # Errors
    ///
    /// [`DataError::Remove`].
    pub fn remove_lives_being_made(&self) -> Result<(), DataError> {
        let Ok(entries) = fs::read_dir(&self.0) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            // The file itself, the one ahead of it, and one that is being created.
            let is_left =
                name.trim_start_matches('.').starts_with(NEW_LIFE) && name.contains(NEW_LIFE_END);
            if is_left {
                remove(entry.path())?;
            }
        }
        Ok(())
    }

    /// The world.
    pub fn world(&self) -> PathBuf {
        self.0.join("world.redb")
    }

    /// What a world outside of this process has reported, and its receipts.
    pub fn http_world(&self) -> PathBuf {
        self.0.join("http-world.redb")
    }

    /// The tools that this world offers.
    pub fn http_world_tools(&self) -> PathBuf {
        self.0.join("http-world-tools.json")
    }

    /// What a game has reported, and receipts.
    pub fn game(&self) -> PathBuf {
        self.0.join("evennia.redb")
    }

    /// The names of accounts of a game.
    pub fn game_people(&self) -> PathBuf {
        self.0.join("evennia-people.json")
    }

    /// What was learnt about models.
    pub fn dialects(&self) -> PathBuf {
        self.0.join("dialects.json")
    }

    /// What a start has to know of residents at rest.
    pub fn residents(&self) -> PathBuf {
        self.0.join("residents.json")
    }

    /// The history of typed lines.
    pub fn history(&self) -> PathBuf {
        self.0.join("history.txt")
    }

    /// The tools that servers offered, and which of them a person approved.
    pub fn mcp_tools(&self) -> PathBuf {
        self.0.join("mcp-tools.json")
    }

    /// How far each log was exported as spans.
    pub fn telemetry(&self) -> PathBuf {
        self.0.join("telemetry.json")
    }

    /// The configuration, unless another one is named.
    pub fn config(&self) -> PathBuf {
        self.0.join("dormouse.toml")
    }
}

/// Removes the memory in this file with what is derived from it, if it is there.
///
/// # Errors
///
/// [`DataError::Remove`]; some files may be gone.
pub fn remove_memory(memory: &Path) -> Result<(), DataError> {
    Memory::files(memory).into_iter().try_for_each(remove)
}

/// Removes a life that was being copied into this file, if it is there.
pub(crate) fn remove_life(life: &Path) -> Result<(), DataError> {
    [write_ahead_file(life), life.to_owned()]
        .into_iter()
        .try_for_each(remove)
}

/// Removes a file, if it is there.
fn remove(file: PathBuf) -> Result<(), DataError> {
    match fs::remove_file(&file) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(DataError::Remove { file, source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
