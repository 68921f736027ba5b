//! The changes to what an assistant knows about entities.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, Awaited, EntityId, Sources, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::{
    attributes::AttributeUpdate,
    conversation::{ActionText, Conversation, SpeakerRole, StaleAfter, Topic},
    line::{Passage, TextLine},
    observation::NewObservation,
    profile::{EntityType, Name},
    relationship::{Favorability, Metric},
    removal::EntityState,
};

/// The reason for a judgement.
pub type ChangeReason = TextLine<300>;

/// A change. Every change of [`Entities`](crate::Entities) is one of these. A log contains them, and applying them
/// again gives the same state.
///
/// Its JSON is an object whose field `change` names the kind. The names are stable, because logs contain them; new
/// fields have a default. Unless stated otherwise, a change to a merged entity applies to the entity it was merged
/// into.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntityChange {
    /// Creates a profile for exactly this id. Refused if the id has a profile, or was deleted or merged.
    Created {
        /// The entity.
        entity: EntityId,
        /// The kind of entity.
        entity_type: EntityType,
        /// The name it goes by.
        name: Name,
    },
    /// Corrects the kind of the entity.
    Retyped {
        /// The entity.
        entity: EntityId,
        /// The kind of entity.
        entity_type: EntityType,
    },
    /// Changes the name; the old name becomes an alias.
    Renamed {
        /// The entity.
        entity: EntityId,
        /// The new name.
        name: Name,
    },
    /// Adds an alias.
    AliasAdded {
        /// The entity.
        entity: EntityId,
        /// The alias.
        alias: Name,
    },
    /// Removes an alias.
    AliasRemoved {
        /// The entity.
        entity: EntityId,
        /// The alias. An unknown alias changes nothing.
        alias: Name,
    },
    /// Sets attributes.
    AttributesUpdated {
        /// The entity.
        entity: EntityId,
        /// The update.
        update: AttributeUpdate,
        /// The trust in the update.
        trust: Trust,
        /// Who perceived what it was made from, other than the assistant. Nobody, if that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<Audience>,
        /// What it was made from; empty if that is not known.
        #[serde(default, skip_serializing_if = "Sources::is_empty")]
        sources: Sources,
    },
    /// Adds an observation.
    Observed {
        /// The entity.
        entity: EntityId,
        /// The observation.
        observation: NewObservation,
    },
    /// Consolidates observations into attributes. The observations stay and are marked; numbers that no longer exist
    /// are ignored. An attribute with higher trust is not replaced; lists grow.
    Consolidated {
        /// The entity.
        entity: EntityId,
        /// The update.
        update: AttributeUpdate,
        /// The numbers of the observations.
        observations: Vec<u64>,
        /// The lowest trust of the observations.
        trust: Trust,
        /// What the observations were made from; empty if that is not known.
        #[serde(default, skip_serializing_if = "Sources::is_empty")]
        sources: Sources,
    },
    /// Sets one measure of the relationship.
    MetricSet {
        /// The entity.
        entity: EntityId,
        /// The measure and its value.
        metric: Metric,
    },
    /// Records an interaction. See [`InteractionRule`](crate::InteractionRule).
    Interacted {
        /// The entity.
        entity: EntityId,
        /// The attested trust of the message.
        trust: Trust,
    },
    /// Records the assistant's judgement of the entity, limited per day. See
    /// [`InteractionRule`](crate::InteractionRule).
    Judged {
        /// The entity.
        entity: EntityId,
        /// The requested change of the favorability.
        step: Favorability,
        /// The reason.
        reason: ChangeReason,
        /// The trust of what the judgement was made from. Below 0.5 it is only recorded, so that no stranger talks the
        /// assistant into liking or disliking somebody. Absent in old logs, which do not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trust: Option<Trust>,
        /// Who perceived what the judgement was made from, other than the assistant: only they are shown its effect.
        /// Absent in old logs, whose judgements count for everybody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<Audience>,
        /// What it was made from; empty if that is not known.
        #[serde(default, skip_serializing_if = "Sources::is_empty")]
        sources: Sources,
    },
    /// Deletes the profile and the running conversation of exactly this id. Both can be restored. Until then the entity
    /// is unknown and cannot be created again.
    Deleted {
        /// The entity.
        entity: EntityId,
    },
    /// Restores a deleted entity as it was.
    Restored {
        /// The entity.
        entity: EntityId,
    },
    /// Erases what was kept of a deleted entity, of those merged into it, and of their archived conversations.
    Purged {
        /// The entity.
        entity: EntityId,
    },
    /// Merges two profiles of the same entity: `into` gets what is known of `from`, and represents both ids from now
    /// on.
    Merged {
        /// The id that is merged.
        from: EntityId,
        /// The id that remains.
        into: EntityId,
    },
    /// Reverts the merge of exactly this id. Both are as before, except that later additions and changes stay with the
    /// remaining entity.
    Unmerged {
        /// The merged id.
        entity: EntityId,
    },
    /// Starts a conversation, or continues the running one. A stale one is archived first.
    ConversationStarted {
        /// The entity.
        entity: EntityId,
        /// The topic; without one, a running conversation keeps its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic: Option<Topic>,
        /// When a running conversation counts as stale.
        #[serde(default)]
        stale_after: StaleAfter,
    },
    /// Changes the topic of the running conversation.
    TopicChanged {
        /// The entity.
        entity: EntityId,
        /// The topic.
        topic: Topic,
        /// What it was made from; empty if that is not known.
        #[serde(default, skip_serializing_if = "Sources::is_empty")]
        sources: Sources,
    },
    /// Adds a message to the running conversation.
    MessageAdded {
        /// The entity.
        entity: EntityId,
        /// The speaker.
        role: SpeakerRole,
        /// The words.
        content: Passage,
    },
    /// Ends and archives the running conversation.
    ConversationEnded {
        /// The entity.
        entity: EntityId,
    },
    /// Adds a pending action to the running conversation.
    ActionAdded {
        /// The entity.
        entity: EntityId,
        /// The action.
        description: ActionText,
        /// The priority; higher is sooner.
        #[serde(default = "one")]
        priority: u8,
        /// The moment when it is due, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
        /// It waits for `due_at` or for any of these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        when: Vec<Awaited>,
        /// When it becomes too late; absent if it never does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// The trust of what it was made from; absent if that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trust: Option<Trust>,
        /// Who perceived what it was made from, other than the assistant. Nobody, if that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<Audience>,
        /// What it was made from; empty if that is not known.
        #[serde(default, skip_serializing_if = "Sources::is_empty")]
        sources: Sources,
    },
    /// Takes back the effect of a change on one entity, except for values that have changed since. Refused if all of
    /// them have. A memory makes this change from an event that undoes something; no log contains it.
    Reverted {
        /// The entity before the change that is taken back.
        before: Box<EntityState>,
        /// The entity after it.
        after: Box<EntityState>,
    },
    /// Completes a pending action.
    ActionCompleted {
        /// The entity.
        entity: EntityId,
        /// The id of the action.
        action: u64,
        /// When the action was noted; absent if it waits for no moment. An action that waits is found by this time,
        /// because its id is unique only within one conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noted_at: Option<Timestamp>,
        /// Whether it was done.
        #[serde(default, skip_serializing_if = "Completion::is_done")]
        completion: Completion,
    },
    /// Removes a pending action that waited for something, because the wait is over. A memory makes this change from
    /// the event that records the end; no log contains it. If there is no such action, nothing changes.
    ActionEnded {
        /// The entity.
        entity: EntityId,
        /// When it was noted.
        noted_at: Timestamp,
    },
    /// Ends and archives all conversations that have been silent for longer than this.
    StaleCleared {
        /// The time of silence.
        #[serde(default)]
        stale_after: StaleAfter,
    },
}

