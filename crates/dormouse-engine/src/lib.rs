//! The assistant itself: a state folded from events, a tick and ReAct loop, and effects carried out at most once.
//!
//! Layer 4. It does not know the store, the vendor or the world it runs on: those are [`Ports`]. Read it in this order:
//! [`Event`] (all that can happen), [`State`] (the fold of all events), [`gate()`] (whether there is a reason to
//! think), [`Assistant`] (the actor that runs), [`Handle`] (commands to it), [`replay()`] (the state at any event),
//! [`catch_up()`] (how a memory follows from the log).
//!
//! It never decides by a clock or by randomness, changes its state without an event that is on disk, repeats an effect
//! whose outcome is unknown, or calls a model without a reason.
//!
//! Stability: events and their JSON are a format, and only grow. The Rust interface may still change.

mod appending;
mod assessment;
mod assistant;
mod beats;
mod builtin;
mod catalogue;
mod clearing;
mod compacting;
mod config;
mod consolidating;
mod context;
mod decide;
mod delegating;
mod event;
mod execution;
mod executions;
mod forgetting;
mod gate;
mod goals;
mod handle;
mod journal;
mod moving;
mod ports;
mod preview;
mod privacy;
mod projects;
mod prompt;
mod recurrence;
mod remembering;
mod render;
mod replay;
mod reply;
mod results;
mod secrets;
mod self_notes;
mod sleeping;
mod state;
mod status;
mod work;

