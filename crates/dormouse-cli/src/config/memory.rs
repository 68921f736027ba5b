//! `[memory]`: by what it recalls.

use std::time::Duration;

use dormouse_providers::EmbedderWish;
use serde::{Deserialize, Deserializer, de::Error};

use crate::encoder;

/// `[memory]`. Keys are not among its fields: they stay in the environment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MemorySection {
    pub(crate) embedder: Option<Embedder>,
    pub(crate) vectors: VectorsWish,
    pub(crate) tokens: Option<RecallTokens>,
    pub(crate) timeout: Option<RecallTimeout>,
}

/// The encoder that is wanted, written as `--embedder` is.
#[derive(Clone, Debug)]
pub(crate) struct Embedder(pub(crate) EmbedderWish);

impl From<EmbedderWish> for Embedder {
    fn from(wish: EmbedderWish) -> Self {
        Self(wish)
    }
}

impl<'de> Deserialize<'de> for Embedder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        encoder::wish(&text).map(Self).map_err(Error::custom)
    }
}

/// Where vectors are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum VectorsWish {
    /// In this process, every one of them.
    #[default]
    Exact,
    /// On the Qdrant server at this address.
    Qdrant(String),
}

impl<'de> Deserialize<'de> for VectorsWish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "exact" => Ok(Self::Exact),
            address if address.starts_with("http://") || address.starts_with("https://") => {
                Ok(Self::Qdrant(text))
            }
            _ => Err(Error::custom(format_args!(
                "vectors is {text:?}; it is \"exact\", or the gRPC address of a Qdrant server such as \
                 \"http://127.0.0.1:6334\""
            ))),
        }
    }
}

/// How many tokens of a prompt recollections may take, 0 to 100,000.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecallTokens(pub(crate) u32);

impl<'de> Deserialize<'de> for RecallTokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer)?;
        if number <= 100_000 {
            Ok(Self(number))
        } else {
            Err(Error::custom(format_args!(
                "tokens is {number}; it must be between 0 and 100000"
            )))
        }
    }
}

/// How long a turn waits for its recollections, 1 to 60 seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecallTimeout(pub(crate) Duration);

impl<'de> Deserialize<'de> for RecallTimeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if (1..=60).contains(&number) {
            Ok(Self(Duration::from_secs(number)))
        } else {
            Err(Error::custom(format_args!(
                "timeout is {number}; it must be between 1 and 60 seconds"
            )))
        }
    }
}
