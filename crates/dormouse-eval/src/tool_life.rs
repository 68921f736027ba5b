//! A real assistant with the tools of several servers, and a model that does one task after the other: it calls the tool that
//! the task needs if that is shown, and else searches for it once.

use std::{
    fs, io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, BoxFuture, BoxStream, CallId, ChatDelta, ChatModel, ChatRequest, Clock, Effect,
    EffectInquiry, EntityId, FinishReason, IdError, Inquire, ModelError, ModelName, Observe,
    Outcome, Perform, ProviderId, Query, Rejection, Seq, Timestamp, TokenCounter, ToolDefinition,
    ToolSource, ToolSourceName, ToolSpec, Words, WordsError, WorldError, each_event,
};
use dormouse_engine::{ConfiguredModel, DecideAgainError, ReplayError, decide_again};
use dormouse_host::{
    DataError, DataFolder, Host, HostError, HostSettings,
    config::{Config, ConfigFileError},
    provider::Models,
};
use dormouse_offline::OfflineModel;
use dormouse_providers::{Environment, token_counter_for};
use dormouse_sandbox::{Act, ActError, Character, CharacterKind, JoinError};
use dormouse_tools::NamedToolSource;
use futures_util::stream;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    seeded::Seeded,
    tool_set::{Server, ToolTask},
};

/// Whose tokens are counted: those of a well-known model, with its vocabulary.
const PROVIDER: &str = "openai";
const MODEL: &str = "gpt-4o";
const SEARCH: &str = "tool_search";
const NOOP: &str = "noop";
const SECOND: Duration = Duration::from_secs(1);

/// A life in which tasks are done failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolLifeError {
    #[error("the folder of the assistant could not be written")]
    Folder(#[from] io::Error),
    #[error(transparent)]
    Config(#[from] Box<ConfigFileError>),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Host(#[from] Box<HostError>),
    #[error("the person who asks cannot enter the world")]
    Join(#[from] JoinError),
    #[error("a message cannot be said in the world")]
    Say(#[from] ActError),
    #[error("a message cannot be said in the world")]
    Words(#[from] WordsError),
    #[error(transparent)]
    Id(#[from] IdError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("deciding the life again gave another result")]
    DecideAgain(#[from] Box<DecideAgainError>),
}

/// How a task went.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskRun {
    /// Whether the first request offered the tool.
    pub(crate) at_once: bool,
    /// Whether the model called it in the end, with arguments that fit.
    pub(crate) is_done: bool,
    /// The tokens of the definitions in each request.
    pub(crate) tokens: Vec<u32>,
    /// How many tools the first request offered.
    pub(crate) offered: usize,
}

/// How far the model is with its task.
#[derive(Debug, Default)]
struct Desk {
    tool: String,
    search: String,
    has_searched: bool,
    has_called: bool,
    run: TaskRun,
}

/// The model that does the tasks.
struct TaskModel {
    desk: Arc<Mutex<Desk>>,
    counter: Arc<dyn TokenCounter>,
    provider: ProviderId,
    name: ModelName,
    offline: OfflineModel,
}

impl TaskModel {
    fn decide(&self, request: &ChatRequest) -> (String, Value) {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = serde_json::to_string(&request.tools).unwrap_or_default();
        let tokens = self.counter.count(&listed).tokens;
        let offered = |name: &str| request.tools.iter().find(|it| it.name.as_str() == name);
        let tool = offered(&desk.tool);
        if desk.run.tokens.is_empty() {
            desk.run.at_once = tool.is_some();
            desk.run.offered = request.tools.len();
        }
        desk.run.tokens.push(tokens);
        match (tool, offered(SEARCH)) {
            (Some(tool), _) if !desk.has_called => {
                desk.has_called = true;
                (desk.tool.clone(), arguments(tool))
            }
            (None, Some(_)) if !desk.has_searched => {
                desk.has_searched = true;
                (SEARCH.to_owned(), json!({"query": desk.search}))
            }
            _ => (NOOP.to_owned(), json!({})),
        }
    }
}

/// Arguments that fit the schema of a tool: a value for each parameter that a call needs.
fn arguments(tool: &ToolDefinition) -> Value {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let is_required = |key: &str| {
        let mut names = required.into_iter().flatten();
        names.any(|name| name.as_str() == Some(key))
    };
    let needed = properties.into_iter().flatten();
    let needed = needed.filter(|(key, _)| is_required(key));
    let given = needed.map(|(key, schema)| {
        let value = match schema.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("x"),
        };
        (key.clone(), value)
    });
    Value::Object(given.collect())
}

impl ChatModel for TaskModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        if request.tools.is_empty() {
            return self.offline.stream(request);
        }
        let (name, arguments) = self.decide(request);
        let Ok(id) = CallId::try_new(format!("call_{name}")) else {
            return self.offline.stream(request);
        };
        let index = 0;
        let deltas = [
            ChatDelta::CallStart { index, id, name },
            ChatDelta::CallArguments {
                index,
                fragment: arguments.to_string(),
            },
            ChatDelta::Finished(FinishReason::ToolCalls),
        ];
        Box::pin(stream::iter(deltas.map(Ok)))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.name)
    }
}

/// A server whose tools all answer.
struct Shelf {
    tools: Vec<ToolSpec>,
    desk: Arc<Mutex<Desk>>,
}

impl Observe for Shelf {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.run.is_done |= query.tool.as_str() == desk.tool;
        Box::pin(async { Ok(Ok(json!({"ok": true}))) })
    }
}

