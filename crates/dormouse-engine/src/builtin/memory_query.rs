//! What a call asks the memory, and what comes of it.

use dormouse_contracts::{EntityId, Seq, Trust};
use dormouse_entities::{
    ActionText, AttributeUpdate, ChangeReason, EntityChange, Favorability, NewObservation,
    StaleAfter,
};
use serde_json::Value;

use crate::event::Source;

/// What a call asks the memory.
#[derive(Clone, Debug)]
pub(crate) enum MemoryQuery {
    /// What fits a question, without what is pending.
    Recall {
        query: String,
        limit: usize,
        without: Vec<String>,
        /// What came into the log behind this place waits, too.
        through: Seq,
    },
    /// What is known of somebody, by name or id.
    Profile { who: String },
    /// Whether something may be noted of somebody.
    Change { who: String, draft: Draft },
}

/// Something to be noted of somebody, before it is known who that is.
#[derive(Clone, Debug)]
pub(crate) enum Draft {
    Observe(NewObservation),
    Attributes(AttributeUpdate, Trust),
    Judge(Favorability, ChangeReason),
    AddAction(ActionText, u8),
    CompleteAction(u64),
}

impl Draft {
    /// The changes it comes to, in order. An action belongs to a conversation, which begins with it if none goes on.
    pub(crate) fn changes(self, entity: &EntityId) -> Vec<EntityChange> {
        let entity = entity.clone();
        match self {
            Self::Observe(observation) => vec![EntityChange::Observed {
                entity,
                observation,
            }],
            Self::Attributes(update, trust) => vec![EntityChange::AttributesUpdated {
                entity,
                update,
                trust,
            }],
            Self::Judge(step, reason) => vec![EntityChange::Judged {
                entity,
                step,
                reason,
            }],
            Self::AddAction(description, priority) => vec![
                EntityChange::ConversationStarted {
                    entity: entity.clone(),
                    topic: None,
                    stale_after: StaleAfter::default(),
                },
                EntityChange::ActionAdded {
                    entity,
                    description,
                    priority,
                },
            ],
            Self::CompleteAction(action) => vec![EntityChange::ActionCompleted { entity, action }],
        }
    }
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum MemoryAnswer {
    /// This was found, and comes from there.
    Found { result: Value, sources: Vec<Source> },
    /// These changes fit what is known now.
    Fits {
        changes: Vec<EntityChange>,
        result: Value,
    },
    /// Nothing, and why.
    Refused(String),
}