pub use appending::{DecidedEvents, append_decided, append_until_known};
pub use assessment::{Assessment, ContextSignals, TaskClass};
pub use assistant::{Assistant, CompiledTools, Recorded, RunError, WakeError};
pub use builtin::builtin_tools;
pub use clearing::{clear_stop, reset_history, trigger_stop};
pub use compacting::{CompactError, Compacting, CompactionSettings, Compactor, WindowLevel};
pub use config::{
    AdmissionSettings, ApprovalRule, AssistantConfig, BudgetLimits, ConfigError,
    DelegationSettings, EpisodicWeights, ExecutionPattern, GoalSettings, JournalConfig,
    LONGEST_SLEEP_HOURS, Limits, OutOfRange, Privacy, ReflectionTicks, SelfSettings, Settings,
    SleepSettings, SleepWindow, SpendingBudgets, Switch, TokenPrice, ToolBreaker, ToolCalling,
    ToolRetries, UnknownPrice,
};
pub use consolidating::{
    ConsolidateError, Consolidated, ConsolidationEnd, ConsolidationForecast, ConsolidationSettings,
    Consolidator, JournalWork, NightError, ReflectionCall,
};
pub use context::{CONTEXTS, ContextConfig, ContextRow, ToolFilter};
pub use decide::{BudgetKind, BudgetStatus, OverBudget, reserve_for_server};
pub use delegating::{DelegateCandidate, DelegationStatus, choose_delegate, delegation_status};
pub use event::{
    ActSpeech, ApprovalAnswer, ApprovalAnswered, ApprovalRequested, AssessmentCall,
    AssessmentOutcome, Beginning, BrokenCause, BudgetSpan, Call, CallReserved, CommitmentEnded,
    CommitmentOutcome, Compacted, CompactionMode, Configured, ConfiguredModel, ConsolidationBegan,
    ConsolidationEndCause, ConsolidationEnded, ConsolidationRules, Consultation,
    ConsultationFailed, ConsultationFailure, Consulted, ContextLimit, ContextType, DecodeError,
    DelayCause, Delayed, DelegateChosen, DelegatedTask, DelegatedWords, DelegationEnded,
    DelegationFailure, EffectIntended, EffectSettled, EmergencyStopCleared, EmergencyStopTriggered,
    EndedBy, EntityChanged, Event, FactsBefore, FellAsleep, Forgotten, GoalBlock, GoalCompleted,
    GoalCreated, GoalId, GoalMoment, GoalNote, GoalPursued, GoalStatus, GoalUpdated, GoalWait,
    HistoryReset, HistorySpan, HistorySummarized, JournalChanged, LinesDropped, LowBudget,
    MemoryChanged, ModelFailed, MovedTrust, NameDoubt, NightProbed, NightStepped, OfferCause,
    Omitted, ParseFailed, Perceived, ProbeAnswer, ProbeResult, ProbeStage, ProjectCreated,
    ProjectId, ProjectKeyError, ProjectStatus, ProjectSwapped, ProjectUpdated, Pursuit,
    RecallFailure, RecallMode, RecalledBlock, RecalledItem, RecalledLine, RecalledPart,
    Recollected, ReflectionRecorded, ReflectionRequested, Refusal, Remembered, Replied,
    ReservedAhead, ReservedBy, RetryRequested, RosterChange, RosterChanged, Selected,
    SelfNoteDropped, SelfNoteId, SelfNoteKind, SelfNoted, SettingChanged, StepFailure, StepOutcome,
    StopCause, StopNoticeIntended, StopNoticeSettled, StopReason, SummaryFailed, SummaryFailure,
    Tag, TagError, TaskAnswered, TaskAssessed, TaskCancelled, TaskCost, TaskDelegated, TaskOutcome,
    TaskReceived, TickEnded, TickStarted, ToolAnswered, ToolsOffered, Unanswered, UnansweredCause,
    Verdict, WakeCause, Woke, WokeUp, WorldFailed,
};
pub use execution::{
    ComposedPattern, ContextError, ExecutionConfig, Insulation, PatternLayer, TickBounds,
    TickPattern, compose,
};
pub use executions::{
    Execution, ExecutionFilter, ExecutionMetrics, ModelMetrics, TaskMetrics, ToolMetrics,
    execution_metrics, executions, newest_executions,
};
pub use forgetting::{
    ForgetPlan, ForgetRequest, KnownPeople, LogRewrite, Person, Selection, WhoError,
    forget_requests, lost_words, messages_behind, unreferred,
};
pub use gate::{Reason, Skip, gate, next_reason};
pub use goals::{GOAL_TEXT_LIMIT, GoalError, NewGoal, USUAL_PRIORITY};
pub use handle::{
    Accepted, ApprovalError, ClearError, Handle, PerceiveError, ResetError, Rest, RetryError,
    StopError,
};
pub use journal::{left_entry, named_source, similar_entries};
pub use moving::acts_left_behind;
pub use ports::Ports;
pub use preview::{PreviewError, preview_after, preview_prompt, prompt_findings};
pub use projects::{PROJECT_CONTEXT_LIMIT, PROJECT_SUMMARY_LIMIT, ProjectError};
pub use prompt::{
    COMPONENTS, Component, ComponentConfig, ComponentRow, OmittedPart, OrderPreset, PartOrder,
    PartRole, PreambleTooLong, PreviewOf, PreviewPart, PromptConfig, PromptConfigError,
    PromptPreview, UnknownPlaceholder,
};
pub use recurrence::{Recurrence, RecurrenceError};
pub use remembering::{
    CatchUpError, CaughtUp, LoggedChangeError, LoggedMemory, catch_up, check_log,
};
pub use replay::{
    DecideAgainError, DecidedAgain, DecidedInstead, FirstDifference, ReplayError, STATE_SCHEMA,
    decide_again, encode_snapshot, replay, restore,
};
pub use secrets::{SecretsInLog, secrets_of};
pub use self_notes::{SELF_NOTE_LIMIT, SelfNoteError};
pub use sleeping::{
    LONGEST_DEFERRAL, NightWorker, SLEEP_REASON_LIMIT, SLEEP_STEPS, SleepError, SleepPhase,
    SleepStep, SleepWish,
};
pub use state::{
    Amount, Approval, Approvals, Archived, Awaiting, CachedResults, CallState, ChangedSetting,
    ChangedSettings, Compactions, Configuration, Consultations, Counts, CrossTalk, Delegations,
    Deliveries, DueGoal, EffectState, EmergencyStop, EndedPromise, ErrorRecord, FinishedTurn,
    GivenTask, Goal, GoalTurns, Goals, HISTORY_KEPT, Heard, Heartbeat, History, HistorySummary,
    Identities, JournalBook, LastRefusal, LearntLimit, MetCondition, Night, NightCounts,
    OVERHEARD_KEPT, Occasion, OccasionKind, OfferedTools, OpenSpan, OperatingMode, Overheard,
    Pause, Pauses, People, Phase, Project, Projects, Promise, Promises, RECENT_CALLS, Reflections,
    Reservation, Roster, SelfNote, SelfNotes, SenderLoads, Service, Services, ShownLines, Sleep,
    SpendingLedger, SpendingWindow, Spent, State, Step, StepEnd, StepKind, StepProgress,
    StopNotice, Stopped, TakenTask, TaskEnd, ToolCircuits, Trigger, Turn, TurnFailures, TurnView,
    Turns, Undos, Wait, Widened, Window, WorldReach,
};
pub use status::{Activity, SafetyCounters, Skipped, Status, ToolFailures};

/// The name and version of this program in the log.
const PROGRAM: &str = concat!("dormouse-engine ", env!("CARGO_PKG_VERSION"));

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
