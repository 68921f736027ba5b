//! The port to a text encoder.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::{BoxFuture, ModelError, ModelName};

/// A text as a point in the encoder's space.
pub type Embedding = Vec<f32>;

/// What an encoder is. Vectors of two encoders can be compared only if both fields are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EncoderInfo {
    /// The model, by the name its provider gives it; where a model is a folder, by its content.
    pub model: ModelName,
    /// How many numbers each vector has; `None` until the first answer where only the provider knows.
    pub dimensions: Option<NonZeroUsize>,
}

/// Turns texts into vectors, all of one length for one embedder.
pub trait Embedder: Send + Sync {
    /// What it is. Asks nobody.
    fn info(&self) -> EncoderInfo;

    /// Embeds `texts`, answering one vector each, in order; any number of texts, which the implementation splits into
    /// batches its model takes. A text longer than the model reads is cut. Every number answered is finite. Dropping the
    /// future cancels what is under way.
    ///
    /// # Errors
    ///
    /// [`ModelError`], whose kind says whether the same request may succeed later.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, ModelError>>;
}
