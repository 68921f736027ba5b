//! The turn that a request continues, as data.

use serde::{Deserialize, Serialize};

use crate::{
    ids::{AssistantId, EntityId, ToolName},
    perception::Perception,
    time::Timestamp,
};

/// The subject of a request as data, for a rule-based model, which does not read the messages.
///
/// It repeats the content of the messages: it has nothing that they do not show. It is never sent to a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnContext {
    /// Who the assistant is.
    #[serde(default)]
    pub persona: Persona,
    /// What calls for the turn.
    pub trigger: TurnTrigger,
    /// The tools that the instructions list as text, for a model that is offered none natively. Empty where
    /// [`ChatRequest::tools`](crate::ChatRequest::tools) offers them.
    pub tools_in_text: Vec<ToolName>,
    /// The replies of the model so far, in order.
    pub steps: Vec<TurnStep>,
    /// The latest finished turns that the messages show, oldest first; at most [`TurnContext::MOST_EARLIER`].
    #[serde(default)]
    pub earlier: Vec<EarlierTurn>,
}

impl TurnContext {
    /// The most finished turns.
    pub const MOST_EARLIER: usize = 4;

    /// A turn at its beginning, without steps and without earlier turns.
    #[must_use]
    pub fn new(trigger: TurnTrigger) -> Self {
        Self {
            persona: Persona::default(),
            trigger,
            tools_in_text: Vec::new(),
            steps: Vec::new(),
            earlier: Vec::new(),
        }
    }
}

/// Who an assistant is, in the words of its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    /// What people call it; empty if that is not known.
    pub name: String,
    /// The instructions that say who it is and how it behaves.
    pub text: String,
}

/// What calls for a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnTrigger {
    /// Somebody said something.
    Message(Box<Perception>),
    /// The moment came for something that the assistant means to do for somebody.
    Due(DueAction),
    /// Another assistant gives this one a task, or a task that this one gave away has ended.
    Task(AssistantTask),
}

impl From<Perception> for TurnTrigger {
    fn from(perception: Perception) -> Self {
        Self::Message(Box::new(perception))
    }
}

/// A task that goes from one assistant to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantTask {
    /// The other assistant: the one that gives the task, or the one that was given it; absent if nobody was given it.
    pub other: Option<AssistantId>,
    /// The words of the task.
    pub task: String,
    /// How a task that another assistant was given has ended; absent for a task that is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<TaskReport>,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskReport {
    /// It was done, with this result.
    Done(String),
    /// It was not done, for this reason.
    NotDone(String),
}

/// Something that the assistant means to do for somebody, at a moment that has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueAction {
    /// For whom.
    pub entity: EntityId,
    /// The name of that entity, for display only.
    pub name: String,
    /// What is to be done.
    pub description: String,
    /// The moment.
    pub due_at: Timestamp,
    /// If it is due because this entity came or left: how the world describes that, as in "goes north to the Garden."
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movement: Option<String>,
}

/// One reply of a model, and the results of its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStep {
    /// The text of the reply.
    pub text: String,
    /// The calls of the reply, in order.
    pub calls: Vec<TurnCall>,
}

/// A call that a model made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCall {
    /// The name the model used; there may be no such tool.
    pub tool: String,
    /// The arguments as the model wrote them; they need not be JSON.
    #[serde(default)]
    pub arguments: String,
    /// The result as JSON text, once there is one.
    pub result: Option<String>,
}

/// A finished turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierTurn {
    /// What called for it.
    pub trigger: TurnTrigger,
    /// The replies of the model, in order.
    pub steps: Vec<TurnStep>,
}
