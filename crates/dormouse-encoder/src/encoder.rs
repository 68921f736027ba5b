//! A text encoder in this process, from a folder.

use std::{
    fmt,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use dormouse_contracts::{
    BoxFuture, Embedder, Embedding, EncoderInfo, ModelError, ModelErrorKind, ModelName, ProviderId,
};
use dormouse_text::beginning_bytes;
use tokio::sync::Semaphore;

use crate::{
    LocalEncoderError,
    folder::Folder,
    model::{EncodeError, Model},
};

/// How many texts are taken at a time. Few enough that a question need not wait long behind a whole library, and enough
/// that sorting them by length pays.
const WINDOW: usize = 64;

/// What is read of a text, in bytes, before it is cut to the tokens that the model reads.
const LONGEST_TEXT: usize = 64 * 1024;

/// A text encoder that runs in this process: a model of the BERT kind in a folder as sentence-transformers writes it.
///
/// The folder holds `config.json`, `tokenizer.json` and `model.safetensors`, and may hold `modules.json`,
/// `1_Pooling/config.json` (mean or CLS; mean where nothing is said) and `sentence_bert_config.json` (how many tokens are
/// read; [`LocalEncoder::DEFAULT_TOKENS`] where nothing is said, never more than [`LocalEncoder::MOST_TOKENS`]). It is
/// read once, and not needed any more afterwards. Nothing is fetched from anywhere.
///
/// Vectors have length 1. Those of one text are equal to within 1e-5 whatever it is embedded with. The model's name is
/// made from the content of the folder, so that it stays the same where the folder moves and changes where anything
/// changes that vectors depend on.
///
/// Calculates on one blocking thread of tokio at a time (and the cores of the machine), on windows of 64 texts; several
/// calls take turns by window. Dropping the future stops the calculation after the batch it is at. An error while
/// embedding is `Malformed`. Needs a tokio runtime, and about one and a half times the size of the weights in memory.
///
/// # Examples
///
/// ```no_run
/// # use dormouse_contracts::Embedder;
/// # use dormouse_encoder::LocalEncoder;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let encoder = LocalEncoder::open("models/all-minilm-l6-v2".as_ref())?;
/// let vectors = encoder.embed(&["The kettle is blue.".to_owned()]).await?;
/// assert_eq!(Some(vectors[0].len()), encoder.info().dimensions.map(usize::from));
/// # Ok(()) }
/// ```
pub struct LocalEncoder {
    model: Arc<Model>,
    info: EncoderInfo,
    folder: PathBuf,
    provider: ProviderId,
    turn: Semaphore,
}

impl LocalEncoder {
    /// The most tokens that are read of a text, whatever the folder says.
    pub const MOST_TOKENS: usize = 512;

    /// How many tokens are read of a text where the folder does not say.
    pub const DEFAULT_TOKENS: usize = 256;

    /// Reads the model in `folder` and tries it on a word.
    ///
    /// Blocks, for a fifth of a second with a model of 90 MB: call it at start, or on a blocking thread.
    ///
    /// # Errors
    ///
    /// [`LocalEncoderError`], which says what is wrong where, and what helps.
    #[expect(
        clippy::expect_used,
        reason = "both names are made of letters and digits"
    )]
    pub fn open(folder: &Path) -> Result<Self, LocalEncoderError> {
        let folder = Folder::read(folder)?;
        let dimensions = NonZeroUsize::new(folder.config.hidden_size);
        let name = format!("bert-{}-{}", folder.config.hidden_size, folder.digest);
        let path = folder.path.clone();
        let model = Model::try_new(folder)?;
        let tried = model.embed(&["kettle".to_owned()], &AtomicBool::new(false));
        tried.map_err(|source| LocalEncoderError::Damaged {
            folder: path.clone(),
            source: Box::new(source),
        })?;
        Ok(Self {
            model: Arc::new(model),
            info: EncoderInfo {
                model: ModelName::try_new(name).expect("a name"),
                dimensions,
            },
            folder: path,
            provider: ProviderId::try_new("folder").expect("a provider's name is an id"),
            turn: Semaphore::new(1),
        })
    }

    /// Where it was read from.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    async fn windows(&self, texts: &[String]) -> Result<Vec<Embedding>, EncodeError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for window in texts.chunks(WINDOW) {
            // Never closed, so that there always is a turn.
            let _turn = self.turn.acquire().await;
            vectors.extend(self.window(window).await?);
        }
        Ok(vectors)
    }

    async fn window(&self, texts: &[String]) -> Result<Vec<Embedding>, EncodeError> {
        let texts: Vec<String> = texts
            .iter()
            .map(|text| beginning_bytes(text, LONGEST_TEXT).to_owned())
            .collect();
        let model = self.model.clone();
        let stop = StopOnDrop::default();
        let stopped = stop.0.clone();
        let calculation = tokio::task::spawn_blocking(move || model.embed(&texts, &stopped)).await;
        drop(stop);
        calculation.map_err(EncodeError::Thread)?
    }
}

/// Tells the calculation that nobody waits for it any more.
#[derive(Debug, Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Embedder for LocalEncoder {
    fn info(&self) -> EncoderInfo {
        self.info.clone()
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, ModelError>> {
        Box::pin(async move {
            self.windows(texts).await.map_err(|error| {
                let source = Some(error.into());
                ModelError::new(self.provider.clone(), ModelErrorKind::Malformed, source)
            })
        })
    }
}

impl fmt::Debug for LocalEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEncoder")
            .field("folder", &self.folder)
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
