//! A book as JSON, for whoever keeps it in a file.

use dormouse_contracts::{ModelName, ProviderId};
use serde::{Deserialize, Serialize};

use super::{DialectBook, record::Record};

/// The version of the JSON.
const FORMAT: u32 = 1;

/// A text is no book. What was learnt is lost with it, and can be learnt again: an empty book will do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// It is longer than [`DialectBook::JSON_LIMIT`].
    #[error(
        "the book of dialects has {length} bytes; at most {} are read",
        DialectBook::JSON_LIMIT
    )]
    TooLong {
        /// Its length, in bytes.
        length: usize,
    },
    /// A newer program wrote it.
    #[error(
        "the book of dialects has format {found}, and this version reads {FORMAT}: use the program that wrote it, or delete it"
    )]
    Newer {
        /// Its format.
        found: u32,
    },
    /// It is no JSON, or not of the shape a book has.
    #[error("the book of dialects cannot be read")]
    Json(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct Head {
    format: u32,
}

#[derive(Serialize, Deserialize)]
struct Body {
    format: u32,
    models: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    provider: ProviderId,
    model: ModelName,
    #[serde(flatten)]
    record: Record,
}

impl DialectBook {
    /// The longest JSON that is read, in bytes. No book that is written is longer.
    pub const JSON_LIMIT: usize = 1024 * 1024;

    /// The book as JSON, for [`from_json`](Self::from_json).
    ///
    /// # Errors
    ///
    /// An error of serde_json, which only a broken implementation of a type in it can cause.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let models = self.models.iter().map(|((provider, model), record)| Entry {
            provider: provider.clone(),
            model: model.clone(),
            record: record.clone(),
        });
        serde_json::to_string_pretty(&Body {
            format: FORMAT,
            models: models.collect(),
        })
    }

    /// Reads a book. Of more than [`MODELS_LIMIT`](Self::MODELS_LIMIT) models those seen last are taken, and of a
    /// model that is in it twice, what was seen last.
    ///
    /// # Errors
    ///
    /// [`BookError`], which says whether a newer program wrote it or something is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, BookError> {
        if text.len() > Self::JSON_LIMIT {
            return Err(BookError::TooLong { length: text.len() });
        }
        let Head { format } = serde_json::from_str(text)?;
        if format > FORMAT {
            return Err(BookError::Newer { found: format });
        }
        let Body { models, .. } = serde_json::from_str(text)?;
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
