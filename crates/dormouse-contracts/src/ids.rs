//! Identifiers as types, so that none can be mistaken for another and all are valid.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// Why a text is not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// Identifiers have at least one character.
    #[error("{what} is empty")]
    Empty {
        /// The kind of identifier.
        what: &'static str,
    },
    /// Identifiers are bounded, so that a hostile one cannot fill a log.
    #[error("{what} has {length} bytes; at most {limit} are allowed")]
    TooLong {
        /// The kind of identifier.
        what: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The largest length allowed, in bytes.
        limit: usize,
    },
    /// A character that this identifier may not contain.
    #[error("{what} contains {character:?} at byte {at}; {allowed}")]
    Character {
        /// The kind of identifier.
        what: &'static str,
        /// The character.
        character: char,
        /// Its position, in bytes from the start.
        at: usize,
        /// What is allowed, in words.
        allowed: &'static str,
    },
}

#[derive(Clone, Copy)]
struct Rule {
    what: &'static str,
    limit: usize,
    allowed: &'static str,
    fits: fn(char) -> bool,
}

fn check(text: &str, rule: Rule) -> Result<(), IdError> {
    let Rule {
        what,
        limit,
        allowed,
        fits,
    } = rule;
    if text.is_empty() {
        return Err(IdError::Empty { what });
    }
    if text.len() > limit {
        return Err(IdError::TooLong {
            what,
            length: text.len(),
            limit,
        });
    }
    match text.char_indices().find(|(_, c)| !fits(*c)) {
        Some((at, character)) => Err(IdError::Character {
            what,
            character,
            at,
            allowed,
        }),
        None => Ok(()),
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn is_word(c: char) -> bool {
    is_key(c) && c != '.'
}

fn is_opaque(c: char) -> bool {
    !c.is_control()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $limit:literal, $fits:ident, $allowed:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Creates the identifier from a text. Clones share the text.
            ///
            /// # Errors
            ///
            /// [`IdError`] if the text is empty, longer than the bound, or contains a character that is not allowed.
            pub fn try_new(text: impl Into<Arc<str>>) -> Result<Self, IdError> {
                let text = text.into();
                check(&text, Rule { what: $what, limit: $limit, allowed: $allowed, fits: $fits })?;
                Ok(Self(text))
            }

            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::try_new(text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::try_new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), &*self.0)
            }
        }
    };
}

id!(
    /// The key of an assistant; also the word an @mention must match, and the name of its stream in the log.
    AssistantId, "an assistant key", 64, is_key, "letters, digits, '_', '-' and '.' are allowed"
);
id!(
    /// A person, character or thing in a world, as that world names it (`"player:7"`, `"#123"`).
    EntityId, "an entity id", 128, is_opaque, "control characters are not allowed"
);
id!(
    /// A room or another location, as its world names it.
    PlaceId, "a place id", 128, is_opaque, "control characters are not allowed"
);
id!(
    /// A channel, as its world names it.
    ChannelId, "a channel id", 128, is_opaque, "control characters are not allowed"
);
id!(
    /// One world an assistant lives in.
    WorldId, "a world id", 64, is_key, "letters, digits, '_', '-' and '.' are allowed"
);
id!(
    /// The name of a tool, as a model calls it.
    ToolName, "a tool name", 64, is_key, "letters, digits, '_', '-' and '.' are allowed"
);
id!(
    /// The name of a source of tools. It distinguishes tools of different sources that have the same name.
    ToolSourceName, "the name of a tool source", 32, is_word, "letters, digits, '_' and '-' are allowed"
);
id!(
    /// The id that ties a tool's result to the call it answers.
    CallId, "a call id", 256, is_opaque, "control characters are not allowed"
);
id!(
    /// The idempotency key of one effect: a world carries out each key at most once.
    EffectKey, "an effect key", 160, is_opaque, "control characters are not allowed"
);
id!(
    /// The name of a model, as its provider knows it.
    ModelName, "a model name", 256, is_opaque, "control characters are not allowed"
);
id!(
    /// A provider of models (`"openai"`, `"offline"`).
    ProviderId, "a provider id", 64, is_key, "letters, digits, '_', '-' and '.' are allowed"
);
id!(
    /// One service of a model, as the operator knows it (`"openai:gpt-4.1@https://api.openai.com/v1"`). Pauses and failures are
    /// recorded per service.
    ServiceName, "a service name", 1024, is_opaque, "control characters are not allowed"
);

impl From<&ProviderId> for ServiceName {
    /// The service of a provider if only the provider's id is known.
    fn from(provider: &ProviderId) -> Self {
        Self(Arc::clone(&provider.0))
    }
}
id!(
    /// A set of vectors of one length within an index of vectors.
    CollectionName, "a collection name", 128, is_key, "letters, digits, '_', '-' and '.' are allowed"
);

impl EffectKey {
    /// The assistant whose act it is, if the key is one that the engine made: it begins with the key of the assistant.
    #[must_use]
    pub fn actor(&self) -> Option<AssistantId> {
        let (actor, _) = self.as_str().split_once('/')?;
        AssistantId::try_new(actor).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_what_is_wrong_with_it_and_where() {
        assert_eq!(
            AssistantId::try_new(""),
            Err(IdError::Empty {
                what: "an assistant key"
            })
        );
        let error = AssistantId::try_new("dor mouse").unwrap_err();
        assert_eq!(
            error.to_string(),
            "an assistant key contains ' ' at byte 3; letters, digits, '_', '-' and '.' are allowed"
        );
        assert!(matches!(
            EntityId::try_new("x".repeat(129)),
            Err(IdError::TooLong {
                length: 129,
                limit: 128,
                ..
            })
        ));
    }

    #[test]
    fn nonsense_cannot_enter_by_deserialisation() {
        assert!(serde_json::from_str::<ToolName>("\"say\"").is_ok());
        let error = serde_json::from_str::<ToolName>("\"say\\n\"").unwrap_err();
        assert!(
            error.to_string().contains("a tool name contains '\\n'"),
            "{error}"
        );
    }
}