impl Perform for Shelf {
    fn perform<'a>(&'a self, _: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        let reason = Rejection::new("all tools here only look");
        Box::pin(async { Ok(Outcome::Rejected(reason)) })
    }
}

impl Inquire for Shelf {
    fn inquire<'a>(&'a self, _: &'a Effect) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async { Ok(EffectInquiry::CannotTell) })
    }
}

impl ToolSource for Shelf {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.clone()
    }
}

/// A clock that only moves between two tasks, in microseconds since 1970.
#[derive(Debug)]
struct TaskClock(AtomicI64);

impl TaskClock {
    fn advance(&self, by: Duration) {
        let next = self.now().plus(by);
        self.0.store(next.as_micros(), Ordering::Relaxed);
    }
}

impl Clock for TaskClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// An assistant that does tasks.
pub(crate) struct ToolLife {
    desk: Arc<Mutex<Desk>>,
    clock: Arc<TaskClock>,
    host: Host,
    key: AssistantId,
    speaker: EntityId,
    /// Declared last, so that it is removed after the host has closed its files.
    folder: TempDir,
}

impl ToolLife {
    /// Starts an assistant with the tools of these servers, and with this budget for definitions.
    pub(crate) async fn begin(servers: &[Server], budget: u32) -> Result<Self, ToolLifeError> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("dormouse.toml");
        fs::write(&file, format!("[tools]\ndefinition_tokens = {budget}\n"))?;
        let config = Config::load(Some(&file), &file, []).map_err(Box::new)?.0;
        let (provider, name) = (ProviderId::try_new(PROVIDER)?, ModelName::try_new(MODEL)?);
        let desk = Arc::new(Mutex::new(Desk::default()));
        let model = TaskModel {
            desk: Arc::clone(&desk),
            counter: token_counter_for(&provider, &name),
            provider,
            name,
            offline: OfflineModel::new(),
        };
        // An evening in November 2026.
        let clock = Arc::new(TaskClock(AtomicI64::new(1_795_219_200_000_000)));
        let environment = Environment::of(|_| None);
        let mut settings =
            HostSettings::with_models(config, environment, Models::of(Arc::new(model)));
        settings.learns = false;
        settings.clock = Arc::clone(&clock) as _;
        settings.random = Arc::new(Seeded::new(1));
        for server in servers {
            settings.tool_sources.push(NamedToolSource {
                name: ToolSourceName::try_new(server.name.as_str())?,
                source: Arc::new(Shelf {
                    tools: server.tools.clone(),
                    desk: Arc::clone(&desk),
                }),
            });
        }
        let key = settings.config.assistant.key();
        let host = Host::open(settings, &DataFolder::at(folder.path())?).await;
        let host = host.map_err(Box::new)?;
        let speaker = EntityId::try_new("player:alice")?;
        let character = Character {
            id: speaker.clone(),
            name: "Alice".to_owned(),
            kind: CharacterKind::Player,
        };
        host.world().join(character).await?;
        let mut life = Self {
            desk,
            clock,
            host,
            key,
            speaker,
            folder,
        };
        life.settle().await?;
        Ok(life)
    }

    /// Lets somebody ask for this.
    pub(crate) async fn ask(&mut self, task: &ToolTask) -> Result<TaskRun, ToolLifeError> {
        *self.desk() = Desk {
            tool: task.tool.clone(),
            search: task.search.clone(),
            ..Desk::default()
        };
        self.clock.advance(SECOND);
        let act = Act::SayTo {
            to: self.host.config().assistant.name(),
            words: Words::try_new(task.message.as_str())?,
        };
        self.host.world().act(&self.speaker, act).await?;
        self.settle().await?;
        Ok(std::mem::take(&mut self.desk().run))
    }

    fn desk(&self) -> std::sync::MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the assistant do everything that it can do now.
    async fn settle(&mut self) -> Result<(), ToolLifeError> {
        loop {
            let due = Box::pin(self.host.live_through(&self.key)).await;
            let due = due.map_err(Box::new)?;
            if due.is_none_or(|due| due > self.clock.now()) {
                return Ok(());
            }
            // What is due now and could not be done would be tried for ever at the same moment.
            self.clock.advance(SECOND);
        }
    }

    /// How often other tools were chosen. Makes every decision again, too, as `dormouse log replay --decide` does.
    pub(crate) async fn choices(&self) -> Result<u64, ToolLifeError> {
        let counter_for = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
        let log = self.host.log();
        let again = Box::pin(decide_again(log, &self.key, Seq(u64::MAX), counter_for)).await;
        again.map_err(Box::new)?;
        let mut choices = 0;
        each_event(log, &self.key, Seq(1).., |stored| {
            choices += u64::from(stored.kind == "tools_offered");
            Ok::<_, ReplayError>(())
        })
        .await?;
        Ok(choices)
    }

    pub(crate) async fn end(self) {
        self.host.close().await;
        drop(self.folder);
    }
}
