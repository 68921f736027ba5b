//! What is done about a message, from its first tick to its last.

use dormouse_contracts::{
    Arguments, Audience, CallId, ChatReply, ModelName, Origin, Outcome, Purpose, Seq, Sources,
    Timestamp, ToolCategory, Trust,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;
/// The tool by which a model says that it is done. Calling it is neither a success nor an error.
pub(crate) const NOOP: &str = "noop";

/// Which kind of prompt a tick builds. What each kind has is in the table of [`ContextRow`](crate::ContextRow).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextType {
    /// Something happened, such as a message that waits for an answer.
    #[default]
    TickEvent,
    /// Nothing happened: something became due that the assistant pursues by itself.
    TickAutonomous,
    /// The assistant thinks about itself.
    Reflection,
    /// It continues an interrupted reflection.
    ReflectionCont,
    /// Asleep, it consolidates what it remembers.
    SleepConsolidate,
    /// It divides a goal into smaller ones.
    GoalDecompose,
    /// It extracts facts from what a compaction is about to take out of its prompt.
    PreCompaction,
}

impl ContextType {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    pub(crate) fn is_of_an_event(&self) -> bool {
        *self == Self::TickEvent
    }
}

/// A tick began, because there was a reason to think. It takes up the oldest waiting message, or continues the open
/// turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickStarted {
    /// The number of the tick, counted from 1. Only ticks with a reason count.
    pub tick: u64,
    /// Which kind of prompt it builds.
    pub context: ContextType,
    /// The sequence number of its trigger: a message, or another event that made something due.
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
    /// How many further calls were left out, because one reply may not hold so many. The model learns it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// How many tokens the reply takes when it is shown to the model again.
    pub tokens: u32,
    /// How many tokens the prompt took.
    pub prompt_tokens: u32,
    /// What the model was shown: `2-` and the first 16 hexadecimal digits of the SHA-256 of digests, without further
    /// parameters of the provider. A digest is the first half of the SHA-256 of a JSON text: of everything else in the
    /// request, of its tools, and of each message, in this order. Older logs have no `2-`, and the digits are those of
    /// the SHA-256 of the whole request's JSON.
    pub prompt_hash: String,
    /// How long the call took, retries included, in milliseconds.
    pub duration_ms: f64,
    /// What the request was for: an answer, or something that nobody waits for.
    #[serde(default, skip_serializing_if = "is_answer")]
    pub purpose: Purpose,
    /// The trust of its words when they are shown again: that of their sources.
    pub trust: Trust,
    /// The lowest trust of everything that the prompt showed.
    pub least_shown: Trust,
    /// Whether it was the last step of its turn, in which the model could only speak.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub speech_only: bool,
    /// Who may hear what was made of it, other than the assistant: those who perceived everything that the prompt
    /// showed. A message that was not for the assistant alone does not count: it is answered where it was said. Absent if
    /// anybody may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Audience>,
    /// What the prompt did not show for want of room.
    #[serde(default, skip_serializing_if = "Omitted::is_nothing")]
    pub omitted: Omitted,
    /// The sources of its words, other than the answered message: messages, remembered lines, acts. Absent in older
    /// logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Sources>,
}

/// What a prompt did not show, because the context window had no room for it. A note cannot name it as a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    /// The last finished turn that is left out, by its message; all before it are, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_through: Option<Seq>,
    /// The last overheard line that is left out; all before it are, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_through: Option<Seq>,
    /// Remembered lines that were found for the turn, or looked up in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Origin>,
}

impl Omitted {
    /// Whether everything was shown.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_answer(purpose: &Purpose) -> bool {
    *purpose == Purpose::Answer
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
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

impl Call {
    /// The arguments in the form in which the check of the call reads them.
    pub(crate) fn object(&self) -> Option<Arguments> {
        if self.arguments.trim().is_empty() {
            return Some(Arguments::new());
        }
        match serde_json::from_str(&self.arguments).ok()? {
            Value::Object(object) => Some(object),
            Value::String(inner) => serde_json::from_str(&inner).ok(),
            _ => None,
        }
    }

    /// Whether both have the same arguments, regardless of formatting.
    pub(crate) fn has_arguments_of(&self, other: &Self) -> bool {
        match (self.object(), other.object()) {
            (None, None) => self.arguments == other.arguments,
            (one, another) => one == another,
        }
    }
}

/// A reply could not be read. The note is shown to the model when it is asked again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseFailed {
    /// What was wrong with it, for the model to read.
    pub note: String,
    /// How many tokens the note takes.
    pub tokens: u32,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did what it was called for.
    Success,
    /// It failed; this counts as an error.
    Failure,
    /// It was not made, because the turn had already ended, or its tool is not called for now. This is not an error.
    Skipped,
    /// It was not made yet: it is dangerous and text of low trust was shown, or too many people would have heard it.
    /// The model is asked again. This is not an error.
    Deferred,
}

impl From<&Outcome> for Verdict {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done(_) => Self::Success,
            // Somebody has come meanwhile. The decision could not know that.
            Outcome::Rejected(rejection) if rejection.heard_by.is_some() => Self::Deferred,
            Outcome::Rejected(_) | Outcome::Unknown => Self::Failure,
        }
    }
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
    /// The lowest trust of the remembered lines in it, if it holds any, or what the tool declares of its results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// When the result was obtained, if it is that of an earlier call and was used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Timestamp>,
    /// Whether the tool gave no answer: it panicked, or was late in every attempt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unanswered: bool,
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
    /// The model made the same call with the same result too often.
    RepeatedCall,
    /// The budgets do not allow a further call of the model for now. The turn stays open.
    BudgetSpent,
    /// It was a turn in the assistant's sleep, and the assistant wakes.
    Woken,
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
            Self::RepeatedCall => "repeated_call",
            Self::BudgetSpent => "budget_spent",
            Self::Woken => "woken",
        }
    }
}

/// A tick is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TickEnded {
    /// Why its loop ended.
    pub reason: StopReason,
    /// When to resume the turn, if it stays open (the message is not answered yet).
    pub resume_at: Option<Timestamp>,
    /// Its number. A log from before it was recorded does not have this and the following.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<u64>,
    /// How long it lasted, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// The last tool that it called, if it called any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

impl TickEnded {
    /// The end of a tick for this reason. Its number, its length and what it did are added when it is recorded.
    #[must_use]
    pub fn new(reason: StopReason, resume_at: Option<Timestamp>) -> Self {
        Self {
            reason,
            resume_at,
            tick: None,
            duration_ms: None,
            action: None,
        }
    }
}
