//! Opening the memory of the data folder.

use std::{ops::Deref, path::PathBuf, sync::Arc};

use dormouse_contracts::{AssistantId, Embedder, ReadEvents};
use dormouse_engine::{LoggedMemory, catch_up};
use dormouse_host::{self as host, Awake, DataFolder, OpenLog, SystemClock, check_format};
use dormouse_memory::{Memory, MemoryBuilder, Progress};
use dormouse_store::{LogOpenError, LogView, RedbLog};

use super::{
    again::{Consent, make_memory_again, replace_memory},
    arguments::{ByEncoder, Places},
    caller::{self, resident},
    error::{CommandError, CommandFailure},
    invocation::rebuild_command,
    output::{self, Printing, ViewOf, label_view, remark},
};
use crate::{
    config::Config,
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
        let data = crate::data::locate(places.data.as_deref())?;
        let (mut config, _) = places.configuration(&data)?;
        if let Some(about) = caller::about() {
            config.assistant.set_key(about);
        }
        Ok(Self::new(data, config))
    }

    /// The memory in this folder, with this configuration.
    pub(crate) fn new(data: DataFolder, config: Config) -> Self {
        Self { data, config }
    }

    /// Opens a memory for reading. Writes only if the memory is missing and can be rebuilt from a log.
    pub(crate) async fn view(&self, printing: Printing) -> Result<MemoryView, CommandError> {
        match self.view_of_resident(&self.key()).await? {
            Some(view) => Ok(view),
            None => self.view_with(self.builder(), printing).await,
        }
    }

    /// Opens a memory for reading as [`view`](Self::view) does, with this encoder or the configured one, and the configured index.
    pub(crate) async fn view_by(
        &self,
        by: &ByEncoder,
        printing: Printing,
    ) -> Result<MemoryView, CommandError> {
        match self.view_of_resident(&self.key()).await? {
            None => self.view_with(self.builder_by(by)?, printing).await,
            Some(view) if by.embedder.is_none() => Ok(view),
            Some(view) => Ok(MemoryView {
                memory: self.builder_by(by)?.open_view(self.path()).await?,
                ..view
            }),
        }
    }

    /// Opens an existing memory of an assistant of the folder for reading, with the configured encoder and index. Does not report
    /// whether another program uses it.
    pub(crate) async fn view_as_configured(
        &self,
        key: &AssistantId,
    ) -> Result<MemoryView, CommandError> {
        if let Some(view) = self.view_of_resident(key).await? {
            return Ok(view);
        }
        let mut config = self.config.clone();
        config.assistant.set_key(key.clone());
        let builder = recall::memory_builder(&config)?;
        Ok(builder.open_view(self.data.memory(key)).await?.into())
    }

    /// Opens the memory of an assistant of the folder for reading, after it has read the whole log. It searches by
    /// words only. A missing memory is rebuilt; a memory that does not follow its log is refused.
    pub(crate) async fn view_of(&self, key: &AssistantId) -> Result<MemoryView, CommandError> {
        if let Some(view) = self.view_of_resident(key).await? {
            return Ok(view);
        }
        self.make_if_missing(key).await?;
        self.bring_up_to_date(key).await?;
        let memory = Memory::builder(key.clone(), SystemClock);
        Ok(memory.open_view(&self.data.memory(key)).await?.into())
    }

    /// The memory that the running assistant has open, after it has read the whole log. `None` if no assistant runs in
    /// this process.
    async fn view_of_resident(
        &self,
        key: &AssistantId,
    ) -> Result<Option<MemoryView>, CommandError> {
        let (Some(host), Some(resident)) = (caller::host(), resident(key).await?) else {
            return Ok(None);
        };
        let memory = resident.memory().clone();
        catch_up(host.log(), key, &memory).await?;
        Ok(Some(MemoryView {
            memory,
            exit: Exit::Success,
            _awake: Some(resident),
        }))
    }

    async fn view_with(
        &self,
        builder: MemoryBuilder,
        printing: Printing,
    ) -> Result<MemoryView, CommandError> {
        let path = self.path();
        self.make_if_missing(&self.key()).await?;
        let memory = builder.open_view(&path).await?;
        if memory.is_in_use_elsewhere() {
            label_view(ViewOf::Memory, &path, printing)?;
        }
        let exit = self.compare_with_log(&memory).await?;
        Ok(MemoryView {
            memory,
            exit,
            _awake: None,
        })
    }

    /// Rebuilds a missing memory from the log, as the next start of the assistant would.
    async fn make_if_missing(&self, key: &AssistantId) -> Result<(), CommandError> {
        check_format(&self.data).await?;
        if !self.data.memory(key).exists() && self.data.log().exists() {
            let log = RedbLog::open(&self.data.log())?;
            make_memory_again(&self.data, &log, key).await?;
        }
        Ok(())
    }

    /// Reads the events that a killed program or a full disk has left unread, as the next start of the assistant would.
    /// Changes nothing while another program uses the log, because that program does it. Refuses a memory that does not
    /// follow the log.
    async fn bring_up_to_date(&self, key: &AssistantId) -> Result<(), CommandError> {
        let memory = Memory::builder(key.clone(), SystemClock);
        let view = memory.open_view(&self.data.memory(key)).await?;
        let log = LogView::open(&self.data.log())?;
        let follows = check_follows(&self.data, &log, &view).await;
        follows.map_err(|mismatch| *mismatch)?;
        if log.is_in_use() || left_out(&log, &view).await?.is_none() {
            return Ok(());
        }
        drop((log, view));
        let log = RedbLog::open_existing(&self.data.log())?;
        let memory = Memory::builder(key.clone(), SystemClock);
        let memory = memory.open_existing(self.data.memory(key)).await?;
        catch_up(&log, key, &memory).await?;
        Ok(memory.checkpoint().await?)
    }

    /// Says on standard error if the memory does not follow the log of the folder. The log is opened after the memory.
    /// So if a program writes both, the log is never older than the memory.
    async fn compare_with_log(&self, memory: &Memory) -> Result<Exit, CommandError> {
        let remark_on = |why: &str| {
            remark(&format!("this memory does not belong to the log: {why}"));
            Exit::Damaged
        };
        match LogView::open(&self.data.log()) {
            Ok(log) => match check_follows(&self.data, &log, memory).await {
                Ok(()) => {
                    if !log.is_in_use()
                        && let Some((through, last)) = left_out(&log, memory).await?
                    {
                        remark(&format!(
                            "the memory has read the log through event {through} of {last}; the next start reads the \
                            rest"
                        ));
                    }
                    Ok(Exit::Success)
                }
                Err(mismatch) => Ok(remark_on(&Report(&*mismatch).to_string())),
            },
            Err(error @ LogOpenError::Absent { .. }) if memory.stats().await?.log_through > 0 => {
                Ok(remark_on(&Report(&error).to_string()))
            }
            // A log that cannot be read says nothing about the memory; `log verify` and `doctor` report it.
            Err(_) => Ok(Exit::Success),
        }
    }

    /// Opens the memory and its log for a change, which is an event of the log. The memory has then read the whole log.
    /// Creates missing files only if asked to.
    pub(crate) async fn open_to_change(
        &self,
        missing: Missing,
    ) -> Result<LoggedMemory<OpenLog>, CommandError> {
        if let (Some(host), Some(resident)) = (caller::host(), resident(&self.key()).await?) {
            return Ok(resident
                .logged_memory(host.log(), Arc::new(SystemClock))
                .await?);
        }
        let (log_path, path) = (self.data.log(), self.path());
        check_format(&self.data).await?;
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
        self.data.remove_memory_being_made(&self.key())?;
        let memory = self.builder().open(&path).await?;
        let follows = check_follows(&self.data, &log, &memory).await;
        follows.map_err(|mismatch| *mismatch)?;
        let log = OpenLog::new(log, None);
        Ok(LoggedMemory::open(log, memory, Arc::new(SystemClock)).await?)
    }

    /// Opens an existing memory.
    pub(crate) async fn open(&self) -> Result<MemoryView, CommandError> {
        if let Some(view) = self.view_of_resident(&self.key()).await? {
            return Ok(view);
        }
        Ok(self.builder().open_existing(self.path()).await?.into())
    }

    /// Opens an existing memory to rebuild what is derived from its records, with this encoder or the configured one,
    /// and the configured index.
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

    /// Rebuilds the memory from the log of the folder, in place of the present one. Asks first if records would be
    /// lost.
    pub(crate) async fn replace_from_log(&self, consent: Consent) -> Result<(), CommandError> {
        replace_memory(&self.data, &self.key(), consent).await
    }

    /// Adds what to do, if the memory is damaged.
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
    /// If the assistant that owns the memory runs, this keeps it awake.
    _awake: Option<Awake>,
}

