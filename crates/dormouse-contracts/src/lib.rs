//! Ids, messages, the event envelope, the ports (traits for adapters) and the error kinds that all Dormouse crates
//! share.
//!
//! An implementation of a port outside this workspace (a world, a chat model, an event log) needs this crate and, for its
//! tests, `dormouse-testing`. Nothing here knows tokio, HTTP, redb or any vendor: ports are traits with few calls each, and
//! futures and streams are boxed standard types.
//!
//! Read in this order: [`Perception`] (what happened in a world), [`ToolSpec`] and [`Effect`] (what an assistant can
//! do), [`Senses`] and [`World`] (which deliver perceptions and carry out effects), [`ChatModel`] (which decides),
//! [`EventLog`] (which records all of it).
//!
//! Stability: the most stable crate of the workspace. Enums that may grow are `non_exhaustive`.

mod audience;
mod awaited;
mod embed;
mod forgotten;
mod future;
mod ids;
mod invariant;
mod log;
mod model;
mod perception;
mod port_error;
mod provenance;
mod random;
mod senses;
mod time;
mod tokens;
mod tool;
mod trust;
mod vectors;
mod world;

pub use audience::{Audience, Place};
pub use awaited::{Awaited, AwaitedKind, WordBeginnings, WordBeginningsError};
pub use embed::{Embedder, Embedding, EncoderInfo};
pub use forgotten::FORGOTTEN;
pub use future::{BoxError, BoxFuture, BoxStream};
pub use ids::{
    AssistantId, CallId, ChannelId, CollectionName, EffectKey, EntityId, IdError, ModelName,
    PlaceId, ProviderId, ServiceName, ToolName, ToolSourceName, WorldId,
};
pub use invariant::{MaybeMissing, broken_invariants, count_broken_invariant};
pub use log::{
    Append, AppendError, AppendErrorKind, AppendRequest, EventLog, LoadSnapshot, NewEvent,
    ReadError, ReadErrorKind, ReadEvents, SaveSnapshot, Seq, Snapshot, StoredEvent, each_event,
};
pub use model::{
    Allowance, AssistantTask, ChatDelta, ChatModel, ChatReply, ChatRequest, DoubtfulFact,
    DueAction, EarlierTurn, ErrorClass, FinishReason, Message, MessageDigest, MessageDigests,
    ModelError, ModelErrorKind, OutputFormat, Persona, Purpose, RateLimits, ReasoningEffort,
    ReplyInfo, RequestField, Task, TaskLine, TaskReport, ToolCall, ToolChoice, ToolDefinition,
    TurnCall, TurnContext, TurnStep, TurnTrigger, Usage, Usd, complete,
};
pub use perception::{
    Attested, Delivery, Movement, Perception, Sender, SourceKind, Words, WordsError,
};
pub use port_error::PortError;
pub use provenance::{Attribution, Author, Origin, OriginError, Sources};
pub use random::Random;
pub use senses::{
    AdmitError, CheckCharacter, CheckName, Habitat, Landmarks, PERCEPTIONS_PAGE, Presence,
    SenseError, SenseErrorKind, Senses, character_of,
};
pub use time::{Clock, Timestamp, TimestampError};
pub use tokens::{TokenCount, TokenCounter};
pub use tool::{
    Arguments, CachePolicy, CacheScope, Speech, SpeechKind, ToolCategory, ToolReach, ToolSpec,
};
pub use trust::{Trust, TrustError};
pub use vectors::{
    Hit, Point, PointFilter, PointPayload, Retention, VectorError, VectorErrorKind, VectorIndex,
};
pub use world::{
    Effect, EffectInquiry, Inquire, Observe, Outcome, Perform, Query, Receipt, Rejection,
    ToolSource, World, WorldError, WorldErrorKind,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
