//! What an assistant knows about the people and things around it: profiles, relationships, running conversations, and
//! how a prompt shows them.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no model. [`Entities`] is a fold over
//! [`EntityChange`]s, so a log of changes is sufficient; a store also keeps rows, for a faster start.
//!
//! Stability: experimental. The serialised names of changes are stable, because logs contain them.

mod attributes;
mod block;
mod change;
mod consolidation;
mod conversation;
mod edit;
mod entities;
mod line;
mod merge;
mod merged_ids;
mod observation;
mod orders;
mod plain;
mod profile;
mod relationship;
mod removal;
mod speaker;
#[cfg(test)]
mod testkit;

pub use attributes::{
    AttributeName, AttributeUpdate, Attributes, CommunicationStyle, Keyword, Phrase, Preference,
};
pub use block::{AttributeLine, BlockPolicy, EntityBlock, entity_block};
pub use change::{ChangeReason, Completion, EntityChange, EntityChangeError, Touched};
pub use consolidation::{
    Consolidation, ConsolidationError, ConsolidationPolicy, ReadConsolidation, consolidation_batch,
    consolidation_due, consolidation_prompt, read_consolidation,
};
pub use conversation::{
    ActionText, Archive, ArchivedConversation, Conversation, ConversationMessage, PendingAction,
    SpeakerRole, StaleAfter, Topic,
};
pub use edit::ProfileEdit;
pub use entities::{Entities, Rows, RowsError, Undoing};
pub use line::{Passage, TextLine, TextLineError};
pub use merged_ids::MergedIds;
pub use observation::{
    NewObservation, Observation, ObservationSource, ObservationStage, ObservationText,
};
pub use orders::{
    FoundOrder, LeftOut, OrderId, OrderKind, OrderPeriod, OrderPolicy, OrderSubject, OrderText,
    OrderValidity, StandingOrder, StandingOrders, compile, order_features, orders_in, recognise,
    subject_of,
};
pub use profile::{EntityType, Name, Profile};
pub use relationship::{
    Favorability, InteractionRule, Judgement, MeasureError, Metric, Rapport, Relationship,
    RelationshipState,
};
pub use removal::{EntityRemoval, EntityState, RemovedEntity};
pub use speaker::speaker_of;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
