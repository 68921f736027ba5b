//! Servers of others as a source of tools.

mod answer;
mod connection;
mod definition;
mod flood;
mod known;
mod requests;
mod server;
mod settings;
mod status;

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use dormouse_contracts::{
    Arguments, AssistantId, BoxFuture, CallId, Effect, EffectInquiry, Inquire, Observe, Outcome,
    Perform, Query, Receipt, Rejection, ToolCall, ToolName, ToolReach, ToolSource, ToolSpec,
    WorldError, WorldErrorKind,
};
use dormouse_tools::{EffectOutcomes, Registry, check_reach};
use serde_json::Value;
use tokio::task::JoinSet;

use definition::{Definition, offer};
use known::KnownTools;
pub use known::{KnownToolsError, McpAgreement};
use requests::SharedModel;
pub use requests::{McpRequestCounts, ModelForServers};
use server::{CallFailure, Server};
pub use settings::{
    McpRequests, McpServer, McpServerError, McpToolPolicy, McpTransport, SecretText,
};
use status::misnamed;
pub use status::{
    AcceptError, AcceptedTool, McpServerState, McpServerStatus, McpToolState, McpToolStatus,
};

/// The tools of servers of the Model Context Protocol, for the assistants of one process.
///
/// A tool is offered under the name of its server, as `<server>_<tool>`, once a person has agreed to its definition
/// ([`McpTools::accept`]). A server is started when one of its tools is called, and serves all assistants. What it says is
/// text that anybody may have written: it is bounded, and as trusted as the settings say.
///
/// No effect is repeated. A call that ended without an answer is unknown, since the protocol has no key that would make it
/// safe to repeat.
pub struct McpTools {
    servers: BTreeMap<String, Arc<Server>>,
    known: Arc<KnownTools>,
    specs: Vec<ToolSpec>,
    registry: Registry,
    routes: BTreeMap<ToolName, Route>,
    outcomes: EffectOutcomes,
    model: SharedModel,
}

/// Where a tool is called.
struct Route {
    server: Arc<Server>,
    /// Its name at the server.
    tool: String,
    /// The digest of the definition that a person agreed to.
    digest: String,
    reach: ToolReach,
}

impl fmt::Debug for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.routes.keys()).finish()
    }
}

impl McpTools {
    /// The tools of these servers to which a person has agreed, as `file` says. Starts no server. The file is made when
    /// something is learnt of a server.
    ///
    /// # Errors
    ///
    /// [`McpServerError`] if the settings of a server are not valid, or the file cannot be read.
    pub fn open(servers: Vec<McpServer>, file: PathBuf) -> Result<Self, McpServerError> {
        let known = Arc::new(KnownTools::at(file));
        let read = known.read()?;
        let mut tools = Self {
            servers: BTreeMap::new(),
            known: Arc::clone(&known),
            specs: Vec::new(),
            registry: Registry::try_new([])?,
            routes: BTreeMap::new(),
            outcomes: EffectOutcomes::default(),
            model: SharedModel::default(),
        };
        for settings in servers {
            settings.check()?;
            let name = settings.name.clone();
            if let Some(why) = &settings.disabled {
                tracing::warn!(server = %name, why, "a server is not used");
            }
            let server = Arc::new(Server::new(
                settings,
                Arc::clone(&known),
                Arc::clone(&tools.model),
            ));
            for tool in misnamed(&read, &name, &server) {
                // A policy for a misspelt name protects nothing.
                tracing::warn!(server = %name, tool, "the configuration names a tool that the server does not have");
            }
            for (tool, known) in read.of(&name) {
                if let Some(definition) = known.in_use() {
                    tools.add(&server, tool, definition);
                }
            }
            if tools.servers.insert(name.clone(), server).is_some() {
                return Err(McpServerError::Twice { server: name });
            }
        }
        tools.registry = Registry::try_new(tools.specs.iter().cloned())?;
        Ok(tools)
    }

    /// Offers a tool, unless the settings leave it out or it cannot be offered; `status` says so.
    fn add(&mut self, server: &Arc<Server>, tool: &str, definition: &Definition) {
        if !server.settings.allows(tool) || server.settings.disabled.is_some() {
            return;
        }
        if let Ok(spec) = offer(&server.settings, tool, definition) {
            let route = Route {
                server: Arc::clone(server),
                tool: tool.to_owned(),
                digest: definition.digest.clone(),
                reach: spec.reach,
            };
            self.routes.insert(spec.name.clone(), route);
            self.specs.push(spec);
        }
    }

