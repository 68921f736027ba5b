//! A text encoder that runs in this process.

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
    folder::{self, Folder},
    model::{EncodeError, Model},
};

/// How many texts a call encodes before another call gets its turn. The number is small enough that a query does not
/// wait long behind a large import, and large enough that sorting the texts by length saves time.
const WINDOW: usize = 64;

/// The maximum size of a text in bytes, before it is truncated to the model's number of tokens.
const LONGEST_TEXT: usize = 64 * 1024;

/// A text encoder that runs in this process: a BERT model in a folder in the format of sentence-transformers.
///
/// The folder contains `config.json`, `tokenizer.json` and `model.safetensors`. It may also contain `modules.json`,
/// `1_Pooling/config.json` (mean or CLS; default mean) and `sentence_bert_config.json` (the maximum number of tokens;
/// default [`LocalEncoder::DEFAULT_TOKENS`], at most [`LocalEncoder::MOST_TOKENS`]). The folder is read once. Nothing
/// is downloaded.
///
/// Vectors have length 1. The vector of a text is the same in every batch, except for differences of up to 1e-5. The
/// model's name is a hash of the content that vectors depend on, so it stays the same if the folder moves.
///
/// Texts are encoded in windows of 64. One window runs at a time, on a blocking thread of tokio and on all cores;
/// several calls take turns after each window. Dropping the future stops the calculation after the current batch.
/// Errors while embedding have the kind `Malformed`. The encoder needs a tokio runtime, and one and a half times the
/// memory of the weights.
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
    /// The upper limit of tokens per text.
    pub const MOST_TOKENS: usize = folder::MOST_TOKENS;

    /// The default number of tokens per text.
    pub const DEFAULT_TOKENS: usize = folder::DEFAULT_TOKENS;

    /// Loads the model in `folder` and tests it with a word.
    ///
    /// Blocks for about 0.2 s with a model of 90 MB: call it at start, or on a blocking thread.
    ///
    /// # Errors
    ///
    /// [`LocalEncoderError`], with the location of the fault and advice.
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

    /// The folder from which the model was loaded.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    async fn windows(&self, texts: &[String]) -> Result<Vec<Embedding>, EncodeError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for window in texts.chunks(WINDOW) {
            // The semaphore is never closed, so this does not fail.
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

/// Stops the calculation when the caller drops the future.
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
