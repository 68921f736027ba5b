//! The port to a text encoder.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::{future::BoxFuture, ids::ModelName, model::ModelError};

/// A text as a point in the encoder's space.
pub type Embedding = Vec<f32>;

/// The identity of an encoder. Vectors of two encoders can be compared only if both fields are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EncoderInfo {
    /// The provider's name of the model; for a model in a folder, a digest of its content.
    pub model: ModelName,
    /// How many numbers each vector has; `None` before the first answer if only the provider knows.
    pub dimensions: Option<NonZeroUsize>,
}

/// Turns texts into vectors, all of one length for one embedder.
pub trait Embedder: Send + Sync {
    /// Its identity, without a request.
    fn info(&self) -> EncoderInfo;

    /// Embeds `texts` and returns one vector each, in order. Takes any number of texts; the implementation splits them into
    /// batches. A text that is too long for the model is cut. Every number is finite. Dropping the future cancels what has
    /// not been done.
    ///
    /// # Errors
    ///
    /// [`ModelError`], whose kind says whether the same request may succeed later.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, ModelError>>;
}