    /// Servers that may ask a model ask this one from now on, if there was none before.
    pub fn set_model(&self, model: Arc<dyn ModelForServers>) {
        self.model.set(model).ok();
    }

    /// Starts every server, or this one, and notes what it offers now. What differs from the definitions to which a person
    /// agreed is not offered any more. Returns the servers that could not be asked, with the reason.
    pub async fn ask(&self, server: Option<&str>) -> BTreeMap<String, String> {
        let mut failed = BTreeMap::new();
        let asked = self.servers.iter();
        for (name, asked) in asked.filter(|(name, _)| server.is_none_or(|it| it == *name)) {
            if let Err(error) = asked.connection().await {
                failed.insert(name.clone(), error.to_string());
            }
        }
        failed
    }

    /// Ends all servers together, within a few seconds. A call starts its server again.
    pub async fn close(&self) {
        let mut ends = JoinSet::new();
        for server in self.servers.values().map(Arc::clone) {
            ends.spawn(async move { server.close().await });
        }
        while ends.join_next().await.is_some() {}
    }

    fn route(
        &self,
        name: &ToolName,
        reach: ToolReach,
        arguments: &Arguments,
    ) -> Result<&Route, Rejection> {
        let route = self.routes.get(name);
        check_reach(name, self.registry.get(name.as_str()), reach)?;
        let call = ToolCall {
            id: CallId::try_new("mcp").map_err(|error| Rejection::new(error.to_string()))?,
            name: name.to_string(),
            arguments: Value::Object(arguments.clone()).to_string(),
        };
        let checked = self.registry.check(&call);
        checked.map_err(|error| Rejection::new(error.to_string()))?;
        route.ok_or_else(|| Rejection::new("there is no such tool"))
    }

    async fn carry_out(&self, effect: &Effect) -> Result<Outcome, WorldError> {
        let route = match self.route(&effect.tool, ToolReach::Effect, &effect.arguments) {
            Ok(route) => route,
            Err(rejection) => return Ok(Outcome::Rejected(rejection)),
        };
        let carried_out = async {
            Ok(match call(route, &effect.actor, &effect.arguments).await? {
                Ok(value) => Outcome::Done(Receipt::new(value)),
                Err(rejection) => Outcome::Rejected(rejection),
            })
        };
        self.outcomes.once(&effect.key, carried_out).await
    }
}

async fn call(
    route: &Route,
    assistant: &AssistantId,
    arguments: &Arguments,
) -> Result<Result<Value, Rejection>, WorldError> {
    let called = route
        .server
        .call(assistant, &route.tool, &route.digest, arguments);
    match called.await {
        Ok(value) => Ok(Ok(value)),
        // What only reads did nothing, unless the server got something for it. What else the server did before it failed is
        // not known, so it counts as done.
        Err(CallFailure::Failed { why, given })
            if route.reach == ToolReach::Effect || !given.is_nothing() =>
        {
            let server = &route.server.settings.name;
            let failed = answer::failed(server, &why, &given);
            Ok(Ok(failed))
        }
        Err(CallFailure::Refused(reason) | CallFailure::Failed { why: reason, .. }) => {
            Ok(Err(Rejection::new(reason)))
        }
        Err(CallFailure::Unanswered(why)) => Err(unanswered(why)),
    }
}

fn unanswered(why: String) -> WorldError {
    WorldError::new(WorldErrorKind::Unanswered, Some(why.into()))
}

impl Perform for McpTools {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(self.carry_out(effect))
    }
}

impl Observe for McpTools {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move {
            match self.route(&query.tool, ToolReach::Query, &query.arguments) {
                Ok(route) => call(route, &query.actor, &query.arguments).await,
                Err(rejection) => Ok(Err(rejection)),
            }
        })
    }
}

impl Inquire for McpTools {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        let answer = self.outcomes.inquire(&effect.key);
        Box::pin(async { Ok(answer) })
    }
}

impl ToolSource for McpTools {
    fn specs(&self) -> Vec<ToolSpec> {
        self.specs.clone()
    }
}