impl From<Memory> for MemoryView {
    fn from(memory: Memory) -> Self {
        Self {
            memory,
            exit: Exit::Success,
            _awake: None,
        }
    }
}

impl MemoryView {
    /// The exit code of a command that printed the memory. It is an error if the memory does not follow the log of its
    /// folder.
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

/// If the memory has not read the whole log: the last event that it has read, and the last event of the log.
async fn left_out(log: &LogView, memory: &Memory) -> Result<Option<(u64, u64)>, CommandError> {
    let through = memory.log_position().await?.seq;
    let mut its = log.assistants()?.into_iter();
    let its = its.find(|(key, _)| key == memory.assistant());
    let last = its.map_or(0, |(_, last)| last.0);
    Ok((last > through).then_some((through, last)))
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

/// The memory does not follow the log of its folder, with what to do about it. Both are unchanged.
#[derive(Debug, thiserror::Error)]
#[error("{source} (`{command}`)")]
pub(crate) struct Mismatch {
    command: String,
    source: Box<host::Mismatch>,
}

impl Mismatch {
    /// The mismatch in this folder.
    pub(crate) fn new(data: &DataFolder, source: Box<host::Mismatch>) -> Self {
        let command = rebuild_command(data);
        Self { command, source }
    }
}

impl CommandFailure for Mismatch {
    fn exit(&self) -> Exit {
        Exit::Damaged
    }
}

/// Refuses a memory that does not follow this log. A log that cannot be read is not compared.
pub(crate) async fn check_follows<L: ReadEvents>(
    data: &DataFolder,
    log: &L,
    memory: &Memory,
) -> Result<(), Box<Mismatch>> {
    let follows = host::check_follows(data, log, memory).await;
    follows.map_err(|source| Box::new(Mismatch::new(data, source)))
}
