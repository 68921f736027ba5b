//! A book as JSON, to be kept in a file.

use dormouse_contracts::{ModelName, ProviderId};
use serde::{Deserialize, Serialize};

use super::{DialectBook, record::ModelRecord};

/// The version of the JSON format.
const FORMAT: u32 = 1;

/// Why a text is not a valid book. Start with an empty book: the content is lost, but can be learnt again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// The text is longer than [`DialectBook::JSON_LIMIT`].
    #[error(
        "the book of dialects has {length} bytes; at most {} are read",
        DialectBook::JSON_LIMIT
    )]
    TooLong {
        /// The length in bytes.
        length: usize,
    },
    /// A newer version wrote the book.
    #[error(
        "the book of dialects has format {found}, and this version reads {FORMAT}: use the program that wrote it, or move it away to learn it again"
    )]
    Newer {
        /// The book's format.
        found: u32,
    },
    /// The text is not JSON, or not a book.
    #[error("the book of dialects cannot be read")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct BookHead {
    format: u32,
}

#[derive(Serialize, Deserialize)]
struct BookBody {
    format: u32,
    models: Vec<BookEntry>,
}

#[derive(Serialize, Deserialize)]
struct BookEntry {
    provider: ProviderId,
    model: ModelName,
    #[serde(flatten)]
    record: ModelRecord,
}

impl DialectBook {
    /// The longest accepted JSON, in bytes. No book that this version writes is longer.
    pub const JSON_LIMIT: usize = 1024 * 1024;

    /// Encodes the book as JSON, for [`from_json`](Self::from_json).
    ///
    /// # Errors
    ///
    /// An error of serde_json; only a faulty `Serialize` implementation can cause one.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let models = self
            .models
            .iter()
            .map(|((provider, model), record)| BookEntry {
                provider: provider.clone(),
                model: model.clone(),
                record: record.clone(),
            });
        serde_json::to_string_pretty(&BookBody {
            format: FORMAT,
            models: models.collect(),
        })
    }

    /// Decodes a book. If it has more than [`MODELS_LIMIT`](Self::MODELS_LIMIT) models, the most recently seen ones are
    /// kept. If it repeats a model, the most recent record is kept.
    ///
    /// # Errors
    ///
    /// [`BookError`]; it distinguishes a newer format from damage.
    pub fn from_json(text: &str) -> Result<Self, BookError> {
        if text.len() > Self::JSON_LIMIT {
            return Err(BookError::TooLong { length: text.len() });
        }
        let BookHead { format } = serde_json::from_str(text)?;
        if format > FORMAT {
            return Err(BookError::Newer { found: format });
        }
        let BookBody { models, .. } = serde_json::from_str(text)?;
        let mut book = Self::default();
        for entry in models {
            let key = (entry.provider, entry.model);
            let own = book
                .models
                .entry(key)
                .or_insert_with(|| entry.record.clone());
            if *own < entry.record {
                *own = entry.record;
            }
        }
        book.forget_oldest();
        Ok(book)
    }
}
