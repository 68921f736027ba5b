//! A text encoder without a model.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{
    BoxFuture, Embedder, Embedding, EncoderInfo, ModelError, ModelErrorKind, ModelName, ProviderId,
};

use crate::gate::Gate;

/// The fault of one call to a [`HashedEmbedder`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EmbedFault {
    /// Fails.
    Fail(ModelErrorKind),
    /// Never answers.
    Hang,
    /// Waits until the gate is open, then answers.
    Wait(Gate),
    /// Answers with vectors in which every number is NaN. The port forbids this, but a careful caller checks for it.
    NotANumber,
    /// Answers with vectors that have one number too many, which the port forbids.
    WrongDimensions,
    /// Answers with one vector too few, which the port forbids.
    OneTooFew,
}

/// An [`Embedder`] that treats a text as a bag of words: the hash of each word decides which number it adds to or
/// subtracts from. Texts that share words are similar; other texts are nearly orthogonal. A text has the same vector on
/// every machine.
///
/// Words are runs of letters and digits; case does not matter. Vectors have length 1. It answers at once unless the
/// test has set a fault. A clone is another handle to the same embedder.
///
/// ```
/// use dormouse_contracts::Embedder;
/// use dormouse_testing::{EmbedFault, HashedEmbedder};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let embedder = HashedEmbedder::new(64);
/// let texts = ["The kettle is blue.".to_owned(), "a blue kettle".to_owned(), "Bob left".to_owned()];
/// let vectors = embedder.embed(&texts).await.unwrap();
/// let similarity = |a: usize, b: usize| -> f32 { vectors[a].iter().zip(&vectors[b]).map(|(a, b)| a * b).sum() };
/// assert!(similarity(0, 1) > 0.5 && similarity(0, 2) < 0.3);
///
/// embedder.next(EmbedFault::NotANumber);
/// assert!(embedder.embed(&texts).await.unwrap()[0][0].is_nan());
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HashedEmbedder {
    info: EncoderInfo,
    dimensions: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    next: VecDeque<EmbedFault>,
    lasting: Option<EmbedFault>,
    calls: usize,
    texts: Vec<String>,
}

impl HashedEmbedder {
    /// An embedder for vectors of this many numbers. The name of its model is `hashed-` and the number, as in
    /// `hashed-64`.
    ///
    /// # Panics
    ///
    /// If `dimensions` is zero.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self::named(&format!("hashed-{dimensions}"), dimensions)
    }

    /// Like [`HashedEmbedder::new`], with another model name. The hashes depend on the name, so the vectors differ.
    ///
    /// # Panics
    ///
    /// If `dimensions` is zero, or `name` is not a valid model name.
    #[must_use]
    pub fn named(name: &str, dimensions: usize) -> Self {
        let info = EncoderInfo {
            model: ModelName::try_new(name).unwrap(),
            dimensions: Some(NonZeroUsize::new(dimensions).unwrap()),
        };
        Self {
            info,
            dimensions,
            state: Arc::default(),
        }
    }

    /// Sets the fault of the next call to [`embed`](dormouse_contracts::Embedder::embed) that has no fault yet. To set
    /// the faults of the calls after it, call this repeatedly.
    pub fn next(&self, trouble: EmbedFault) {
        self.state().next.push_back(trouble);
    }

    /// Sets the fault of every call from now on, after those set by [`HashedEmbedder::next`].
    pub fn from_now_on(&self, trouble: EmbedFault) {
        self.state().lasting = Some(trouble);
    }

    /// Clears all faults.
    pub fn recover(&self) {
        let mut state = self.state();
        state.lasting = None;
        state.next.clear();
    }

    /// How many calls there were, including failed ones.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.state().calls
    }

    /// Every text of every call, in order.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.state().texts.clone()
    }

    /// The vector of a text. This does not count as a call.
    #[must_use]
    pub fn vector(&self, text: &str) -> Embedding {
        let mut vector = vec![0.0_f32; self.dimensions];
        let name = self.info.model.as_str();
        for word in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            add(&mut vector, hash(name, &word.to_lowercase()));
        }
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm == 0.0 {
            // A text without words, or with words that cancel each other out, needs a vector of length 1, too.
            add(&mut vector, 0);
            return vector;
        }
        vector.iter().map(|x| x / norm).collect()
    }

    async fn answer(&self, texts: &[String]) -> Result<Vec<Embedding>, ModelErrorKind> {
        let trouble = {
            let mut state = self.state();
            state.calls += 1;
            state.texts.extend_from_slice(texts);
            state.next.pop_front().or_else(|| state.lasting.clone())
        };
        let mut vectors: Vec<Embedding> = texts.iter().map(|text| self.vector(text)).collect();
        match trouble {
            None => {}
            Some(EmbedFault::Fail(kind)) => return Err(kind),
            Some(EmbedFault::Hang) => std::future::pending().await,
            Some(EmbedFault::Wait(gate)) => gate.passed().await,
            Some(EmbedFault::NotANumber) => {
                vectors.iter_mut().for_each(|vector| vector.fill(f32::NAN));
            }
            Some(EmbedFault::WrongDimensions) => {
                vectors.iter_mut().for_each(|vector| vector.push(0.0));
            }
            Some(EmbedFault::OneTooFew) => {
                vectors.pop();
            }
        }
        Ok(vectors)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Embedder for HashedEmbedder {
    fn info(&self) -> EncoderInfo {
        self.info.clone()
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, ModelError>> {
        Box::pin(async move {
            self.answer(texts)
                .await
                .map_err(|kind| ModelError::new(ProviderId::try_new("hashed").unwrap(), kind, None))
        })
    }
}

/// Adds the word with this hash to the vector: adds 1 to one of the numbers, or subtracts 1 from it.
fn add(vector: &mut [f32], hash: u64) {
    let dimensions = u64::try_from(vector.len()).unwrap();
    let place = usize::try_from((hash >> 1) % dimensions).unwrap();
    if let Some(number) = vector.get_mut(place) {
        *number += if hash & 1 == 0 { 1.0 } else { -1.0 };
    }
}

/// FNV-1a over name and word, with another mixing step, because the low bits of FNV-1a are badly distributed.
fn hash(name: &str, word: &str) -> u64 {
    let bytes = name.bytes().chain([0]).chain(word.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

#[cfg(test)]
mod tests;