fn one() -> u8 {
    1
}

/// Why a pending action is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// It was done.
    #[default]
    Done,
    /// Nobody wants it any more.
    Withdrawn,
}

impl Completion {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

/// Why a change was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntityChangeError {
    /// This id has no profile.
    #[error("there is no profile of {entity}")]
    Unknown {
        /// The entity.
        entity: EntityId,
    },
    /// The id has a profile already.
    #[error("there is a profile of {entity} already")]
    AlreadyKnown {
        /// The entity.
        entity: EntityId,
    },
    /// The profile is deleted. Restore or purge it first.
    #[error("the profile of {entity} was deleted; restore or purge it first")]
    Deleted {
        /// The entity.
        entity: EntityId,
    },
    /// The id was merged into another one, and this change needs exactly this id.
    #[error("{entity} was merged into {into}")]
    Merged {
        /// The entity.
        entity: EntityId,
        /// The id it was merged into.
        into: EntityId,
    },
    /// The id is not deleted.
    #[error("{entity} was not deleted")]
    NotDeleted {
        /// The entity.
        entity: EntityId,
    },
    /// The id is not merged.
    #[error("{entity} was not merged")]
    NotMerged {
        /// The entity.
        entity: EntityId,
    },
    /// The two ids belong to the same entity.
    #[error("{entity} cannot be merged with itself")]
    MergeWithItself {
        /// The entity.
        entity: EntityId,
    },
    /// All values that the change set have been changed again since then.
    #[error("what is known of {entity} has changed since; undo what came after it first")]
    ChangedSince {
        /// The entity.
        entity: EntityId,
    },
    /// No conversation is running.
    #[error("no conversation with {entity} is running")]
    NoConversation {
        /// The entity.
        entity: EntityId,
    },
    /// The pending action does not exist.
    #[error("there is no pending action {action} for {entity}")]
    UnknownAction {
        /// The entity.
        entity: EntityId,
        /// The id of the action.
        action: u64,
    },
    /// There are too many pending actions.
    #[error(
        "{} actions are pending for {entity}; complete some first",
        Conversation::MOST_ACTIONS
    )]
    TooManyActions {
        /// The entity.
        entity: EntityId,
    },
}

/// The rows that a change affected. A row that no longer exists must be removed from the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Ids whose profile changed.
    pub profiles: BTreeSet<EntityId>,
    /// Ids whose running conversation changed.
    pub conversations: BTreeSet<EntityId>,
    /// Ids whose former conversations changed.
    pub archives: BTreeSet<EntityId>,
    /// Ids whose deleted or merged state was added or removed.
    pub removed: BTreeSet<EntityId>,
}

impl Touched {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
