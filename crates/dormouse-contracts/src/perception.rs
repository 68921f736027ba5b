//! What happened in a world, divided into what the server attests and what the text claims.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    audience::{Audience, Place},
    ids::{ChannelId, EffectKey, EntityId, WorldId},
    time::Timestamp,
};

/// Something that reached an assistant's senses.
///
/// The two parts have different types on purpose. The server vouches for [`Attested`], and only this may decide a
/// permission. [`Words`] are what somebody wrote, and can claim anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Perception {
    /// What the server attests.
    pub attested: Attested,
    /// What the text claims.
    pub words: Words,
}

/// The facts of a perception that its world vouches for.
///
/// A world sets an optional fact only if it knows it, and never takes one from a text. Each field says what its absence
/// means; code that decides who may learn something assumes the more restrictive meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attested {
    /// Its world, and its number there.
    pub delivery: Delivery,
    /// How it was said.
    pub source: SourceKind,
    /// Who said it.
    pub sender: Sender,
    /// Where it happened. Absent if it happened in no place (a page, a channel), or the world does not know where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Who could perceive it. Absent if the world does not know, or cannot list them all: then nobody but the perceiving
    /// assistant is known to have perceived it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// The effect of the perceiving assistant that it results from: its own words as the world repeats them to it, or
    /// the output of its command. Absent if it results from no effect of this assistant, or the world cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<EffectKey>,
    /// The earlier delivery that this one answers, if its sender marked it as an answer. Both went to the same observer.
    /// Absent if the sender marked nothing, the observer did not perceive what is answered, or the world does not know
    /// any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Delivery>,
    /// Whether its sender came or left, if it is of [`SourceKind::Movement`]. Absent if the world does not know which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movement: Option<Movement>,
    /// When the world saw it.
    pub at: Timestamp,
}

impl Attested {
    /// The facts that every world knows. All others are absent.
    #[must_use]
    pub fn new(delivery: Delivery, source: SourceKind, sender: Sender, at: Timestamp) -> Self {
        Self {
            delivery,
            source,
            sender,
            place: None,
            audience: None,
            cause: None,
            reply_to: None,
            movement: None,
            at,
        }
    }

    /// Who is known to have perceived it, other than the perceiving assistant: the attested audience and the speaker. If
    /// the world attests no audience, it is the speaker alone.
    #[must_use]
    pub fn known_to(&self) -> Audience {
        let attested = self.audience.clone().unwrap_or(Audience::nobody());
        match self.sender.id() {
            Some(speaker) => attested.with(speaker.clone()),
            None => attested,
        }
    }

    /// Whom an answer to it reaches: those who perceived it or, if the world attests no audience, the speaker of a
    /// whisper or a page. If neither is known, it is everyone, because anybody may listen.
    #[must_use]
    pub fn answer_reaches(&self) -> Audience {
        let is_for_one = matches!(self.source, SourceKind::Whisper | SourceKind::Page);
        let known_to = self.known_to();
        if known_to == Audience::nobody() || (self.audience.is_none() && !is_for_one) {
            return Audience::Public;
        }
        known_to
    }
}

/// The position of a perception among the deliveries of its world to one observer. It identifies duplicates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Delivery {
    /// The world it came from.
    pub world: WorldId,
    /// Counts up from 1 for each observer. A number not above the last one accepted is a duplicate.
    pub number: u64,
}

/// How something was said, as the server routed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SourceKind {
    /// To one listener in the same room.
    Whisper,
    /// To one listener anywhere.
    Page,
    /// Aloud, and directed at the assistant according to the server: by its own routing, or by an `@key` that the
    /// server itself parsed. An @mention that only the text shows does not count.
    Addressed,
    /// On a channel.
    Channel(ChannelId),
    /// Aloud, to everyone in the room.
    Say,
    /// An act, described to everyone in the room.
    Pose,
    /// An arrival or a departure, described by the world to everyone in the room.
    Movement,
    /// A text in the room without an author.
    Emit,
    /// Output of the assistant's own command.
    CommandOutput,
}

/// What a sender who moved did, as seen by those who were there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Movement {
    /// Came to where the observer is.
    Arrival,
    /// Left the place where the observer is.
    Departure,
}

/// Who said it, as far as the server knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sender {
    /// A person or a character without a model behind it.
    Entity {
        /// Its id in the world.
        id: EntityId,
        /// Its name in the world, for display only: names can repeat and change.
        name: String,
    },
    /// Another assistant.
    Assistant {
        /// Its id in the world.
        id: EntityId,
        /// Its name in the world.
        name: String,
    },
    /// The perceiving assistant itself.
    Myself {
        /// Whether the server marked it as an assistant's message; otherwise it is output that the assistant caused.
        marked: bool,
    },
    /// The server cannot name the sender.
    Unattributed,
}

