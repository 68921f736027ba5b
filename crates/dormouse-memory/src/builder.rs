//! Opening a memory.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_contracts::{
    AssistantId, BoxError, Clock, Embedder, TokenCount, TokenCounter, VectorIndex,
};
use dormouse_database::DatabaseOpenError as FileError;
use dormouse_retrieval::Config;

use crate::{memory::Memory, store::StoreError};

/// How far something long has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `"reading records"`, `"embedding"`, `"feeding vectors"`.
    pub what: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are.
    pub of: u64,
}

/// Why a memory cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryOpenError {
    /// The file is the trouble; the cause says how.
    #[error(transparent)]
    File(#[from] FileError),
    /// What is in the file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is known of people and things cannot be used.
    #[error("{}: what is known of people and things makes no sense", path.display())]
    Entities {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The file is the memory of another assistant.
    #[error(
        "{} is the memory of {owner}, not of {asked}: name the file of {asked}'s own memory. What {owner} remembers can \
         be exported, and imported into it",
        path.display()
    )]
    OtherAssistant {
        /// The file.
        path: PathBuf,
        /// Whose memory it is.
        owner: String,
        /// Whose was asked for.
        asked: AssistantId,
    },
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    Stopped,
}

/// Settings of a memory that is about to be opened.
pub struct MemoryBuilder {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) assistant: AssistantId,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) retrieval: Config,
    pub(crate) encoder: Option<Arc<dyn Embedder>>,
    pub(crate) vectors: Option<Arc<dyn VectorIndex>>,
    pub(crate) progress: Option<Box<dyn Fn(Progress) + Send + Sync>>,
    pub(crate) rebuild: bool,
}

impl fmt::Debug for MemoryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBuilder")
            .field("assistant", &self.assistant)
            .finish_non_exhaustive()
    }
}

impl MemoryBuilder {
    pub(crate) fn new(clock: impl Clock + 'static, assistant: AssistantId) -> Self {
        Self {
            clock: Arc::new(clock),
            assistant,
            counter: Arc::new(FourBytes),
            retrieval: Config::default(),
            encoder: None,
            vectors: None,
            progress: None,
            rebuild: false,
        }
    }

    /// Counts tokens with this; a token for every four bytes where it is not said.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = counter;
        self
    }

    /// Searches with these settings; the measured ones where it is not said.
    #[must_use]
    pub fn retrieval(mut self, config: Config) -> Self {
        self.retrieval = config;
        self
    }

    /// Recalls by similarity too, as this encoder sees it; by words alone where it is not said.
    #[must_use]
    pub fn encoder(mut self, encoder: Arc<dyn Embedder>) -> Self {
        self.encoder = Some(encoder);
        self
    }

    /// Searches vectors with this index; with an exact one in process where it is not said. Without an encoder it is
    /// not used.
    #[must_use]
    pub fn vectors(mut self, index: Arc<dyn VectorIndex>) -> Self {
        self.vectors = Some(index);
        self
    }

    /// Tells how far opening has come, at least once every thousand records.
    #[must_use]
    pub fn on_progress(mut self, tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(tell));
        self
    }

    /// Makes the search index anew from the records, whatever there is of a copy. Vectors stay; [`Memory::empty_index`] has
    /// their index anew.
    #[must_use]
    pub fn rebuild(mut self) -> Self {
        self.rebuild = true;
        self
    }

    /// Opens the memory in the file at `path`, and makes it if there is none. One process opens it at a time.
    ///
    /// Reads the copy of the search index beside it and takes in what is newer; without a copy it reads every record.
    ///
    /// # Errors
    ///
    /// [`MemoryOpenError`] says what is wrong with the file and how to mend it.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<Memory, MemoryOpenError> {
        let path = path.as_ref().to_owned();
        tokio::task::spawn_blocking(move || Memory::open_now(self, &path))
            .await
            .map_err(|_stopped| MemoryOpenError::Stopped)?
    }

    /// Opens the memory in the file at `path`, which must be there.
    ///
    /// # Errors
    ///
    /// As [`MemoryBuilder::open`]; [`MemoryOpenError::File`] if there is no file.
    pub async fn open_existing(self, path: impl AsRef<Path>) -> Result<Memory, MemoryOpenError> {
        let path = path.as_ref().to_owned();
        tokio::task::spawn_blocking(move || Memory::open_existing_now(self, &path))
            .await
            .map_err(|_stopped| MemoryOpenError::Stopped)?
    }

    /// Opens the newest commit of the memory in the file at `path`, which must be there, for reading. Nothing is written
    /// or locked, so this works in a read-only folder, and while another process has the memory open. Changes are refused.
    ///
    /// A file that is in use is copied into memory, up to 1 GiB; reading from a longer one fails with the next change.
    ///
    /// # Errors
    ///
    /// As [`MemoryBuilder::open_existing`], but never because another process has the file open.
    pub async fn open_view(self, path: impl AsRef<Path>) -> Result<Memory, MemoryOpenError> {
        let path = path.as_ref().to_owned();
        tokio::task::spawn_blocking(move || Memory::open_view_now(self, &path))
            .await
            .map_err(|_stopped| MemoryOpenError::Stopped)?
    }

    /// A memory that is gone when it is dropped.
    ///
    /// # Errors
    ///
    /// Never, in practice: there is no file to be wrong.
    pub fn ephemeral(self) -> Result<Memory, MemoryOpenError> {
        Memory::ephemeral_now(self)
    }
}

/// A token for every four bytes: an estimate that serves where no vocabulary is known.
struct FourBytes;

impl TokenCounter for FourBytes {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount {
            tokens: u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX),
            exact: false,
        }
    }
}
