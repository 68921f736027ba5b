//! What can happen to an assistant. Only these events change its state.
//!
//! Events come in families, one file each: [`life`], [`perception`], [`turn`], [`effect`], [`memory`],
//! [`service`], [`safety`], [`budget`], [`approval`], [`roster`], [`goal`], [`project`], [`self_note`], [`commitment`],
//! [`compaction`], [`delegation`], [`journal`] and [`sleep`]. Each family has a schema number of its own, so a family that grows
//! leaves the others as they are.

mod approval;
mod assessed;
mod budget;
mod commitment;
mod compaction;
mod consulted;
mod delayed;
mod delegation;
mod effect;
mod encoding;
mod forgotten;
mod goal;
mod journal;
mod kinds;
mod life;
mod memory;
mod name_doubt;
mod noted;
mod offered;
mod perception;
mod project;
mod recollected;
mod roster;
mod safety;
mod self_note;
mod service;
mod sleep;
mod turn;
mod unanswered;

pub use approval::{ApprovalAnswer, ApprovalAnswered, ApprovalRequested};
pub use assessed::{AssessmentCall, AssessmentOutcome, TaskAssessed};
pub use budget::{BudgetSpan, CallReserved, LowBudget, ReservedAhead, ReservedBy};
pub use commitment::{BrokenCause, CommitmentEnded, CommitmentOutcome};
pub use compaction::{
    Compacted, CompactionMode, FactsBefore, HistorySpan, HistorySummarized, SummaryFailed,
    SummaryFailure,
};
pub use consulted::{
    ConsolidationBegan, ConsolidationEndCause, ConsolidationEnded, ConsolidationRules,
    Consultation, ConsultationFailed, ConsultationFailure, Consulted,
};
pub use delayed::{DelayCause, Delayed};
pub use delegation::{
    DelegateChosen, DelegatedTask, DelegatedWords, DelegationEnded, DelegationFailure, EndedBy,
    TaskAnswered, TaskCancelled, TaskCost, TaskDelegated, TaskOutcome, TaskReceived,
};
pub(crate) use effect::SpokenWords;
pub use effect::{ActSpeech, EffectIntended, EffectSettled, WorldFailed};
pub use encoding::DecodeError;
pub use forgotten::{Forgotten, Selected};
pub use goal::{
    GoalBlock, GoalCompleted, GoalCreated, GoalId, GoalMoment, GoalNote, GoalPursued, GoalStatus,
    GoalUpdated, GoalWait, Pursuit,
};
pub(crate) use journal::records_of;
pub use journal::{JournalChanged, ReflectionRecorded, ReflectionRequested};
pub use kinds::Event;
pub use life::{Configured, ConfiguredModel, SettingChanged, Woke};
pub use memory::{EntityChanged, MemoryChanged, Remembered};
pub use name_doubt::NameDoubt;
pub use offered::{OfferCause, ToolsOffered};
pub use perception::{LinesDropped, MovedTrust, Perceived, Refusal};
pub use project::{
    ProjectCreated, ProjectId, ProjectKeyError, ProjectStatus, ProjectSwapped, ProjectUpdated,
};
pub use recollected::{
    RecallFailure, RecallMode, RecalledBlock, RecalledItem, RecalledLine, RecalledPart, Recollected,
};
pub use roster::{Beginning, RosterChange, RosterChanged, Tag, TagError};
pub use safety::{
    EmergencyStopCleared, EmergencyStopTriggered, HistoryReset, StopCause, StopNoticeIntended,
    StopNoticeSettled,
};
pub use self_note::{SelfNoteDropped, SelfNoteId, SelfNoteKind, SelfNoted};
pub use service::{ContextLimit, ModelFailed, RetryRequested};
pub use sleep::{
    FellAsleep, NightProbed, NightStepped, ProbeAnswer, ProbeResult, ProbeStage, StepFailure,
    StepOutcome, WakeCause, WokeUp,
};
pub(crate) use turn::NOOP;
pub(crate) use turn::is_zero;
pub use turn::{
    Call, ContextType, Omitted, ParseFailed, Replied, StopReason, TickEnded, TickStarted,
    ToolAnswered, Verdict,
};
pub use unanswered::{Unanswered, UnansweredCause};
