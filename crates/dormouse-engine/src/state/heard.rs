//! A message that was accepted.

use dormouse_contracts::{Audience, Delivery, Perception, Seq, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::event::{NameDoubt, Perceived, Refusal};

/// A message that was accepted: one that waits for its turn, is being answered, or was overheard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Its place in the log.
    pub seq: Seq,
    /// When it was accepted.
    pub heard_at: Timestamp,
    /// What the world delivered.
    pub perception: Perception,
    /// Its trust.
    pub trust: Trust,
    /// How many tokens it takes in a prompt, with the header line about its sender.
    pub tokens: u32,
    /// What makes the name of its sender suspicious.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<NameDoubt>,
    /// Why it is not answered. Its turn only says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// Whether it was said on a channel or in a place that the operator had marked as public.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_public: bool,
}

impl Heard {
    pub(super) fn new(seq: Seq, heard_at: Timestamp, perceived: &Perceived) -> Self {
        Self {
            seq,
            heard_at,
            perception: perceived.perception.clone(),
            trust: perceived.trust,
            tokens: perceived.tokens,
            doubts: perceived.doubts.clone(),
            refused: perceived.refused,
            is_public: perceived.is_public,
        }
    }

    /// Who is known to have perceived it, other than the assistant.
    pub(crate) fn known_to(&self) -> Audience {
        match self.is_public {
            true => Audience::Public,
            false => self.perception.attested.known_to(),
        }
    }

    /// Its place among the deliveries of its world.
    pub(crate) fn delivery(&self) -> &Delivery {
        &self.perception.attested.delivery
    }

    /// The person who sent the message: an id, or a name if the world gives no id.
    pub(crate) fn person(&self) -> &str {
        let sender = &self.perception.attested.sender;
        sender.id().map_or(sender.name(), |id| id.as_str())
    }
}
