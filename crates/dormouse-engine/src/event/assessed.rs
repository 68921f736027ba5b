//! How hard a task is.

use dormouse_contracts::{ModelErrorKind, ModelName, Usage};
use serde::{Deserialize, Serialize};

use crate::assessment::Assessment;

/// The task of a turn was assessed, before the model is asked for the first time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskAssessed {
    /// The result.
    pub assessment: Assessment,
    /// The call of a model, if one was asked for the complexity. If it gave none, rules did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AssessmentCall>,
}

/// A call of a model for the complexity of a task. Only the number in the reply is kept, not its words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssessmentCall {
    /// What the model was shown: a hash, as in `replied`.
    pub prompt_hash: String,
    /// How many tokens the prompt took, as the engine counts them.
    pub prompt_tokens: u32,
    /// How long the call took, in milliseconds.
    pub duration_ms: f64,
    /// What the model said, or why it said nothing.
    pub outcome: AssessmentOutcome,
}

/// The result of asking a model for the complexity of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssessmentOutcome {
    /// It replied.
    Replied {
        /// The model that answered.
        model: ModelName,
        /// The complexity; absent if the reply cannot be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        complexity: Option<u8>,
        /// How many tokens the reply takes, as the engine counts them.
        tokens: u32,
        /// What the provider counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The call failed. That does not count as an error: rules assess the task.
    Failed(ModelErrorKind),
}
