//! Opening the memory of the data folder.

use std::{ops::Deref, path::PathBuf, sync::Arc};

use dormouse::SystemClock;
use dormouse_contracts::{AssistantId, Embedder, ReadEvents};
use dormouse_engine::{CatchUpError, LoggedMemory, check_log};
use dormouse_memory::{Memory, MemoryBuilder, Progress};
use dormouse_store::{LogOpenError, LogView, RedbLog};

use super::{
    again::{Consent, make_memory_again, replace_memory},
    arguments::{ByEncoder, Places},
    error::{CommandError, CommandFailure},
    invocation::rebuild_command,
    output::{self, Printing, ViewOf, label_view, remark},
};
use crate::{
    config::Config,
    data::DataFolder,
    exit::{Exit, Report},
    recall,
};

/// The memory of the configured assistant: its file, and how it is opened.
#[derive(Debug)]
pub(crate) struct MemoryFile {
    data: DataFolder,
    config: Config,
}

impl MemoryFile {
    /// Finds the folder and reads the configuration. Creates nothing.
    pub(crate) fn locate(places: &Places) -> Result<Self, CommandError> {
        let data = DataFolder::locate(places.data.as_deref())?;
        let (config, _) = Config::load(places.config.as_deref(), &data.config())?;
        Ok(Self::new(data, config))
    }

    /// The memory in this folder, with this configuration.
    pub(crate) fn new(data: DataFolder, config: Config) -> Self {
        Self { data, config }
    }

    /// Opens a memory for reading. Writes nothing, unless the memory is missing and there is a log to make it from.
    pub(crate) async fn view(&self, printing: Printing) -> Result<MemoryView, CommandError> {
        self.view_with(self.builder(), printing).await
    }

    /// Opens a memory for reading as [`view`](Self::view) does, with this encoder or the configured one, and the configured index.
    pub(crate) async fn view_by(
        &self,
        by: &ByEncoder,
        printing: Printing,
    ) -> Result<MemoryView, CommandError> {
        self.view_with(self.builder_by(by)?, printing).await
    }

    /// Opens an existing memory for reading, with the configured encoder and index. Does not report whether another
    /// program uses it.
    pub(crate) async fn view_as_configured(&self) -> Result<Memory, CommandError> {
        let builder = recall::memory_builder(&self.config)?;
        Ok(builder.open_view(self.path()).await?)
    }

    /// Opens the memory of another assistant of the folder for reading, with words only. A missing one is made again.
    pub(crate) async fn view_of(&self, key: &AssistantId) -> Result<Memory, CommandError> {
        let path = self.data.memory(key);
        if !path.exists() && self.data.log().exists() {
            let log = RedbLog::open(&self.data.log())?;
            make_memory_again(&self.data, &log, key).await?;
        }
        Ok(Memory::builder(key.clone(), SystemClock)
            .open_view(&path)
            .await?)
    }

    async fn view_with(
        &self,
        builder: MemoryBuilder,
        printing: Printing,
    ) -> Result<MemoryView, CommandError> {
        let path = self.path();
        if !path.exists() && self.data.log().exists() {
            // A memory that is lost is made again from the log, as at the next start of the assistant.
            self.make_again().await?;
        }
        let memory = builder.open_view(&path).await?;
        if memory.is_in_use_elsewhere() {
            label_view(ViewOf::Memory, &path, printing)?;
        }
        let exit = self.compare_with_log(&memory).await?;
        Ok(MemoryView { memory, exit })
    }

    /// Says on standard error if the memory does not follow the log of the folder. The log is opened after the memory, so
    /// a program that writes both cannot be between the two.
    async fn compare_with_log(&self, memory: &Memory) -> Result<Exit, CommandError> {
        let remark_on = |why: &str| {
            remark(&format!(
                "what is printed is not the memory of this log: {why}"
            ));
            Exit::Damaged
        };
        match LogView::open(&self.data.log()) {
            Ok(log) => Ok(match check_follows(&self.data, &log, memory).await {
                Ok(()) => Exit::Success,
                Err(mismatch) => remark_on(&Report(&*mismatch).to_string()),
            }),
            Err(error @ LogOpenError::Absent { .. }) if memory.stats().await?.log_through > 0 => {
                Ok(remark_on(&Report(&error).to_string()))
            }
            // A log that cannot be read says nothing about the memory; `log verify` and `doctor` report it.
            Err(_) => Ok(Exit::Success),
        }
    }

