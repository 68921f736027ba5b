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

use crate::{index_copy::IndexCopy, memory::Memory, store::StoreError};

/// How far a long operation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `"reading records"` or `"embedding"`.
    pub what: &'static str,
    /// How many records are done.
    pub done: u64,
    /// How many records there are.
    pub of: u64,
}

/// Why a memory cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryOpenError {
    /// The file cannot be opened; the source says why.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content of the file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored people and things are not valid.
    #[error("{}: the stored people and things are not valid", path.display())]
    Entities {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The file is the memory of another assistant.
    #[error(
        "{} is the memory of {owner}, not of {asked}: name the file of {asked}'s memory. The records of {owner} can be \
         exported and then imported into it",
        path.display()
    )]
    OtherAssistant {
        /// The file.
        path: PathBuf,
        /// The assistant whose memory it is.
        owner: String,
        /// The assistant that was asked for.
        asked: AssistantId,
    },
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    Stopped,
}

/// Settings with which a memory is opened.
pub struct MemoryBuilder {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) assistant: AssistantId,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) retrieval: Config,
    pub(crate) encoder: Option<Arc<dyn Embedder>>,
    pub(crate) vectors: Option<Arc<dyn VectorIndex>>,
    pub(crate) progress: Option<Box<dyn Fn(Progress) + Send + Sync>>,
    pub(crate) rebuild: bool,
    pub(crate) behind: u64,
}

impl fmt::Debug for MemoryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBuilder")
            .field("assistant", &self.assistant)
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// Settings for a memory of this assistant, with this clock. A function that returns the time is a clock.
    #[must_use]
    pub fn builder(assistant: AssistantId, clock: impl Clock + 'static) -> MemoryBuilder {
        MemoryBuilder::new(clock, assistant)
    }
}

impl Memory {
    /// The files of a memory at this path: the memory itself, and what is derived from it. A memory that follows a log can
    /// be made again from that log, so they may be removed while nobody has the memory open.
    #[must_use]
    pub fn files(path: &Path) -> Vec<PathBuf> {
        let mut files = vec![path.to_owned()];
        files.extend(IndexCopy::next_to(path).files());
        files
    }
}

impl MemoryBuilder {
    fn new(clock: impl Clock + 'static, assistant: AssistantId) -> Self {
        Self {
            clock: Arc::new(clock),
            assistant,
            counter: Arc::new(FourBytes),
            retrieval: Config::default(),
            encoder: None,
            vectors: None,
            progress: None,
            rebuild: false,
            behind: 0,
        }
    }

    /// Counts tokens with this counter; by default one token for every four bytes.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = counter;
        self
    }

    /// Searches with these settings; by default with the measured ones.
    #[must_use]
    pub fn retrieval(mut self, config: Config) -> Self {
        self.retrieval = config;
        self
    }

    /// Recalls also by the similarity of this encoder's vectors; by default by words alone.
    #[must_use]
    pub fn encoder(mut self, encoder: Arc<dyn Embedder>) -> Self {
        self.encoder = Some(encoder);
        self
    }

    /// Searches vectors with this index; by default with an exact one in this process. Without an encoder it is not used.
    #[must_use]
    pub fn vectors(mut self, index: Arc<dyn VectorIndex>) -> Self {
        self.vectors = Some(index);
        self
    }

    /// Reports how far opening has come, at least once every thousand records.
    #[must_use]
    pub fn on_progress(mut self, report: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Box::new(report));
        self
    }

    /// Takes in up to so many events of its log in memory before it writes its file; none by default. Each write takes a sync.
    /// After a crash they are taken in again; until then, nobody who only reads the file sees them.
    #[must_use]
    pub fn behind(mut self, events: u64) -> Self {
        self.behind = events;
        self
    }

    /// Rebuilds the search index from the records, even if there is a copy of it. Vectors stay; [`Memory::empty_index`]
    /// rebuilds their index.
    #[must_use]
    pub fn rebuild(mut self) -> Self {
        self.rebuild = true;
        self
    }

    /// Opens the memory in the file at `path`, and makes it if there is none. Only one process can have it open.
    ///
    /// The copy of the search index next to it is read when it is needed first, and then the newer changes; without a copy every
    /// record is read. If there are a thousand newer changes or more, this is done before the memory is open.
    ///
    /// # Errors
    ///
    /// [`MemoryOpenError`] says what is wrong with the file and how to repair it.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<Memory, MemoryOpenError> {
        let path = path.as_ref().to_owned();
        tokio::task::spawn_blocking(move || Memory::open_now(self, &path))
            .await
            .map_err(|_stopped| MemoryOpenError::Stopped)?
    }

    /// Opens the memory in the file at `path`, which must exist.
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

    /// Opens the newest commit of the memory in the file at `path`, which must exist, for reading. Nothing is written or
    /// locked, so this works in a read-only folder, and while another process has the memory open. Changes are refused.
    ///
    /// A file that is in use is copied into memory, up to 1 GiB; reading from a longer one fails after the next change.
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

    /// A memory without a file; its content is lost when it is dropped.
    ///
    /// # Errors
    ///
    /// Only if the database in memory cannot be made; no file is involved.
    pub fn ephemeral(self) -> Result<Memory, MemoryOpenError> {
        Memory::ephemeral_now(self)
    }
}

/// One token for every four bytes: an estimate for models whose vocabulary is not known.
struct FourBytes;

impl TokenCounter for FourBytes {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount {
            tokens: u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX),
            exact: false,
        }
    }
}
