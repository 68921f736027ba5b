//! The assistant itself: a state folded from events, a tick and ReAct loop, and effects carried out at most once.
//!
//! Layer 4. It does not know the store, the vendor or the world it runs on: those are [`Ports`]. Read it in this order:
//! [`Event`] (all that can happen), [`State`] (the fold of all events), [`gate()`] (whether there is a reason to
//! think), [`Assistant`] (the actor that runs), [`Handle`] (how to talk to it), [`replay()`] (the whole life again, up
//! to any moment), [`catch_up()`] (how a memory follows from the log).
//!
//! It never does any of these: decide by clock or randomness, change its state other than by an event that is on disk,
//! repeat an effect whose outcome is unknown, call a model without a reason.
//!
//! Stability: events and their JSON are a format, and only grow. The Rust interface may still change.

mod assistant;
mod builtin;
mod config;
mod consolidating;
mod decide;
mod event;
mod forgetting;
mod gate;
mod handle;
mod ports;
mod privacy;
mod prompt;
mod remembering;
mod render;
mod replay;
mod reply;
mod results;
mod secrets;
mod state;
mod status;
mod work;

pub use assistant::{Assistant, Recorded, RunError, WakeError};
pub use builtin::builtin_tools;
pub use config::{
    AssistantConfig, ConfigError, ExecutionPattern, Limits, OutOfRange, Privacy, Settings, Switch,
    ToolCalling,
};
pub use consolidating::{
    ConsolidateError, Consolidated, ConsolidationEnd, ConsolidationForecast, ConsolidationSettings,
    Consolidator, NightError,
};
pub use event::{
    ActSpeech, Beginning, Call, Configured, ConfiguredModel, ConsolidationBegan,
    ConsolidationEndCause, ConsolidationEnded, ConsolidationRules, Consultation,
    ConsultationFailed, ConsultationFailure, Consulted, ContextLimit, ContextType, DecodeError,
    DelayCause, Delayed, EffectIntended, EffectSettled, EmergencyStopCleared,
    EmergencyStopTriggered, EntityChanged, Event, Forgotten, MemoryChanged, ModelFailed,
    MovedTrust, NameDoubt, Omitted, ParseFailed, Perceived, RecallFailure, RecallMode,
    RecalledBlock, RecalledItem, RecalledLine, RecalledPart, Recollected, Remembered, Replied,
    RetryRequested, RosterChange, RosterChanged, Selected, SettingChanged, StopCause, StopReason,
    Tag, TagError, TickEnded, TickStarted, ToolAnswered, Unanswered, UnansweredCause, Verdict,
    Woke, WorldFailed,
};
pub use forgetting::{
    ForgetPlan, ForgetRequest, KnownPeople, LogRewrite, Person, Selection, WhoError,
    forget_requests, lost_words, messages_behind, unreferred,
};
pub use gate::{Reason, Skip, gate, next_reason};
pub use handle::{Accepted, ClearError, Handle, PerceiveError, Rest, RetryError, StopError};
pub use ports::Ports;
pub use prompt::PreambleTooLong;
pub use remembering::{
    CatchUpError, CaughtUp, LoggedChangeError, LoggedMemory, catch_up, check_log,
};
pub use replay::{
    DecideAgainError, DecidedAgain, DecidedInstead, FirstDifference, ReplayError, decide_again,
    encode_snapshot, replay, restore,
};
pub use secrets::{SecretsInLog, secrets_of};
pub use state::{
    Archived, CachedResults, CallState, ChangedSetting, ChangedSettings, Configuration,
    Consultations, Counts, CrossTalk, Deliveries, EffectState, EmergencyStop, ErrorRecord,
    HISTORY_KEPT, Heard, History, Identities, LearntLimit, OVERHEARD_KEPT, Occasion, OccasionKind,
    Overheard, Pause, Pauses, People, Phase, Promise, Promises, RECENT_CALLS, Roster, Service,
    Services, ShownLines, Spent, State, Step, StepKind, Stopped, Trigger, Turn, TurnFailures,
    Turns, Undos, Wait, Widened, Window, WorldReach,
};
pub use status::{Activity, Skipped, Status};

/// The program that decides, as the log names it.
const PROGRAM: &str = concat!("dormouse-engine ", env!("CARGO_PKG_VERSION"));

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