    /// Opens the memory and the log that it follows, to change it: every change is an event of the log. The memory has
    /// taken in the whole log then. Creates neither of the two unless asked to.
    pub(crate) async fn open_to_change(
        &self,
        missing: Missing,
    ) -> Result<LoggedMemory<RedbLog>, CommandError> {
        let (log_path, path) = (self.data.log(), self.path());
        if missing == Missing::Create {
            self.data.create()?;
        } else if !log_path.exists() && !path.exists() {
            // Says that there is no memory.
            self.builder().open_existing(&path).await?;
        }
        let log = match missing {
            Missing::Create => RedbLog::open(&log_path)?,
            Missing::Fail => RedbLog::open_existing(&log_path)?,
        };
        let memory = self.builder().open(&path).await?;
        let follows = check_follows(&self.data, &log, &memory).await;
        follows.map_err(|mismatch| *mismatch)?;
        Ok(LoggedMemory::open(log, memory, Arc::new(SystemClock)).await?)
    }

    /// Opens an existing memory.
    pub(crate) async fn open(&self) -> Result<Memory, CommandError> {
        Ok(self.builder().open_existing(self.path()).await?)
    }

    /// Opens an existing memory to build what is derived from its records again, with this encoder or the configured
    /// one, and the configured index.
    pub(crate) async fn open_to_rebuild(&self, by: &ByEncoder) -> Result<Memory, CommandError> {
        let builder = self.builder_by(by)?.rebuild().on_progress(show_progress);
        Ok(builder.open_existing(self.path()).await?)
    }

    /// Opens an existing memory with this encoder and the configured index.
    pub(crate) async fn open_to_migrate(
        &self,
        encoder: Arc<dyn Embedder>,
    ) -> Result<Memory, CommandError> {
        let mut builder = self.builder().encoder(encoder);
        if let Some(index) = recall::vector_index(&self.config)? {
            builder = builder.vectors(index);
        }
        Ok(builder.open_existing(self.path()).await?)
    }

    /// Makes a missing memory again from the log of the folder.
    async fn make_again(&self) -> Result<(), CommandError> {
        let log = RedbLog::open(&self.data.log())?;
        make_memory_again(&self.data, &log, &self.key()).await
    }

    /// Makes the memory again from the log of the folder, in place of the one that is there. Asks first if records would
    /// be lost.
    pub(crate) async fn replace_from_log(&self, consent: Consent) -> Result<(), CommandError> {
        replace_memory(&self.data, &self.key(), consent).await
    }

    /// The error, with what to do about it if the memory is damaged.
    pub(crate) fn with_rebuild_hint(&self, error: CommandError) -> CommandError {
        error.with_rebuild_hint(rebuild_command(&self.data))
    }

    /// The data folder.
    pub(crate) fn data(&self) -> &DataFolder {
        &self.data
    }

    /// The configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The assistant that owns the memory.
    pub(crate) fn key(&self) -> AssistantId {
        self.config.assistant.key()
    }

    fn path(&self) -> PathBuf {
        self.data.memory(&self.key())
    }

    fn builder(&self) -> MemoryBuilder {
        Memory::builder(self.key(), SystemClock)
    }

    fn builder_by(&self, by: &ByEncoder) -> Result<MemoryBuilder, CommandError> {
        let mut config = self.config.clone();
        if let Some(requested) = &by.embedder {
            config.memory.embedder = Some(requested.clone().into());
        }
        Ok(recall::memory_builder(&config)?)
    }
}

/// A memory that is open for reading.
#[derive(Debug)]
pub(crate) struct MemoryView {
    memory: Memory,
    exit: Exit,
}

impl MemoryView {
    /// The exit code of a command that printed it: not 0 if it does not follow the log of its folder.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl Deref for MemoryView {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
}

/// What to do if there is no memory and no log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Create,
    Fail,
}

/// Shows the progress of a long task of the memory on a terminal.
pub(crate) fn show_progress(progress: Progress) {
    let Progress { what, done, of } = progress;
    output::progress(&format!("{what}: {done} of {of}"));
}

/// The memory does not follow the log of its folder. Neither was changed.
#[derive(Debug, thiserror::Error)]
#[error(
    "the memory {} does not follow the log {}: {source} (`{command}`)",
    memory.display(),
    log.display()
)]
pub(crate) struct Mismatch {
    memory: PathBuf,
    log: PathBuf,
    command: String,
    #[source]
    source: CatchUpError,
}

impl CommandFailure for Mismatch {
    fn exit(&self) -> Exit {
        Exit::Damaged
    }
}

/// Checks that the memory follows the log. A log that cannot be read at the moment is not a mismatch.
pub(crate) async fn check_follows<L: ReadEvents>(
    data: &DataFolder,
    log: &L,
    memory: &Memory,
) -> Result<(), Box<Mismatch>> {
    let key = memory.assistant();
    match check_log(log, key, memory).await {
        Err(source) if source.is_mismatch() => Err(Box::new(Mismatch {
            memory: data.memory(key),
            log: data.log(),
            command: rebuild_command(data),
            source,
        })),
        Ok(()) | Err(_) => Ok(()),
    }
}
