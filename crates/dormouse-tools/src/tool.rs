//! The interface of a tool that you write.

use std::time::Duration;

use dormouse_contracts::{
    AssistantId, Audience, CachePolicy, Rejection, Speech, ToolCategory, ToolReach, ToolSpec, Trust,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Describes a tool to models and to the engine, except for its arguments. Start with [`ToolInfo::effect`] or
/// [`ToolInfo::query`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInfo {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does, for the model to read.
    pub description: String,
    /// How a call affects the loop.
    pub category: ToolCategory,
    /// Whether it changes something, [`ToolReach::Effect`], or only reads, [`ToolReach::Query`].
    pub reach: ToolReach,
    /// How long one call may take. The engine drops the future of a call that takes longer: an effect is then *unknown*, and
    /// is not repeated; a query has failed.
    pub timeout: Duration,
    /// Whether its results may be used again, if it is a query.
    pub cache: Option<CachePolicy>,
    /// The least trust that everything shown to the model must have when it decides on a call; absent if any trust is
    /// enough.
    pub required_trust: Option<Trust>,
    /// Which argument holds words that somebody hears, who hears them, and which argument names the listener.
    pub speech: Option<Speech>,
}

impl ToolInfo {
    /// A tool that changes something outside of the assistant. Another call may follow in the same tick.
    #[must_use]
    pub fn effect(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            category: ToolCategory::SafeChain,
            reach: ToolReach::Effect,
            timeout: ToolSpec::DEFAULT_TIMEOUT,
            cache: None,
            required_trust: None,
            speech: None,
        }
    }

    /// A tool that only reads. Another call may follow in the same tick.
    #[must_use]
    pub fn query(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            reach: ToolReach::Query,
            ..Self::effect(name, description)
        }
    }
}

/// A tool that you write. A [`Toolbox`](crate::Toolbox) combines several into one source.
///
/// The schema that a model sees is derived from the type that reads the arguments, so the two cannot differ. The doc
/// comments of the type's fields are the descriptions of the arguments.
pub trait Tool: Send + Sync + 'static {
    /// The arguments: a struct with named fields.
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// The description of the tool. Must be the same every time.
    fn info(&self) -> ToolInfo;

    /// Carries out one call of this assistant and returns the result for the model to read, at most 16 KiB of JSON.
    ///
    /// An effect is called at most once for its key. A call that panics, or whose future is dropped, may have done
    /// something: it counts as *unknown*, and is not repeated.
    ///
    /// # Errors
    ///
    /// [`Rejection`]: nothing happened, for this reason.
    fn call(
        &self,
        by: &AssistantId,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Value, Rejection>> + Send;

    /// Who would hear the words of this call, apart from the assistant. Called only for a tool that speaks, right
    /// before the call. If the words are not meant for all of these, the call is rejected. The default is unknown, so
    /// only words that are meant for everybody are said.
    fn listeners(&self, _by: &AssistantId, _arguments: &Self::Arguments) -> Option<Audience> {
        None
    }
}
