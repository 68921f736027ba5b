//! What calls for a turn.

use dormouse_contracts::{Audience, Seq, SourceKind, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use super::heard::Heard;

/// What calls for a turn: it waits for one, or is being dealt with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trigger {
    /// Somebody said something, and waits for an answer.
    Message(Box<Heard>),
    /// Something became due that nobody said, so nobody waits for an answer.
    Occasion(Occasion),
}

/// Something that became due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Occasion {
    /// Its place in the log.
    pub seq: Seq,
    /// When it became due.
    pub at: Timestamp,
    /// What kind of thing it is.
    pub kind: OccasionKind,
    /// What it is, as the model sees it.
    pub text: String,
    /// How far it is believed.
    pub trust: Trust,
    /// How many tokens the text takes.
    pub tokens: u32,
}

/// The kinds of things that become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OccasionKind {
    /// Enough has happened to think about it.
    Reflection,
    /// A goal is due.
    GoalDue,
    /// Somebody allowed or refused an act.
    ApprovalAnswered,
    /// A moment came at which the assistant wanted to wake.
    Wake,
    /// Another assistant delegated a task.
    DelegatedTask,
}

impl Trigger {
    /// Its place in the log.
    #[must_use]
    pub fn seq(&self) -> Seq {
        match self {
            Self::Message(heard) => heard.seq,
            Self::Occasion(occasion) => occasion.seq,
        }
    }

    /// Since when it waits.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        match self {
            Self::Message(heard) => heard.heard_at,
            Self::Occasion(occasion) => occasion.at,
        }
    }

    /// The message, if somebody waits for an answer.
    #[must_use]
    pub fn message(&self) -> Option<&Heard> {
        match self {
            Self::Message(heard) => Some(heard),
            Self::Occasion(_) => None,
        }
    }

    /// What was said, or what became due.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Message(heard) => heard.perception.words.as_claimed(),
            Self::Occasion(occasion) => &occasion.text,
        }
    }

    /// How many tokens it takes as it is shown.
    pub(crate) fn tokens(&self) -> u32 {
        match self {
            Self::Message(heard) => heard.tokens,
            Self::Occasion(occasion) => occasion.tokens,
        }
    }

    /// How far it is believed.
    pub(crate) fn trust(&self) -> Trust {
        match self {
            Self::Message(heard) => heard.trust,
            Self::Occasion(occasion) => occasion.trust,
        }
    }

    /// Who is known to be party to it, other than the assistant.
    pub(crate) fn known_to(&self) -> Audience {
        self.message().map_or(Audience::nobody(), Heard::known_to)
    }

    /// Who hears what is said about it: anybody, if nobody waits for an answer.
    pub(crate) fn answer_reaches(&self) -> Audience {
        let message = self.message();
        message.map_or(Audience::Public, |heard| {
            heard.perception.attested.answer_reaches()
        })
    }

    /// Whether it was said to the assistant alone: then no answer is for anybody else.
    pub(crate) fn is_for_one(&self) -> bool {
        self.message().is_some_and(|heard| {
            let source = &heard.perception.attested.source;
            matches!(source, SourceKind::Whisper | SourceKind::Page)
        })
    }

    /// The person who waits, if there is one.
    pub(crate) fn person(&self) -> Option<&str> {
        self.message().map(Heard::person)
    }
}
