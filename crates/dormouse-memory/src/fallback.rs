//! Why recall uses words alone although there is an encoder.

use std::fmt;

use serde::Serialize;

/// Why recall used words alone although there is an encoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fallback {
    /// The encoder could not be reached or returned no usable vector.
    Encoder,
    /// The encoder failed too often, or the server has none, and is not called at the moment.
    EncoderPaused,
    /// The vector index could not be reached or refused the request.
    VectorIndex,
    /// The vector index failed too often and is not called at the moment.
    IndexPaused,
    /// The vector index refuses the key, or does not allow it to write.
    IndexKey,
    /// The vector index has lost points and is filled again.
    IndexLost,
    /// No vectors of the current encoder are ready yet.
    NotEmbedded,
    /// Another encoder made the vectors: migrate, or configure the former encoder again.
    EncoderChanged,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encoder => "the encoder could not be reached or returned no usable vector",
            Self::EncoderPaused => {
                "the encoder failed too often or does not exist, and is not called at the moment"
            }
            Self::VectorIndex => "the vector index could not be reached or refused the request",
            Self::IndexPaused => {
                "the vector index failed too often and is not called at the moment"
            }
            Self::IndexKey => "the vector index refuses the key",
            Self::IndexLost => "the vector index has lost points and is filled again",
            Self::NotEmbedded => "no vectors are ready yet",
            Self::EncoderChanged => "another encoder made the vectors",
        })
    }
}
