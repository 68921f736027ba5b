//! Parses a model's answer.

use serde_json::{Deserializer, Map, Value};

use crate::{
    attributes::{AttributeUpdate, CommunicationStyle, Keyword, Phrase, Preference},
    line::TextLine,
};

/// The longest accepted answer, in bytes.
const LONGEST: usize = 64 * 1024;
/// How many opening braces are tried as the start of an object.
const MOST_STARTS: usize = 32;
/// The most interests or preferences taken from one answer.
const MOST: usize = 16;

/// The content of an answer, and its errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadConsolidation {
    /// The attributes in the answer; may be empty.
    pub update: AttributeUpdate,
    /// The names of ignored fields: unknown, of the wrong type, or too many. At most 16.
    pub passed_over: Vec<TextLine<64>>,
}

/// Why an answer is unusable. The observations stay as they are, and the model may be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConsolidationError {
    /// The answer is too long.
    #[error("the answer has {length} bytes; at most {LONGEST} are read")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The answer contains no complete JSON object.
    #[error("there is no whole JSON object in the answer")]
    NoObject,
    /// The object contains none of the requested fields.
    #[error("the object in the answer has none of the fields that were asked for")]
    NoKnownField,
}

/// Parses the attributes in a model's answer: the first JSON object in it, with any text around it. Values are
/// shortened to their limits. Unknown fields and values of the wrong type are ignored and reported. `null`, `[]` and
/// `{}` mean "unknown" and remove nothing.
///
/// # Errors
///
/// [`ConsolidationError`] if the answer contains nothing usable.
pub fn read_consolidation(reply: &str) -> Result<ReadConsolidation, ConsolidationError> {
    if reply.len() > LONGEST {
        return Err(ConsolidationError::TooLong {
            length: reply.len(),
        });
    }
    let object = first_object(reply).ok_or(ConsolidationError::NoObject)?;
    let mut read = ReadConsolidation::default();
    let mut known = object.is_empty();
    for (field, value) in &object {
        let fits = match field.as_str() {
            "communication_style" => {
                known = true;
                read.style(value)
            }
            "temperament" => {
                known = true;
                read.temperament(value)
            }
            "interests" => {
                known = true;
                read.interests(value)
            }
            "preferences" => {
                known = true;
                read.preferences(value)
            }
            _ => false,
        };
        if !fits {
            read.pass_over(field);
        }
    }
    if known {
        Ok(read)
    } else {
        Err(ConsolidationError::NoKnownField)
    }
}

fn first_object(text: &str) -> Option<Map<String, Value>> {
    text.match_indices('{')
        .take(MOST_STARTS)
        .find_map(|(at, _)| {
            let rest = text.get(at..)?;
            let value = Deserializer::from_str(rest).into_iter::<Value>().next()?;
            match value {
                Ok(Value::Object(object)) => Some(object),
                _ => None,
            }
        })
}

impl ReadConsolidation {
    fn style(&mut self, value: &Value) -> bool {
        let Some(text) = word::<40>(value) else {
            return is_nothing(value);
        };
        self.update.communication_style = CommunicationStyle::try_from(String::from(text)).ok();
        true
    }

    fn temperament(&mut self, value: &Value) -> bool {
        self.update.temperament = word::<40>(value) as Option<Phrase>;
        self.update.temperament.is_some() || is_nothing(value)
    }

    fn interests(&mut self, value: &Value) -> bool {
        let Value::Array(values) = value else {
            return is_nothing(value);
        };
        let words = values.iter().filter_map(word);
        let mut words: Vec<Keyword> = words.take(MOST).collect();
        let fits = words.len() == values.len();
        words.dedup();
        self.update.interests = words;
        fits
    }

    fn preferences(&mut self, value: &Value) -> bool {
        let Value::Object(values) = value else {
            return is_nothing(value);
        };
        let pairs = values.iter().filter_map(|(subject, value)| {
            let value: Preference = match value {
                Value::Bool(_) | Value::Number(_) => Preference::shortened(&value.to_string())?,
                _ => word(value)?,
            };
            Some((Keyword::shortened(subject)?, value))
        });
        self.update.preferences = pairs.take(MOST).collect();
        self.update.preferences.len() == values.len()
    }

    fn pass_over(&mut self, field: &str) {
        if self.passed_over.len() < MOST {
            self.passed_over.extend(TextLine::shortened(field));
        }
    }
}

/// A text within the limit that is not blank.
fn word<const CHARS: usize>(value: &Value) -> Option<TextLine<CHARS>> {
    TextLine::shortened(value.as_str()?)
}

/// Whether the value means "unknown".
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}
