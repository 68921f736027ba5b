//! What can happen to what an assistant knows of entities.

use std::collections::BTreeSet;

use dormouse_contracts::{EntityId, Trust};
use serde::{Deserialize, Serialize};

use crate::{
    attributes::AttributeUpdate,
    conversation::{ActionText, Conversation, Role, StaleAfter, Topic},
    line::{Line, Passage},
    observation::NewObservation,
    profile::{EntityType, Name},
    relationship::{Favorability, Metric},
};

/// Why the assistant thinks so.
pub type Reason = Line<300>;

/// One change. Every change of [`Entities`](crate::Entities) is one of these; a log keeps them, and folding them again
/// gives the same state.
///
/// Its JSON is an object whose field `change` names the kind. The names are stable, since logs hold them; fields that
/// are added have a default. Except where it says otherwise, a change to an entity that was merged goes to the one it
/// was merged into.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// A profile is made for exactly this id. Refused if there is one, or one was deleted or merged.
    Created {
        /// Whose.
        entity: EntityId,
        /// What kind of thing it is.
        entity_type: EntityType,
        /// The name it goes by.
        name: Name,
    },
    /// It turned out to be another kind of thing.
    Retyped {
        /// Whose profile.
        entity: EntityId,
        /// What kind of thing it is.
        entity_type: EntityType,
    },
    /// It goes by another name; the old one stays known.
    Renamed {
        /// Whose profile.
        entity: EntityId,
        /// The new name.
        name: Name,
    },
    /// It is known by another name, too.
    AliasAdded {
        /// Whose profile.
        entity: EntityId,
        /// The other name.
        alias: Name,
    },
    /// It is not known by that name after all.
    AliasRemoved {
        /// Whose profile.
        entity: EntityId,
        /// The name. Nothing happens if it is no alias.
        alias: Name,
    },
    /// Attributes were set outright.
    AttributesUpdated {
        /// Whose profile.
        entity: EntityId,
        /// What changes.
        update: AttributeUpdate,
        /// How far it is believed.
        trust: Trust,
    },
    /// Something was noticed.
    Observed {
        /// About whom.
        entity: EntityId,
        /// What.
        observation: NewObservation,
    },
    /// Observations were summed up in the attributes. They stay, marked as consolidated; numbers that are no longer
    /// there are passed over. No attribute that is believed more is replaced; lists grow.
    Consolidated {
        /// Whose profile.
        entity: EntityId,
        /// What changes.
        update: AttributeUpdate,
        /// The observations it was made of, by number.
        observations: Vec<u64>,
        /// The lowest trust of those observations.
        trust: Trust,
    },
    /// One measure of the relationship was set outright.
    MetricSet {
        /// To whom.
        entity: EntityId,
        /// Which one, and to what.
        metric: Metric,
    },
    /// They had to do with each other. See [`InteractionRule`](crate::InteractionRule).
    Interacted {
        /// With whom.
        entity: EntityId,
        /// How far the server's word goes for what was said.
        trust: Trust,
    },
    /// The assistant judges the entity, bounded by the day. See [`InteractionRule`](crate::InteractionRule).
    Judged {
        /// Whom.
        entity: EntityId,
        /// How far the favorability is to move.
        step: Favorability,
        /// Why.
        reason: Reason,
    },
    /// The profile and running conversation of exactly this id are put away, so that they can be restored. Until then
    /// the entity is unknown, and cannot be created anew.
    Deleted {
        /// Whose.
        entity: EntityId,
    },
    /// What was deleted is there again, as it was.
    Restored {
        /// Whose.
        entity: EntityId,
    },
    /// What was kept of a deleted entity, of those merged into it, and of their former conversations is gone for good.
    Purged {
        /// Whose.
        entity: EntityId,
    },
    /// Two are one: what is known of `from` goes over to `into`, which answers for both from now on.
    Merged {
        /// Who is no longer known separately.
        from: EntityId,
        /// Who stays.
        into: EntityId,
    },
    /// Two are two after all: exactly this id was merged by mistake. Both are as they were, except that what was added
    /// or changed since stays with the survivor.
    Unmerged {
        /// Who was merged.
        entity: EntityId,
    },
    /// A conversation begins, or goes on where one is running that is not stale. A stale one is archived first.
    ConversationStarted {
        /// With whom.
        entity: EntityId,
        /// About what; a running one keeps its topic where nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic: Option<Topic>,
        /// When a running one counts as over.
        #[serde(default)]
        stale_after: StaleAfter,
    },
    /// The running conversation is about something else.
    TopicChanged {
        /// With whom.
        entity: EntityId,
        /// About what.
        topic: Topic,
    },
    /// Something was said in the running conversation.
    MessageAdded {
        /// With whom.
        entity: EntityId,
        /// Who said it.
        role: Role,
        /// What.
        content: Passage,
    },
    /// The running conversation is over and archived.
    ConversationEnded {
        /// With whom.
        entity: EntityId,
    },
    /// The assistant means to do something, and notes it in the running conversation.
    ActionAdded {
        /// For whom.
        entity: EntityId,
        /// What.
        description: ActionText,
        /// The higher, the sooner.
        #[serde(default = "one")]
        priority: u8,
    },
    /// It has been done.
    ActionCompleted {
        /// For whom.
        entity: EntityId,
        /// What, by its id.
        action: u64,
    },
    /// All conversations that have been silent for longer than this are over and archived.
    StaleCleared {
        /// How long.
        #[serde(default)]
        stale_after: StaleAfter,
    },
}

