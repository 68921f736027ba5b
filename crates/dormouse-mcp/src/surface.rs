//! What a server offers to a client, without the protocol.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

/// What a server offers to one client. The protocol calls it; an implementation knows nothing about the protocol.
///
/// A call that the client cancels, or whose client goes away, is dropped at its next `await`.
pub trait Surface: Send + Sync + 'static {
    /// What the client's model reads about the server as a whole.
    fn instructions(&self) -> String;

    /// The tools that this client may call.
    fn tools(&self) -> Vec<OfferedTool>;

    /// Carries out a call. A tool that is not among [`Surface::tools`] is refused, even if the client calls it.
    fn call(
        &self,
        tool: &str,
        arguments: Value,
        progress: &CallProgress,
    ) -> impl Future<Output = Result<SurfaceAnswer, SurfaceError>> + Send;

    /// Whether there are resources to read.
    fn has_resources(&self) -> bool {
        false
    }

    /// The resources that this client may read.
    fn resources(&self) -> impl Future<Output = Result<Vec<OfferedResource>, SurfaceError>> + Send {
        std::future::ready(Ok(Vec::new()))
    }

    /// Forms of further resources: their `uri` is a template (RFC 6570).
    fn resource_templates(&self) -> Vec<OfferedResource> {
        Vec::new()
    }

    /// Reads a resource.
    fn read(&self, uri: &str) -> impl Future<Output = Result<Value, SurfaceError>> + Send {
        std::future::ready(Err(SurfaceError::no_resource(uri)))
    }

    /// Whether this client may be notified when the resource changes. The client learns the answer, and then relies on
    /// being notified of every change.
    fn accepts_watch(&self, uri: &str) -> bool {
        let _ = uri;
        false
    }

    /// Sends the URI of each of these resources whenever it changes, until nothing can change any more. A reader that does
    /// not take a change in time delays only itself.
    fn watch(
        &self,
        uris: Vec<String>,
        changed: mpsc::Sender<String>,
    ) -> impl Future<Output = ()> + Send {
        drop((uris, changed));
        std::future::ready(())
    }

    /// Begins a session for the client, and returns whether it gets one. Clients before 2026-07-28 need a session,
    /// because they subscribe in one request and are notified on another connection. Called once, when such a client
    /// begins.
    fn begin_session(&self) -> bool {
        false
    }

    /// Notifies the client in its session whenever the resource changes from now on.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Absent`] if the client may not be notified of it, [`SurfaceError::Refused`] if it has no session.
    fn subscribe(&self, uri: &str) -> Result<(), SurfaceError> {
        Err(SurfaceError::no_resource(uri))
    }

    /// Ends the notifications about this resource. Does nothing if the client was not subscribed to it.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Refused`] if it has no session.
    fn unsubscribe(&self, uri: &str) -> Result<(), SurfaceError> {
        Err(SurfaceError::no_resource(uri))
    }

    /// Texts for common uses.
    fn prompts(&self) -> Vec<OfferedPrompt> {
        Vec::new()
    }

    /// Makes a prompt with these arguments.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Arguments`] if there is no such prompt, or its arguments do not fit.
    fn prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<String, SurfaceError> {
        let _ = arguments;
        Err(SurfaceError::Arguments(format!(
            "there is no prompt {name:?}"
        )))
    }
}

/// A tool as clients see it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// Its name.
    pub name: &'static str,
    /// What it does, for a model.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub schema: Map<String, Value>,
    /// What a call changes.
    pub effect: ToolEffect,
}

impl OfferedTool {
    /// A tool whose arguments are of the type `A`.
    #[must_use]
    pub fn new<A: JsonSchema>(
        name: &'static str,
        description: &'static str,
        effect: ToolEffect,
    ) -> Self {
        let schema = match schemars::schema_for!(A).to_value() {
            Value::Object(schema) => schema,
            _ => Map::new(),
        };
        Self {
            name,
            description,
            schema,
            effect,
        }
    }
}

/// What a call of a tool changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolEffect {
    /// Nothing.
    Reads,
    /// It adds something. The same call again adds again.
    Adds,
    /// It removes or stops something.
    Removes,
}

/// A resource as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedResource {
    /// Its address, or the template of one.
    pub uri: String,
    /// Its name, for people.
    pub name: String,
    /// What it holds.
    pub description: &'static str,
}

/// A text that a person chooses in a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedPrompt {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its arguments: name, meaning, and whether it is required.
    pub arguments: Vec<(&'static str, &'static str, bool)>,
}

/// The result of a call: for a program, and for a model to read.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceAnswer {
    /// The result as JSON.
    pub value: Value,
    /// The same as text.
    pub text: String,
}

/// Why a request did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// There is no such tool or prompt, or the arguments of a prompt do not fit: the client is wrong.
    #[error("{0}")]
    Arguments(String),
    /// There is no such resource.
    #[error("{0}")]
    Absent(String),
    /// The tool was found, and the call refused. The model can read why, and call again.
    #[error("{0}")]
    Refused(String),
}

impl SurfaceError {
    /// There is no tool of this name among those that the client may call.
    #[must_use]
    pub fn no_tool(name: &str, offered: &[OfferedTool]) -> Self {
        let names: Vec<_> = offered.iter().map(|tool| tool.name).collect();
        let offered = match names.is_empty() {
            true => "no tool at all".to_owned(),
            false => names.join(", "),
        };
        Self::Arguments(format!("there is no tool {name:?}; offered: {offered}"))
    }

    /// There is no resource with this URI.
    #[must_use]
    pub fn no_resource(uri: &str) -> Self {
        Self::Absent(format!("there is no resource {uri:?}"))
    }
}

/// Names of types for people who write JSON, not Rust.
const PLAIN: [(&str, &str); 8] = [
    ("a string", "a text"),
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("a boolean", "true or false"),
    ("f32", "a number"),
    ("u32", "a whole number from 0 on"),
    ("u64", "a whole number from 0 on"),
    ("string or map", "a text"),
];

/// Reads the arguments of a call.
///
/// # Errors
///
/// [`SurfaceError::Refused`] names the argument that does not fit, and what was expected. It is for the model, which can call again.
pub fn read_arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, SurfaceError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let problem = error.inner().to_string();
        let problem = match problem.rsplit_once(", expected ") {
            Some((found, expected)) => {
                let plain = PLAIN.iter().find(|(name, _)| *name == expected);
                let expected = plain.map_or(expected, |(_, plain)| *plain);
                format!("{found}, expected {expected}")
            }
            None => problem,
        };
        let path = error.path();
        SurfaceError::Refused(match path.iter().next() {
            Some(_) => format!("the argument {path} does not fit: {problem}"),
            None => format!("the arguments do not fit: {problem}"),
        })
    })
}

/// Says how far a call is, to a client that asked for it.
pub struct CallProgress(pub(crate) Option<Box<dyn ReportProgress>>);

/// How progress reaches the client.
pub(crate) trait ReportProgress: Send + Sync {
    fn report(&self, message: String) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

impl CallProgress {
    /// Reports that the call got further. Does nothing if the client did not ask for reports.
    pub async fn report(&self, message: impl Into<String> + Send) {
        if let Some(it) = &self.0 {
            it.report(message.into()).await;
        }
    }
}

impl fmt::Debug for CallProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallProgress")
            .field("is_wanted", &self.0.is_some())
            .finish()
    }
}
