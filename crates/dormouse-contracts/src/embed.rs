//! The port to a text encoder.

use crate::{BoxFuture, ModelError};

/// A text as a point in the encoder's space.
pub type Embedding = Vec<f32>;

/// Turns texts into vectors, all of one length for one embedder.
pub trait Embedder: Send + Sync {
    /// Embeds `texts`, answering one vector each, in order. Dropping the future cancels the request.
    ///
    /// # Errors
    ///
    /// [`ModelError`], whose kind says whether the same request may succeed later.
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, ModelError>>;
}
