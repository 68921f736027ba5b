//! What reaches the assistant from its worlds.

use dormouse_classify::{Classification, MessageVerdict, SenderHistory};
use dormouse_contracts::{Audience, EntityId, Perception, Trust};
use serde::{Deserialize, Serialize};

use super::name_doubt::NameDoubt;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// A message was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Perceived {
    /// What the world delivered.
    pub perception: Perception,
    /// How it is classified, and by which rule.
    pub classification: Classification,
    /// How far it is believed.
    pub trust: Trust,
    /// How many tokens it takes as a prompt shows it.
    pub tokens: u32,
    /// What makes the name of its sender suspicious.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<NameDoubt>,
    /// What moved the trust away from that of the source, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<MovedTrust>,
    /// Why it is not answered, although the rules call for an answer. It is overheard; or if it is a trigger, its turn only
    /// says so to the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// Whether the operator had marked its channel or its place as public when it was heard.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_public: bool,
}

/// Why a message is not answered, although the rules of classification call for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// Too many messages of its sender wait for an answer.
    Waiting,
    /// Its sender had many answers lately.
    CoolDown,
    /// Its sender says more than anybody can follow.
    Flood,
    /// Enough messages of other assistants were answered since a person last said something.
    Exchanges,
}

/// Lines of a sender were neither kept nor answered, because there were too many. Each event counts the lines since the one
/// before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesDropped {
    /// Whose lines; `None` if the world cannot name the sender.
    pub entity: Option<EntityId>,
    /// How many.
    pub lines: u64,
}

/// The trust of a message that its sender's history moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedTrust {
    /// The trust of the source.
    pub source: Trust,
    /// The history of the sender before the message.
    pub by: SenderHistory,
}

impl Perceived {
    /// Who is known to have perceived it, other than the assistant.
    #[must_use]
    pub fn known_to(&self) -> Audience {
        match self.is_public {
            true => Audience::Public,
            false => self.perception.attested.known_to(),
        }
    }

    /// Whether it gets a turn of its own.
    #[must_use]
    pub fn calls_for_turn(&self) -> bool {
        self.classification.verdict == MessageVerdict::Trigger
    }

    /// The trust of the source alone. The history of a sender is computed from this value. Otherwise it would influence
    /// itself.
    pub(crate) fn source_trust(&self) -> Trust {
        self.moved.map_or(self.trust, |moved| moved.source)
    }
}
