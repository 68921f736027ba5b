//! The queries of calls to the memory, and the answers.

use dormouse_contracts::{
    Audience, Awaited, EntityId, Hit, Origin, Seq, Sources, Timestamp, Trust,
};
use dormouse_entities::{
    ActionText, AttributeUpdate, ChangeReason, Completion, EntityChange, Favorability,
    NewObservation, StaleAfter, Topic,
};
use serde_json::Value;

use super::provenance::Provenance;
use crate::event::Remembered;

/// A query of a call to the memory.
#[derive(Clone, Debug)]
pub(crate) enum MemoryQuery {
    /// The records that match a text, without events that wait for their turn.
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
    /// The records of these events, in order, without those that wait for their turn.
    History {
        from: Seq,
        to: Seq,
        limit: usize,
        without: Vec<Origin>,
        /// The least trust of quotations.
        quote_trust: Trust,
        /// Who hears the answer; `None` if everything may be told to everybody.
        listeners: Option<Audience>,
    },
    /// The entries of the journal that an encoder finds similar to a text.
    SimilarEntries {
        query: String,
        limit: usize,
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
        /// Who hears the answer. What they did not perceive is neither changed nor mentioned.
        listeners: Option<Audience>,
    },
}

/// A fact to note about somebody whose id is not known yet.
#[derive(Clone, Debug)]
pub(crate) enum Draft {
    Observe(NewObservation),
    Attributes(AttributeUpdate, Basis),
    Judge(Favorability, ChangeReason, Basis),
    AddAction(NewAction, Basis),
    /// The id of an action, when it was noted, if it waits for something, and why it is taken off.
    CompleteAction(u64, Option<Timestamp>, Completion),
    /// What the running conversation is about.
    Topic(Topic, Basis),
    /// The running conversation is over.
    EndConversation,
}

/// Something to do for somebody.
#[derive(Clone, Debug)]
pub(crate) struct NewAction {
    pub(crate) description: ActionText,
    pub(crate) priority: u8,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) when: Vec<AwaitedName>,
    pub(crate) until: Option<Timestamp>,
    /// The message that asks for it, if its words may only be passed on to people whom it names.
    pub(crate) asked: Option<String>,
}

/// Something to wait for, and the name of the person who does it, if it must be a certain one.
#[derive(Clone, Debug)]
pub(crate) struct AwaitedName {
    pub(crate) awaited: Awaited,
    pub(crate) who: Option<String>,
}

/// The sources of a draft, its trust, and who may learn it.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    trust: Trust,
    sources: Sources,
    pub(crate) audience: Option<Audience>,
}

impl Basis {
    pub(super) fn of(provenance: &Provenance) -> Self {
        Self {
            trust: provenance.trust,
            sources: provenance.sources.clone(),
            audience: provenance.audience.clone(),
        }
    }
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
            Self::Attributes(update, basis) => vec![EntityChange::AttributesUpdated {
                entity,
                update,
                trust: basis.trust,
                audience: basis.audience,
                sources: basis.sources,
            }],
            Self::Judge(step, reason, basis) => vec![EntityChange::Judged {
                entity,
                step,
                reason,
                trust: Some(basis.trust),
                // Without an audience it would count as public, as in older logs.
                audience: Some(basis.audience.unwrap_or(Audience::nobody())),
                sources: basis.sources,
            }],
            Self::AddAction(action, basis) => vec![
                EntityChange::ConversationStarted {
                    entity: entity.clone(),
                    topic: None,
                    stale_after: StaleAfter::default(),
                },
                EntityChange::ActionAdded {
                    entity,
                    description: action.description,
                    priority: action.priority,
                    due_at: action.due_at,
                    when: action.when.into_iter().map(|it| it.awaited).collect(),
                    until: action.until,
                    trust: Some(basis.trust),
                    audience: basis.audience,
                    sources: basis.sources,
                },
            ],
            Self::CompleteAction(action, noted_at, completion) => {
                vec![EntityChange::ActionCompleted {
                    entity,
                    action,
                    noted_at,
                    completion,
                }]
            }
            Self::Topic(topic, basis) => vec![EntityChange::TopicChanged {
                entity,
                topic,
                sources: basis.sources,
            }],
            Self::EndConversation => vec![EntityChange::ConversationEnded { entity }],
        }
    }
}

/// The answer of the memory.
#[derive(Debug)]
pub(crate) enum MemoryAnswer {
    /// This was found, and this is the lowest trust of it.
    Found { result: Value, trust: Option<Trust> },
    /// The records that the encoder finds similar, best first; none without an encoder.
    Similar(Vec<Hit>),
    /// This line may be kept.
    Stored {
        remembered: Box<Remembered>,
        result: Value,
    },
    /// These changes are allowed by what is known now.
    Fits {
        changes: Vec<EntityChange>,
        result: Value,
    },
    /// Nothing, for this reason.
    Refused(String),
}
