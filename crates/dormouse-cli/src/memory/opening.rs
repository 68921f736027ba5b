//! Opening the memory of the data folder.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
};

use dormouse::SystemClock;
use dormouse_contracts::{AssistantId, Embedder};
use dormouse_memory::{Memory, MemoryBuilder, Progress};
use dormouse_store::RedbLog;

use super::{By, CommandError};
use crate::{
    args::Places,
    compose,
    config::Config,
    data::DataFolder,
    log::LogError,
    view::{self, Of, Printing},
};

/// Where the memory is and whose it is.
#[derive(Debug)]
pub(crate) struct Place {
    data: DataFolder,
    config: Config,
}

impl Place {
    /// Finds out where. Makes nothing.
    pub(crate) fn locate(places: &Places) -> Result<Self, CommandError> {
        let data = DataFolder::locate(places.data.as_deref())?;
        let (config, _) = Config::load(places.config.as_deref(), &data.config())?;
        Ok(Self::of(data, config))
    }

    /// The memory in this folder, as this configuration has it.
    pub(crate) fn of(data: DataFolder, config: Config) -> Self {
        Self { data, config }
    }

    /// Settings for it.
    pub(crate) fn builder(&self, encoder: Option<Arc<dyn Embedder>>) -> MemoryBuilder {
        let builder = Memory::builder(self.key(), SystemClock);
        match encoder {
            Some(encoder) => builder.encoder(encoder),
            None => builder,
        }
    }

    /// Settings for it, with the encoder and the index of vectors that are wanted.
    pub(super) fn builder_by(&self, by: &By) -> Result<MemoryBuilder, CommandError> {
        let mut config = self.config.clone();
        if let Some(wish) = &by.embedder {
            config.memory.embedder = Some(wish.clone().into());
        }
        Ok(compose::remembering(&config)?)
    }

    /// Opens one that is there for reading, to go by what is wanted.
    pub(super) async fn look_by(
        &self,
        by: &By,
        printing: Printing,
    ) -> Result<Memory, CommandError> {
        self.look_with(self.builder_by(by)?, printing).await
    }

    /// Opens one that is there for reading. Neither the memory nor its folder is written.
    pub(crate) async fn look(&self, printing: Printing) -> Result<Memory, CommandError> {
        self.look_with(self.builder(None), printing).await
    }

    async fn look_with(
        &self,
        builder: MemoryBuilder,
        printing: Printing,
    ) -> Result<Memory, CommandError> {
        let path = self.file();
        let memory = builder.open_view(&path).await?;
        if memory.is_in_use_elsewhere() {
            view::label(Of::Memory, &path, printing).map_err(CommandError::Output)?;
        }
        Ok(memory)
    }

    /// A view with the encoder and the index of vectors of the configuration.
    pub(crate) async fn look_as_configured(&self) -> Result<Memory, CommandError> {
        let builder = compose::remembering(&self.config)?;
        Ok(builder.open_view(self.file()).await?)
    }

    /// Opens one that is there, with this encoder and the index of vectors of the configuration.
    pub(super) async fn open_to_migrate(
        &self,
        encoder: Arc<dyn Embedder>,
    ) -> Result<Memory, CommandError> {
        let mut builder = self.builder(Some(encoder));
        if let Some(index) = compose::vector_index(&self.config)? {
            builder = builder.vectors(index);
        }
        self.open_with(builder).await
    }

    /// Opens one that is there.
    pub(crate) async fn open(
        &self,
        encoder: Option<Arc<dyn Embedder>>,
    ) -> Result<Memory, CommandError> {
        self.open_with(self.builder(encoder)).await
    }

    pub(super) async fn open_with(&self, builder: MemoryBuilder) -> Result<Memory, CommandError> {
        Ok(builder.open_existing(self.file()).await?)
    }

    /// Opens it, and makes it if there is none.
    pub(crate) async fn open_or_make(&self) -> Result<Memory, CommandError> {
        self.data.create()?;
        Ok(self.builder(None).open(self.file()).await?)
    }

    /// The log that the memory must follow. If the log is missing, an empty one is made.
    pub(super) fn log(&self) -> Result<RedbLog, CommandError> {
        Ok(RedbLog::open(&self.data.log()).map_err(LogError::from)?)
    }

    /// Whose memory it is.
    pub(super) fn key(&self) -> AssistantId {
        self.config.assistant.key()
    }

    /// The memory's file.
    pub(crate) fn file(&self) -> PathBuf {
        self.data.memory(&self.key())
    }
}

/// Tells somebody at a terminal how far something has come.
pub(super) fn tell(progress: Progress) {
    let Progress { what, done, of } = progress;
    tell_line(&format!("{what}: {done} of {of}"));
}

/// Writes a line over the one before, for somebody at a terminal.
pub(super) fn tell_line(line: &str) {
    let mut err = io::stderr();
    if err.is_terminal() {
        // If standard error is closed there is nobody to tell.
        drop(write!(err, "\r\u{1b}[K{line}\r"));
    }
}
