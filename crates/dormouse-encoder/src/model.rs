//! The model, and the calculation of vectors.

use std::sync::atomic::{AtomicBool, Ordering};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use dormouse_contracts::{BoxError, Embedding};
use tokenizers::{Tokenizer, TruncationParams};

use crate::{error::LocalEncoderError, folder::Folder, pooling::Pooling};

/// The number of tokens per batch, including padding. Measured with short sentences: with a quarter of this number, the
/// calculation takes an eighth longer. Four times this number is not faster and needs more memory.
const TOKENS_AT_ONCE: usize = 1024;

/// Why texts could not be embedded. It is the source of the error that callers get.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EncodeError {
    /// The tokenizer failed.
    #[error("the tokenizer failed on a text")]
    Tokenizer(#[source] BoxError),
    /// The calculation failed.
    #[error("the calculation of the vectors failed")]
    Calculation(#[from] candle_core::Error),
    /// A vector has length zero or is not finite.
    #[error("the model's weights are damaged: vector {index} contains a number that is not finite")]
    NotFinite {
        /// The index of its text.
        index: usize,
    },
    /// The calculation panicked, or the runtime is being shut down.
    #[error("the calculation panicked, or the runtime is shutting down")]
    Thread(#[source] tokio::task::JoinError),
    /// The caller dropped the future.
    #[error("the calculation was stopped, because the caller dropped its future")]
    Stopped,
}

pub(crate) struct Model {
    bert: BertModel,
    tokenizer: Tokenizer,
    pooling: Pooling,
    hidden_size: usize,
    pad: u32,
}

/// A text's tokens, and its index.
struct Tokens {
    place: usize,
    ids: Vec<u32>,
}

impl Model {
    pub(crate) fn try_new(folder: Folder) -> Result<Self, LocalEncoderError> {
        let tokenizer = tokenizer(&folder.tokenizer.bytes, folder.most_tokens);
        let tokenizer = tokenizer.map_err(|source| LocalEncoderError::Unreadable {
            path: folder.tokenizer.path,
            source,
        })?;
        let config = folder.config;
        let bert = {
            let tensors =
                candle_core::safetensors::load_buffer(&folder.weights.bytes, &Device::Cpu);
            // The tensors copy the weights, so the file can be closed.
            drop(folder.weights.bytes);
            tensors.and_then(|tensors| {
                let tensors = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
                BertModel::load(tensors, &config)
            })
        };
        let bert = bert.map_err(|error| LocalEncoderError::Weights {
            path: folder.weights.path,
            source: Box::new(error),
        })?;
        Ok(Self {
            bert,
            tokenizer,
            pooling: folder.pooling,
            hidden_size: config.hidden_size,
            pad: u32::try_from(config.pad_token_id).unwrap_or(0),
        })
    }

    /// Returns one vector for each text, in order. Stops between two batches on request.
    pub(crate) fn embed(
        &self,
        texts: &[String],
        stop: &AtomicBool,
    ) -> Result<Vec<Embedding>, EncodeError> {
        let mut tokens = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let ids = self.ids(text)?;
            tokens.push(Tokens { place, ids });
        }
        // The texts are sorted by length, so that the batches need little padding.
        tokens.sort_by_key(|text| text.ids.len());
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches(&tokens) {
            if stop.load(Ordering::Relaxed) {
                return Err(EncodeError::Stopped);
            }
            let places = batch.iter().map(|text| text.place);
            vectors.extend(places.zip(self.calculate(batch)?));
        }
        vectors.sort_by_key(|(place, _)| *place);
        let is_finite = |vector: &Embedding| vector.iter().all(|number| number.is_finite());
        match vectors.iter().find(|(_, vector)| !is_finite(vector)) {
            Some((index, _)) => Err(EncodeError::NotFinite { index: *index }),
            None => Ok(vectors.into_iter().map(|(_, vector)| vector).collect()),
        }
    }

    fn ids(&self, text: &str) -> Result<Vec<u32>, EncodeError> {
        let encoding = self.tokenizer.encode_fast(text, true);
        let mut ids = encoding.map_err(EncodeError::Tokenizer)?.get_ids().to_vec();
        if ids.is_empty() {
            ids.push(self.pad);
        }
        Ok(ids)
    }

    /// Calculates a batch, padded to the length of its longest text.
    fn calculate(&self, batch: &[Tokens]) -> Result<Vec<Embedding>, EncodeError> {
        let longest = batch.iter().map(|text| text.ids.len()).max().unwrap_or(0);
        let shape = (batch.len(), longest);
        let mut ids = Vec::with_capacity(batch.len() * longest);
        let mut mask = Vec::with_capacity(batch.len() * longest);
        for text in batch {
            let filling = longest - text.ids.len();
            ids.extend(text.ids.iter().copied());
            ids.extend(std::iter::repeat_n(self.pad, filling));
            mask.extend(std::iter::repeat_n(1_u32, text.ids.len()));
            mask.extend(std::iter::repeat_n(0_u32, filling));
        }
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let one_sentence = ids.zeros_like()?;
        let tokens = self.bert.forward(&ids, &one_sentence, Some(&mask))?;
        let tokens = tokens.flatten_all()?.to_vec1::<f32>()?;
        let texts = tokens.chunks(longest * self.hidden_size);
        let own = |text: &Tokens| text.ids.len() * self.hidden_size;
        let pooled = batch.iter().zip(texts).map(|(text, tokens)| {
            let tokens = tokens.get(..own(text)).unwrap_or(tokens);
            self.pooling.pool(tokens, self.hidden_size)
        });
        Ok(pooled.collect())
    }
}

/// Returns the tokenizer. It truncates at this length and does not pad, even if its file asks for something else.
fn tokenizer(bytes: &[u8], most_tokens: usize) -> Result<Tokenizer, BoxError> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    tokenizer.with_truncation(Some(TruncationParams {
        max_length: most_tokens,
        ..TruncationParams::default()
    }))?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

/// Splits the texts into batches of neighbours.
fn batches(sorted: &[Tokens]) -> Vec<&[Tokens]> {
    let mut batches = Vec::new();
    let mut rest = sorted;
    while !rest.is_empty() {
        let fitting = (1..)
            .zip(rest)
            .take_while(|(count, text)| count * text.ids.len() <= TOKENS_AT_ONCE)
            .count()
            .max(1);
        let (batch, after) = rest.split_at(fitting);
        batches.push(batch);
        rest = after;
    }
    batches
}
