//! Whom an assistant knows: profiles, relationships, running conversations, and their place in the prompt.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no model. [`Entities`] is a fold over
//! [`Change`]s, so that a log of them is all that needs to be kept; a store keeps rows besides, for a faster start.
//!
//! Stability: experimental. The serialised names of changes are stable, since logs hold them.

mod attributes;
mod block;
mod change;
mod consolidation;
mod conversation;
mod entities;
mod line;
mod merge;
mod observation;
mod orders;
mod plain;
mod profile;
mod relationship;
mod speaker;
#[cfg(test)]
mod testkit;

pub use attributes::{
    AttributeName, AttributeUpdate, Attributes, CommunicationStyle, Keyword, Phrase, Preference,
};
pub use block::{AttributeLine, BlockPolicy, EntityBlock, entity_block};
pub use change::{Change, ChangeError, Reason, Touched};
pub use consolidation::{
    Consolidation, ConsolidationError, ConsolidationPolicy, ReadConsolidation, consolidation_batch,
    consolidation_due, consolidation_prompt, read_consolidation,
};
pub use conversation::{
    ActionText, Archive, ArchivedConversation, Conversation, ConversationMessage, PendingAction,
    Role, StaleAfter, Topic,
};
pub use entities::{Entities, Held, Removal, Removed, Rows, RowsError};
pub use line::{Line, LineError, Passage};
pub use observation::{
    NewObservation, Observation, ObservationSource, ObservationStage, ObservationText, Origin,
};
pub use orders::{
    FoundOrder, LeftOut, OrderId, OrderKind, OrderPolicy, OrderText, StandingOrder, StandingOrders,
    Subject, Validity, compile, orders_in, recognise, subject_of,
};
pub use profile::{EntityType, Name, Profile};
pub use relationship::{
    Favorability, InteractionRule, MeasureError, Metric, Rapport, Relationship, RelationshipState,
};
pub use speaker::speaker_of;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
