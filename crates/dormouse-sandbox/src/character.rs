//! Who is in the world, and what makes a name.

use dormouse_contracts::{AssistantId, EntityId, WorldError};
use serde::{Deserialize, Serialize};

/// The longest name, in bytes.
pub(crate) const NAME_LIMIT: usize = 64;

/// The most characters the world takes in.
pub(crate) const CHARACTER_LIMIT: usize = 1_000;

/// Somebody who comes to stay in the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Character {
    /// Who it is, for good.
    pub id: EntityId,
    /// What the others call it: at most 64 bytes, no control characters, no white space around it.
    pub name: String,
    /// Who acts for it.
    pub kind: CharacterKind,
}

/// Who acts for a character. The server attests it to all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CharacterKind {
    /// A person.
    Player,
    /// An assistant with this key.
    Assistant(AssistantId),
}

/// Why somebody cannot come in. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The world refuses, and will again.
    #[error(transparent)]
    Refused(#[from] JoinRefusal),
    /// The world could not be asked.
    #[error("nobody could be let in")]
    World(#[source] WorldError),
}

/// Why the world refuses a character.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinRefusal {
    /// A name has at least one character, and none of it is white space at its ends.
    #[error("a name must not be empty nor begin or end with white space")]
    NameBlank,
    /// The name is longer than 64 bytes.
    #[error("the name has {length} bytes; at most {NAME_LIMIT} are allowed")]
    NameTooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The name holds a control character.
    #[error("the name contains {character:?}; control characters are not allowed")]
    NameCharacter {
        /// The offending character.
        character: char,
    },
    /// Somebody else has that name, in whatever case.
    #[error("the name {name:?} is taken by {by}")]
    NameTaken {
        /// The name as it is known.
        name: String,
        /// Who has it.
        by: EntityId,
    },
    /// This id is known as a character of another kind.
    #[error("{id} is already here as somebody of another kind")]
    OtherKind {
        /// The id that was asked for.
        id: EntityId,
    },
    /// This assistant already lives here as another character.
    #[error("the assistant {assistant} is already here as {id}")]
    AssistantTaken {
        /// The assistant.
        assistant: AssistantId,
        /// The character it is.
        id: EntityId,
    },
    /// The world holds at most 1,000 characters.
    #[error("the world is full: it holds {CHARACTER_LIMIT} characters")]
    Full,
}

/// Checks the form of a name.
pub(crate) fn check_name(name: &str) -> Result<(), JoinRefusal> {
    if name.is_empty() || name.trim() != name {
        return Err(JoinRefusal::NameBlank);
    }
    if name.len() > NAME_LIMIT {
        return Err(JoinRefusal::NameTooLong { length: name.len() });
    }
    match name.chars().find(|c| c.is_control()) {
        Some(character) => Err(JoinRefusal::NameCharacter { character }),
        None => Ok(()),
    }
}
