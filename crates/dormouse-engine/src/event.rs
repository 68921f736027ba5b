//! What can happen to an assistant. Only these events change its state.

mod delayed;
mod encoding;
mod name_doubt;
mod recollected;
mod unanswered;
mod unreached;

use dormouse_classify::Classification;
use dormouse_contracts::{
    Arguments, CallId, ChatReply, EffectKey, ModelErrorKind, ModelName, Outcome, Perception, Seq,
    ServiceName, Timestamp, ToolCategory, ToolName, Trust,
};
use dormouse_memory::RecordKind;
use serde::{Deserialize, Serialize};

pub use delayed::{DelayCause, Delayed};
pub use encoding::DecodeError;
pub use name_doubt::NameDoubt;
pub use recollected::{
    RecallFailure, RecallMode, RecalledBlock, RecalledItem, RecalledLine, Recollected,
};
pub use unanswered::{Unanswered, UnansweredCause};
pub use unreached::WorldFailed;

/// The tool by which a model says that it is done. Calling it is neither a success nor an error.
pub(crate) const NOOP: &str = "noop";
/// The name that is written if there is more than one person.
pub(crate) const SEVERAL: &str = "several";
/// The prefix of an event's sequence number in the origin of a memory record.
pub(crate) const LOG_ORIGIN: &str = "log:";

/// Something that happened to an assistant, or that it decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A message was accepted.
    Perceived(Perceived),
    /// A tick found a reason to think.
    TickStarted(TickStarted),
    /// The model answered.
    Replied(Replied),
    /// The model's answer was unreadable, or held a call that cannot be made; the model is told.
    ParseFailed(ParseFailed),
    /// The model could not be reached, or refused.
    ModelFailed(ModelFailed),
    /// A tool call has its result.
    ToolAnswered(ToolAnswered),
    /// A line was taken into memory.
    Remembered(Remembered),
    /// The memory was searched for a turn, before the model is asked.
    Recollected(Recollected),
    /// Something about a person or thing was noted on purpose.
    EntityChanged(EntityChanged),
    /// An outward act was decided. It is on disk before it is done.
    EffectIntended(EffectIntended),
    /// What became of an outward act.
    EffectSettled(EffectSettled),
    /// The world could not be reached; the call is made again later.
    WorldFailed(WorldFailed),
    /// A message ends without an answer.
    Unanswered(Unanswered),
    /// The answer to a message takes long, and its sender is asked to wait.
    Delayed(Delayed),
    /// A tick is over.
    TickEnded(TickEnded),
    /// The emergency stop was triggered: no further ticks until somebody clears it.
    EmergencyStopTriggered(EmergencyStopTriggered),
    /// The emergency stop was cleared.
    EmergencyStopCleared(EmergencyStopCleared),
    /// Somebody wants the model to be asked again now, whatever pause it asked for.
    RetryRequested(RetryRequested),
}

/// A message was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Perceived {
    /// What the world delivered.
    pub perception: Perception,
    /// What it is to the assistant, and by which rule.
    pub classification: Classification,
    /// How far it is believed.
    pub trust: Trust,
    /// How many tokens it takes as a prompt shows it.
    pub tokens: u32,
    /// What makes the name of its sender suspicious.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<NameDoubt>,
}

/// Which kind of prompt a tick builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextType {
    /// A message waits for an answer.
    TickEvent,
}

/// A tick found a reason to think: it takes up the oldest waiting message, or goes on with the open turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickStarted {
    /// Counts the ticks that found a reason, from 1.
    pub tick: u64,
    /// Which kind of prompt it builds.
    pub context: ContextType,
    /// The place in the log of the message it works on.
    pub trigger: Seq,
}

/// The model answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replied {
    /// The model that answered.
    pub model: ModelName,
    /// The whole reply, as it came.
    pub reply: ChatReply,
    /// The calls that were parsed from it, in order, including calls that were written in its text.
    pub calls: Vec<Call>,
    /// How many tokens the reply takes when it is shown to the model again.
    pub tokens: u32,
    /// How many tokens the prompt took.
    pub prompt_tokens: u32,
    /// How long the call took, retries included, in milliseconds.
    pub duration_ms: f64,
    /// Whether it was the last step of its turn, in which the model could only speak.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub speech_only: bool,
    /// The services that answer for the model, unless they are known to have answered before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceName>,
}

/// A call read out of a reply. Whether there is such a tool is not decided yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Ties the result to the call.
    pub id: CallId,
    /// The name the model used.
    pub name: String,
    /// The arguments as the model wrote them. If an answer is too long for one call, this is the part for this call.
    pub arguments: String,
    /// Whether it continues the speech of the call before it. It is made only if that call was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
}

/// A reply could not be read. The note is shown to the model when it is asked again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseFailed {
    /// What was wrong with it, for the model to read.
    pub note: String,
    /// How many tokens the note takes.
    pub tokens: u32,
}

