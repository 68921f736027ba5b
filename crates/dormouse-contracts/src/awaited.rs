//! What an assistant can wait for: facts that a world attests.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    ids::{EntityId, PlaceId},
    time::Timestamp,
};

/// Something that an assistant waits for. A perception meets it if its attested facts match the kind and every other
/// field that is set. Names are never compared: a name is resolved to an id when somebody begins to wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// What kind of thing.
    pub kind: AwaitedKind,
    /// Who does it. If absent, anybody except the entity on whose behalf the assistant waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<EntityId>,
    /// Where; anywhere if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceId>,
    /// What the text has to claim. The claim is trusted as much as the source of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<WordBeginnings>,
}

impl Awaited {
    /// The most alternatives that one commitment waits for.
    pub const MOST: usize = 4;

    /// Something that this entity does, anywhere.
    #[must_use]
    pub fn new(kind: AwaitedKind, who: Option<EntityId>) -> Self {
        Self {
            kind,
            who,
            place: None,
            words: None,
        }
    }

    /// The whole condition as text for people and models: "at 2026-11-23T18:00:00Z or when player:bob arrives". Empty
    /// if nothing is waited for.
    #[must_use]
    pub fn condition(due_at: Option<Timestamp>, when: &[Self], until: Option<Timestamp>) -> String {
        let moment = due_at.map(|at| format!("at {at}"));
        let facts = when.iter().map(|awaited| format!("when {awaited}"));
        let any: Vec<_> = moment.into_iter().chain(facts).collect();
        match until {
            Some(until) => format!("{}, until {until}", any.join(" or ")),
            None => any.join(" or "),
        }
    }

    /// Whether it names enough to wait for. Otherwise every perception could meet it.
    #[must_use]
    pub fn is_definite(&self) -> bool {
        match self.kind {
            AwaitedKind::Arrives | AwaitedKind::Leaves | AwaitedKind::Speaks => true,
            AwaitedKind::Present => self.who.is_some(),
            AwaitedKind::Happens => self.words.is_some(),
        }
    }
}

/// "player:bob arrives", "somebody speaks in cellar", "something is noticed (\"door open\")".
impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.who, self.kind) {
            (Some(who), _) => write!(f, "{who}")?,
            (None, AwaitedKind::Happens) => f.write_str("something")?,
            (None, _) => f.write_str("somebody")?,
        }
        f.write_str(match self.kind {
            AwaitedKind::Arrives => " arrives",
            AwaitedKind::Leaves => " leaves",
            AwaitedKind::Present => " is there",
            AwaitedKind::Speaks => " speaks",
            AwaitedKind::Happens => " is noticed",
        })?;
        if let Some(place) = &self.place {
            write!(f, " in {place}")?;
        }
        match &self.words {
            Some(words) => write!(f, " (\"{words}\")"),
            None => Ok(()),
        }
    }
}

/// The kinds of attested facts that can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AwaitedKind {
    /// Somebody comes to where the assistant is. The world has to attest that it was an arrival.
    Arrives,
    /// Somebody leaves the place where the assistant is.
    Leaves,
    /// Somebody is where the assistant is: they do or say something there, or are among those who perceive it.
    Present,
    /// Somebody says something: aloud, on a channel, in a whisper or a page.
    Speaks,
    /// A text says that something happens.
    Happens,
}

/// Words that one sentence of a text must contain, each at least as the beginning of a word: "door open" is in "The
/// doors opened." A sentence with a denial does not count. At most [`WordBeginnings::LIMIT`] characters and
/// [`WordBeginnings::MOST`] words, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WordBeginnings(String);

/// A text that cannot be waited for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} cannot be waited for; expected 1 to {} words with at most {} characters in all",
    WordBeginnings::MOST,
    WordBeginnings::LIMIT
)]
pub struct WordBeginningsError {
    text: String,
}

/// Words that make a sentence a denial.
const DENIALS: [&str; 9] = [
    "not", "no", "never", "nobody", "nothing", "cannot", "without", "neither", "nor",
];

impl WordBeginnings {
    /// The most characters.
    pub const LIMIT: usize = 80;
    /// The most words.
    pub const MOST: usize = 6;

    /// The words of a text.
    ///
    /// # Errors
    ///
    /// [`WordBeginningsError`] if the text has no word, or too many.
    pub fn try_new(text: &str) -> Result<Self, WordBeginningsError> {
        let words: Vec<_> = words(text).collect();
        let all = words.join(" ");
        let fits = (1..=Self::MOST).contains(&words.len()) && all.chars().count() <= Self::LIMIT;
        match fits {
            true => Ok(Self(all)),
            false => Err(WordBeginningsError {
                text: text.chars().take(Self::LIMIT).collect(),
            }),
        }
    }

    /// Whether a sentence of this text contains all of them and denies nothing.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        text.split(['.', '!', '?', ';', '\n']).any(|sentence| {
            let said: Vec<_> = words(sentence).collect();
            let denies = |word: &String| DENIALS.contains(&&**word) || word.ends_with("n't");
            let holds = |beginning: &str| said.iter().any(|word| word.starts_with(beginning));
            !said.iter().any(denies) && self.0.split(' ').all(holds)
        })
    }
}

/// The words of a text in lower case. An apostrophe belongs to its word.
fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    let parts = parts.map(|part| part.trim_matches(['\'', '’']));
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(|part| part.to_lowercase().replace('’', "'"))
}

impl fmt::Display for WordBeginnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for WordBeginnings {
    type Error = WordBeginningsError;
    fn try_from(text: String) -> Result<Self, WordBeginningsError> {
        Self::try_new(&text)
    }
}

impl From<WordBeginnings> for String {
    fn from(words: WordBeginnings) -> Self {
        words.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_their_forms_and_not_in_what_denies_them() {
        let door = WordBeginnings::try_new("Door, open").unwrap();
        for text in [
            "The door is open.",
            "A cold draught. The DOORS opened!",
            "opening: the door",
        ] {
            assert!(door.are_in(text), "{text}");
        }
        for text in [
            "",
            "The door is not open.",
            "The door isn't open",
            "The door doesn’t open.",
            "Nobody opens the door.",
            "The door is shut. The window is open.",
            "reopened indoors",
        ] {
            assert!(!door.are_in(text), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_waited_for_is_refused() {
        let long = "x".repeat(81);
        for text in ["", " .,!", "a b c d e f g", &long] {
            let error = WordBeginnings::try_new(text).unwrap_err().to_string();
            assert!(error.contains("expected 1 to 6 words"), "{error}");
        }
        let any = |kind| Awaited::new(kind, None).is_definite();
        assert!(any(AwaitedKind::Arrives) && !any(AwaitedKind::Present));
        assert!(!any(AwaitedKind::Happens));
    }

    #[test]
    fn it_is_read_back_as_it_was_written() {
        let awaited = Awaited {
            place: Some(PlaceId::try_new("cellar").unwrap()),
            words: Some(WordBeginnings::try_new("tea ready").unwrap()),
            ..Awaited::new(
                AwaitedKind::Happens,
                Some(EntityId::try_new("player:bob").unwrap()),
            )
        };
        let text = serde_json::to_string(&awaited).unwrap();
        assert_eq!(serde_json::from_str::<Awaited>(&text).unwrap(), awaited);
        assert_eq!(
            awaited.to_string(),
            "player:bob is noticed in cellar (\"tea ready\")"
        );
        let short: Awaited = serde_json::from_str(r#"{"kind":"arrives"}"#).unwrap();
        assert_eq!(short.to_string(), "somebody arrives");
    }
}
