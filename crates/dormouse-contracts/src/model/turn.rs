//! The turn that a request continues, as data.

use serde::{Deserialize, Serialize};

use crate::{ids::ToolName, perception::Perception};

/// The subject of a request as data, for a model that follows rules instead of reading the messages.
///
/// It repeats the content of the messages. It is never sent to a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnContext {
    /// The perception to answer.
    pub trigger: Perception,
    /// The tools that the instructions list as text, for a model that is offered none natively. Empty where
    /// [`ChatRequest::tools`](crate::ChatRequest::tools) offers them.
    pub tools_in_text: Vec<ToolName>,
    /// The replies of the model so far, in order.
    pub steps: Vec<TurnStep>,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCall {
    /// The name the model used; there may be no such tool.
    pub tool: String,
    /// The result as JSON text, once there is one.
    pub result: Option<String>,
}