/// The model could not be reached, or refused, after the retries of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// Why.
    pub kind: ModelErrorKind,
    /// How often it was tried.
    pub attempts: u32,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// What the provider said of it, or what else is known, for people; at most 500 bytes, and without its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The service that failed, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceName>,
    /// The end of the pause that it asked for, if that is so long that this call did not wait for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<Timestamp>,
    /// How short the next prompt is, if the prompt was too long for the model and a shorter one is tried. The tick goes
    /// on then, and this does not count as an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<ContextLimit>,
}

/// How long a prompt may be, and how many reply tokens are reserved after it, learnt from a prompt that was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLimit {
    /// The most tokens of a prompt.
    pub tokens: u32,
    /// The most tokens of a reply that are requested; absent if the operator does not say how long one may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<u32>,
    /// The context window that was configured when this was learnt, in tokens. It does not apply to any other window.
    pub window: u32,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did what it was called for.
    Success,
    /// It failed; this counts as an error.
    Failure,
    /// It was not made, because the turn had already ended. No error.
    Skipped,
}

/// A call that changes nothing outside has its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswered {
    /// Which call.
    pub call: CallId,
    /// The name the model used.
    pub tool: String,
    /// The tool's category; absent if the tool does not exist.
    pub category: Option<ToolCategory>,
    /// How it ended.
    pub verdict: Verdict,
    /// The result as JSON text, word for word as the model sees it.
    pub content: String,
    /// How many tokens that takes.
    pub tokens: u32,
    /// Where the least trusted part of it comes from, if it holds remembered lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

/// Where something the model was shown comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// How far it is believed.
    pub trust: Trust,
    /// The name of the person it came from.
    pub from: String,
    /// The sequence number of the event it goes back to, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
}

/// A line was taken into memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// The line.
    pub text: String,
    /// The name of the person it came from.
    pub from: String,
    /// How far it is believed: the lowest trust of what it came from.
    pub trust: Trust,
    /// The place in the log of the message it came from.
    pub source: Seq,
    /// What kind of record it is; a fact by default.
    #[serde(default = "fact", skip_serializing_if = "is_fact")]
    pub kind: RecordKind,
    /// Whom or what it is about, by name, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

fn fact() -> RecordKind {
    RecordKind::Fact
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_fact(kind: &RecordKind) -> bool {
    *kind == RecordKind::Fact
}

/// Something about a person or thing was noted on purpose. It was checked against what was known then; the memory
/// applies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntityChanged {
    /// What.
    pub change: dormouse_entities::EntityChange,
}

/// An outward act was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectIntended {
    /// Its idempotency key.
    pub key: EffectKey,
    /// Which call asked for it.
    pub call: CallId,
    /// Which tool of the world.
    pub tool: ToolName,
    /// What calling it does to the loop.
    pub category: ToolCategory,
    /// Its arguments, checked.
    pub arguments: Arguments,
    /// The trust of what it says, if it says anything: the lowest trust of everything that this may have come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

/// What became of an outward act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectSettled {
    /// Which act.
    pub key: EffectKey,
    /// What became of it.
    pub outcome: Outcome,
    /// The result as JSON text, word for word as the model sees it.
    pub content: String,
    /// How many tokens that takes.
    pub tokens: u32,
}

/// Why a tick's loop came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model said that it is done.
    Noop,
    /// A TERMINAL tool ran: it is the other party's turn to speak.
    TerminalTool,
    /// A DANGEROUS tool ran: one in a tick.
    DangerousTool,
    /// The prompt takes 80 % of the context window or more.
    CriticalTokens,
    /// The configured number of steps is reached.
    MaxIterations,
    /// The model could not be reached, or refused.
    LlmError,
    /// The model's reply could not be read.
    ParseError,
    /// The world could not be reached. The turn stays open, and what it was about to do is done later.
    WorldUnreachable,
    /// The message is given up: it led to too many errors.
    GivenUp,
}

impl StopReason {
    /// The reason's code, as the documents name it (`"terminal_tool"`).
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::TerminalTool => "terminal_tool",
            Self::DangerousTool => "dangerous_tool",
            Self::CriticalTokens => "critical_tokens",
            Self::MaxIterations => "max_iterations",
            Self::LlmError => "llm_error",
            Self::ParseError => "parse_error",
            Self::WorldUnreachable => "world_unreachable",
            Self::GivenUp => "given_up",
        }
    }
}

/// A tick is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickEnded {
    /// Why its loop ended.
    pub reason: StopReason,
    /// When to resume the turn, if it stays open (the message is not answered yet).
    pub resume_at: Option<Timestamp>,
}

/// Why the emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopCause {
    /// That many errors in a row that no single message, and no single person, caused.
    ConsecutiveErrors(u32),
    /// This tool failed in most of its last calls.
    FailureRate(String),
    /// The provider refused the credentials, or the account has no credit left. Mend that, then clear the stop.
    Credentials,
    /// Somebody stopped it: this is who.
    Operator(String),
}

/// The emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmergencyStopTriggered {
    /// Why.
    pub cause: StopCause,
}

/// The emergency stop was cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmergencyStopCleared {
    /// Who cleared it.
    pub cleared_by: String,
}

/// Somebody wants the model to be asked again now. All pauses end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryRequested {
    /// Who.
    pub requested_by: String,
}