fn one() -> u8 {
    1
}

/// Why a change was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// Nobody has made a profile for this id.
    #[error("there is no profile of {entity}")]
    Unknown {
        /// Who.
        entity: EntityId,
    },
    /// There is a profile already.
    #[error("there is a profile of {entity} already")]
    AlreadyKnown {
        /// Who.
        entity: EntityId,
    },
    /// The profile was deleted. Restore or purge it first.
    #[error("the profile of {entity} was deleted; restore or purge it first")]
    Deleted {
        /// Who.
        entity: EntityId,
    },
    /// The id was merged into another one, and this change wants exactly it.
    #[error("{entity} was merged into {into}")]
    Merged {
        /// Who.
        entity: EntityId,
        /// Into whom.
        into: EntityId,
    },
    /// There is nothing to restore or purge.
    #[error("{entity} was not deleted")]
    NotDeleted {
        /// Who.
        entity: EntityId,
    },
    /// There is nothing to take apart.
    #[error("{entity} was not merged")]
    NotMerged {
        /// Who.
        entity: EntityId,
    },
    /// Nobody can be merged with itself, by whatever ids.
    #[error("{entity} cannot be merged with itself")]
    MergeWithItself {
        /// Who.
        entity: EntityId,
    },
    /// No conversation is running.
    #[error("no conversation with {entity} is running")]
    NoConversation {
        /// With whom.
        entity: EntityId,
    },
    /// There is no such pending action.
    #[error("there is no pending action {action} for {entity}")]
    UnknownAction {
        /// For whom.
        entity: EntityId,
        /// Which one.
        action: u64,
    },
    /// There are too many pending actions.
    #[error(
        "{} actions are pending for {entity}; complete some first",
        Conversation::MOST_ACTIONS
    )]
    TooManyActions {
        /// For whom.
        entity: EntityId,
    },
}

/// The rows that a change touched. A row that is no longer there is to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Ids whose profile changed.
    pub profiles: BTreeSet<EntityId>,
    /// Ids whose running conversation changed.
    pub conversations: BTreeSet<EntityId>,
    /// Ids whose former conversations changed.
    pub archives: BTreeSet<EntityId>,
    /// Ids of which something was put away by deleting or merging, or taken out again.
    pub removed: BTreeSet<EntityId>,
}

impl Touched {
    /// Did nothing change?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
