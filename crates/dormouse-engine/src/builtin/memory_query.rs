//! The questions of calls to the memory, and the answers.

use dormouse_contracts::{Audience, EntityId, Origin, Seq, Trust};
use dormouse_entities::{
    ActionText, AttributeUpdate, ChangeReason, EntityChange, Favorability, NewObservation,
    StaleAfter,
};
use serde_json::Value;

use crate::event::Remembered;

/// The question of a call to the memory.
#[derive(Clone, Debug)]
pub(crate) enum MemoryQuery {
    /// The records that match a question, without events that wait for their turn.
    Recall {
        query: String,
        limit: usize,
        without: Vec<Origin>,
        /// Events after this one wait for their turn, too.
        through: Seq,
        /// The least trust of quotations.
        quote_trust: Trust,
        /// Who hears the answer; `None` if everything may be told to everybody.
        listeners: Option<Audience>,
    },
    /// What is known about somebody, by name or id, for those who hear the answer.
    Profile {
        who: String,
        listeners: Option<Audience>,
    },
    /// Whether a line may be kept that names these sources.
    Store {
        remembered: Box<Remembered>,
        sources: Vec<Origin>,
        result: Value,
    },
    /// Whether a fact may be noted about somebody, from these sources.
    Change {
        who: String,
        draft: Box<Draft>,
        sources: Vec<Origin>,
        belief: Option<Value>,
        /// Who hears the answer: of what they were not party to, nothing is done and nothing is said.
        listeners: Option<Audience>,
    },
}

/// A fact to note about somebody whose id is not known yet.
#[derive(Clone, Debug)]
pub(crate) enum Draft {
    Observe(NewObservation),
    Attributes(AttributeUpdate, Trust, Option<Audience>),
    Judge(Favorability, ChangeReason, Trust),
    AddAction(ActionText, u8, Trust, Option<Audience>),
    CompleteAction(u64),
}

impl Draft {
    /// The resulting changes, in order. An action belongs to a conversation; if none is running, the first change
    /// starts one.
    pub(crate) fn changes(self, entity: &EntityId) -> Vec<EntityChange> {
        let entity = entity.clone();
        match self {
            Self::Observe(observation) => vec![EntityChange::Observed {
                entity,
                observation,
            }],
            Self::Attributes(update, trust, audience) => vec![EntityChange::AttributesUpdated {
                entity,
                update,
                trust,
                audience,
            }],
            Self::Judge(step, reason, trust) => vec![EntityChange::Judged {
                entity,
                step,
                reason,
                trust: Some(trust),
            }],
            Self::AddAction(description, priority, trust, audience) => vec![
                EntityChange::ConversationStarted {
                    entity: entity.clone(),
                    topic: None,
                    stale_after: StaleAfter::default(),
                },
                EntityChange::ActionAdded {
                    entity,
                    description,
                    priority,
                    trust: Some(trust),
                    audience,
                },
            ],
            Self::CompleteAction(action) => vec![EntityChange::ActionCompleted { entity, action }],
        }
    }
}

/// The answer of the memory.
#[derive(Debug)]
pub(crate) enum MemoryAnswer {
    /// This was found, and this is the lowest trust of it.
    Found { result: Value, trust: Option<Trust> },
    /// This line may be kept.
    Stored {
        remembered: Box<Remembered>,
        result: Value,
    },
    /// These changes fit what is known now.
    Fits {
        changes: Vec<EntityChange>,
        result: Value,
    },
    /// Nothing, for this reason.
    Refused(String),
}