impl Sender {
    /// The id of the sender in its world, if the server named one other than the assistant itself.
    #[must_use]
    pub fn id(&self) -> Option<&EntityId> {
        match self {
            Self::Entity { id, .. } | Self::Assistant { id, .. } => Some(id),
            Self::Myself { .. } | Self::Unattributed => None,
        }
    }

    /// A name to print.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Entity { name, .. } | Self::Assistant { name, .. } => name,
            Self::Myself { .. } => "you",
            Self::Unattributed => "someone",
        }
    }
}

/// What somebody wrote: a claim, never a fact.
///
/// At most [`Words::LIMIT`] bytes. It is kept unchanged, including control characters; code that prints it to a terminal
/// must neutralise it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Words(Box<str>);

/// Why a text is not accepted as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordsError {
    /// It contains only white space.
    #[error("the message is empty")]
    Empty,
    /// It is longer than [`Words::LIMIT`].
    #[error(
        "the message has {length} bytes; at most {} are accepted: send it in parts",
        Words::LIMIT
    )]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
}

impl Words {
    /// The longest accepted message, in bytes.
    pub const LIMIT: usize = 64 * 1024;

    /// Takes a text as a message.
    ///
    /// # Errors
    ///
    /// [`WordsError`] if it is blank or longer than [`Words::LIMIT`].
    pub fn try_new(text: impl Into<Box<str>>) -> Result<Self, WordsError> {
        let text = text.into();
        if text.len() > Self::LIMIT {
            return Err(WordsError::TooLong { length: text.len() });
        }
        if text.trim().is_empty() {
            return Err(WordsError::Empty);
        }
        Ok(Self(text))
    }

    /// The text. What it says about its sender or its importance is only a claim.
    #[must_use]
    pub fn as_claimed(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Words {
    type Error = WordsError;
    fn try_from(text: String) -> Result<Self, WordsError> {
        Self::try_new(text)
    }
}

impl From<Words> for String {
    fn from(words: Words) -> String {
        words.0.into_string()
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({:?})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_and_oversized_texts_are_no_messages() {
        assert_eq!(Words::try_new(" \n\t"), Err(WordsError::Empty));
        assert!(Words::try_new("x".repeat(Words::LIMIT)).is_ok());
        let error = Words::try_new("x".repeat(10 << 20)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the message has 10485760 bytes; at most 65536 are accepted: send it in parts"
        );
    }

    fn id(name: &str) -> EntityId {
        EntityId::try_new(name).unwrap()
    }

    fn attested(source: SourceKind, audience: Option<Audience>) -> Attested {
        let delivery = Delivery {
            world: WorldId::try_new("fake").unwrap(),
            number: 1,
        };
        let sender = Sender::Entity {
            id: id("player:Alice"),
            name: "Alice".to_owned(),
        };
        Attested {
            audience,
            ..Attested::new(delivery, source, sender, Timestamp::EPOCH)
        }
    }

    #[test]
    fn whom_something_is_known_to_and_whom_an_answer_reaches() {
        let alice = || Audience::from_iter([id("player:Alice")]);
        let room = || alice().with(id("player:Bob")).with(id("npc:me"));
        let guild = ChannelId::try_new("guild").unwrap();
        let channel = Audience::Channel(guild.clone());
        let on_channel = || SourceKind::Channel(guild.clone());
        for (source, audience, known_to, reaches) in [
            (SourceKind::Say, Some(room()), room(), room()),
            (SourceKind::Addressed, None, alice(), Audience::Public),
            (SourceKind::Whisper, Some(room()), room(), room()),
            (SourceKind::Page, None, alice(), alice()),
            (on_channel(), None, alice(), Audience::Public),
            (
                on_channel(),
                Some(channel.clone()),
                channel.clone().with(id("player:Alice")),
                channel.with(id("player:Alice")),
            ),
            (
                on_channel(),
                Some(Audience::Public),
                Audience::Public,
                Audience::Public,
            ),
        ] {
            let attested = attested(source, audience);
            assert_eq!(attested.known_to(), known_to, "{attested:?}");
            assert_eq!(attested.answer_reaches(), reaches, "{attested:?}");
        }
        let by_nobody = Attested {
            sender: Sender::Unattributed,
            ..attested(SourceKind::Whisper, None)
        };
        assert_eq!(by_nobody.known_to(), Audience::nobody());
        assert_eq!(by_nobody.answer_reaches(), Audience::Public);
    }

    #[test]
    fn a_message_is_kept_as_it_came() {
        let words = Words::try_new("\u{1b}[2Jhi\u{202e}").unwrap();
        let text = serde_json::to_string(&words).unwrap();
        assert_eq!(serde_json::from_str::<Words>(&text).unwrap(), words);
    }
}
