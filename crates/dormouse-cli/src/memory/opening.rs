//! Opening the memory of the data folder.

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use dormouse::SystemClock;
use dormouse_contracts::Embedder;
use dormouse_memory::{Memory, MemoryBuilder, Progress};

use super::{By, CommandError};
use crate::{args::Places, compose, config::Config, data::DataFolder};

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
        let builder = Memory::builder(self.config.assistant.key(), SystemClock);
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

    /// Opens one that is there, to go by what is wanted.
    pub(super) async fn open_by(&self, by: &By) -> Result<Memory, CommandError> {
        self.open_with(self.builder_by(by)?).await
    }

    /// Opens one that is there.
    pub(crate) async fn open(
        &self,
        encoder: Option<Arc<dyn Embedder>>,
    ) -> Result<Memory, CommandError> {
        self.open_with(self.builder(encoder)).await
    }

    pub(super) async fn open_with(&self, builder: MemoryBuilder) -> Result<Memory, CommandError> {
        Ok(builder.open_existing(self.data.memory()).await?)
    }

    /// Opens it, and makes it if there is none.
    pub(crate) async fn open_or_make(&self) -> Result<Memory, CommandError> {
        self.data.create()?;
        Ok(self.builder(None).open(self.data.memory()).await?)
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
