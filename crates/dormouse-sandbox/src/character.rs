//! The characters of the world, and the rules for names.

use dormouse_contracts::{AdmitError, AssistantId, EntityId, Rejection, WorldError};
use dormouse_text::{NameFlaw, NameSkeleton, is_name_character};
use serde::{Deserialize, Serialize};

/// The longest name, in bytes.
pub(crate) const NAME_LIMIT: usize = 64;

/// The largest number of characters in the world. A new name is compared with all others, and each spoken message is delivered
/// to everybody in the room.
pub(crate) const CHARACTER_LIMIT: usize = 50_000;

/// Pronouns. They cannot be names, because lines for people and models use them.
const PRONOUNS: [&str; 20] = [
    "you",
    "yourself",
    "i",
    "me",
    "myself",
    "someone",
    "somebody",
    "anyone",
    "anybody",
    "everyone",
    "everybody",
    "nobody",
    "no one",
    "several",
    "the surroundings",
    "system",
    "assistant",
    "user",
    "tool",
    "operator",
];

/// Words that turn a name into a sentence, such as `Dormouse whispers`.
const SENTENCE_WORDS: [&str; 13] = [
    "you", "yourself", "says", "whispers", "pages", "tells", "asks", "answers", "shouts", "thinks",
    "arrives", "leaves", "goes",
];

/// A character that joins the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Character {
    /// The permanent id.
    pub id: EntityId,
    /// The name for others: at most 64 bytes of letters, digits, single spaces, `'`, `’`, `-`, `_` and middle dots, in
    /// one script, starting with a letter or digit. It must not equal or resemble another character's name, a pronoun,
    /// or a sentence, so that people and models cannot confuse characters.
    pub name: String,
    /// Who controls the character.
    pub kind: CharacterKind,
}

/// Who controls a character. The server attests it to all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CharacterKind {
    /// A person.
    Player,
    /// An assistant with this key.
    Assistant(AssistantId),
}

/// Why a character cannot join. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The world refuses, and would refuse again.
    #[error(transparent)]
    Refused(#[from] JoinRefusal),
    /// The world could not be reached.
    #[error("the character could not join the world")]
    World(#[source] WorldError),
}

impl From<JoinError> for AdmitError {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Refused(refusal) => Self::Refused(Rejection::new(refusal.to_string())),
            JoinError::World(error) => Self::World(error),
        }
    }
}

/// Why the world refuses a character.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinRefusal {
    /// The name is empty, or has white space other than single spaces between words.
    #[error("a name must not be empty, begin or end with white space, or hold two spaces in a row")]
    NameBlank,
    /// The name is longer than 64 bytes.
    #[error("the name has {length} bytes; a name has at most {NAME_LIMIT}")]
    NameTooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The name contains a character that could end it or hide something.
    #[error(
        "a name must not contain {character:?}: letters and digits of one script, spaces, \"'\", \"-\", \"_\" and middle dots are allowed"
    )]
    NameCharacter {
        /// The offending character.
        character: char,
    },
    /// The name starts with a mark.
    #[error("a name must begin with a letter or a digit, not with {character:?}")]
    NameBeginning {
        /// The first character.
        character: char,
    },
    /// The name mixes scripts whose letters look alike.
    #[error(
        "a name must be written in one script; this one mixes several, so that it can look like another name"
    )]
    NameMixesScripts,
    /// The name resembles a pronoun or a sentence.
    #[error(
        "a name must not be or contain {word:?}, or look like it: lines of the world are written with that word"
    )]
    NameReserved {
        /// The word.
        word: &'static str,
    },
    /// Another character has that name, in any case.
    #[error("the name {name:?} is taken by {by}")]
    NameTaken {
        /// The existing name.
        name: String,
        /// The other character.
        by: EntityId,
    },
    /// The name resembles that of another character.
    #[error(
        "a name must not look like that of another: this one looks like {name:?}, which is {by}"
    )]
    NameLooksLike {
        /// The other name.
        name: String,
        /// The other character.
        by: EntityId,
    },
    /// The id belongs to a character of another kind.
    #[error("{id} is already here as a character of another kind")]
    OtherKind {
        /// The requested id.
        id: EntityId,
    },
    /// This assistant controls another character here.
    #[error("the assistant {assistant} is already here as {id}")]
    AssistantTaken {
        /// The assistant.
        assistant: AssistantId,
        /// Its character.
        id: EntityId,
    },
    /// The world contains as many characters as it can hold.
    #[error("the world is full: it holds {CHARACTER_LIMIT} characters")]
    Full,
}

/// Checks the name of a character, without regard to the other characters.
///
/// # Errors
///
/// [`JoinRefusal`]: nobody can join with this name.
pub fn check_name(name: &str) -> Result<(), JoinRefusal> {
    if name.is_empty() || name.trim() != name || name.contains("  ") {
        return Err(JoinRefusal::NameBlank);
    }
    if name.len() > NAME_LIMIT {
        return Err(JoinRefusal::NameTooLong { length: name.len() });
    }
    if let Some(character) = name.chars().find(|c| !is_name_character(*c)) {
        return Err(JoinRefusal::NameCharacter { character });
    }
    if let Some(character) = name.chars().next().filter(|c| !c.is_alphanumeric()) {
        return Err(JoinRefusal::NameBeginning { character });
    }
    if NameFlaw::of(name).is_some() {
        return Err(JoinRefusal::NameMixesScripts);
    }
    match reserved(name) {
        Some(word) => Err(JoinRefusal::NameReserved { word }),
        None => Ok(()),
    }
}

/// The reserved word that the name, or a word of it, resembles.
fn reserved(name: &str) -> Option<&'static str> {
    let skeleton = NameSkeleton::of(name);
    let whole = PRONOUNS
        .into_iter()
        .find(|word| NameSkeleton::of(word).is_confusable_with(&skeleton));
    whole.or_else(|| {
        let words: Vec<_> = name.split(' ').map(NameSkeleton::of).collect();
        SENTENCE_WORDS.into_iter().find(|word| {
            let reserved = NameSkeleton::of(word);
            words.iter().any(|word| word.is_confusable_with(&reserved))
        })
    })
}
