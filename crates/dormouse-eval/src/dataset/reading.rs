//! Reads a file of conversations.

use std::{fs, path::Path};

use serde_json::Value;

use super::{
    conversation::{Dataset, Format, Grain},
    error::{DatasetError, Wrong},
    locomo, longmemeval,
    moment::Calendar,
};

/// Reads a whole file. Detects the format unless one is given.
pub(crate) fn read(path: &Path, format: Option<Format>) -> Result<Dataset, DatasetError> {
    let bytes = fs::read(path).map_err(|source| DatasetError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(&bytes, path, format)
}

pub(super) fn parse(
    bytes: &[u8],
    path: &Path,
    format: Option<Format>,
) -> Result<Dataset, DatasetError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let empty = || DatasetError::Empty {
        path: path.to_owned(),
    };
    if bytes.trim_ascii().is_empty() {
        return Err(empty());
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|source| DatasetError::Syntax {
        path: path.to_owned(),
        source,
    })?;
    let parts = match value {
        Value::Array(parts) => parts,
        one => vec![one],
    };
    let first = parts.first().ok_or_else(empty)?;
    let format = format
        .or_else(|| recognised(first))
        .ok_or_else(|| DatasetError::Unknown {
            path: path.to_owned(),
        })?;
    let dataset = conversations(parts, format).map_err(|wrong| DatasetError::Part {
        path: path.to_owned(),
        format,
        place: Box::new(wrong.place),
        source: wrong.source,
    })?;
    let questions = dataset.conversations.iter().flat_map(|c| &c.questions);
    if questions
        .into_iter()
        .all(|question| question.gold.is_empty())
    {
        return Err(DatasetError::NoEvidence {
            path: path.to_owned(),
            format,
        });
    }
    Ok(dataset)
}

fn recognised(first: &Value) -> Option<Format> {
    if first.get("conversation").is_some() {
        Some(Format::Locomo)
    } else if first.get("haystack_sessions").is_some() {
        Some(Format::LongMemEval)
    } else {
        None
    }
}

fn conversations(parts: Vec<Value>, format: Format) -> Result<Dataset, Wrong> {
    let mut conversations = Vec::with_capacity(parts.len());
    let mut undated_sessions = 0;
    for (place, part) in parts.into_iter().enumerate() {
        let mut calendar = Calendar::default();
        conversations.push(match format {
            Format::Locomo => locomo::conversation(part, place + 1, &mut calendar)?,
            Format::LongMemEval => longmemeval::conversation(part, place + 1, &mut calendar)?,
        });
        undated_sessions += calendar.undated;
    }
    Ok(Dataset {
        format,
        grain: match format {
            Format::Locomo => Grain::Turn,
            Format::LongMemEval => Grain::Session,
        },
        conversations,
        undated_sessions,
    })
}

#[cfg(test)]
mod tests;
