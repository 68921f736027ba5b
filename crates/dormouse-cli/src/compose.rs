//! Composing a host: log, world, model, assistant and player.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use dormouse::{
    ContinuityError, SystemClock, SystemRandom, WorldContinuity, check_world, resident_id,
};
use dormouse_contracts::{AssistantId, ChatModel, Clock, EntityId, IdError, Timestamp};
use dormouse_engine::{
    Assistant, AssistantConfig, Handle, OutOfRange, Pauses, Ports, Recorded, Switch, ToolCalling,
    WakeError,
};
use dormouse_memory::Memory;
use dormouse_providers::{Accounts, GuardedModel, warm};
use dormouse_sandbox::{Character, CharacterKind, JoinError, Sandbox};
use dormouse_store::RedbLog;
use tokio::sync::mpsc;

use crate::{
    command::{Mismatch, check_follows},
    config::{Config, unmatched},
    data::{DataError, DataFolder},
    dialects::{Dialects, Learning},
    provider::{Models, ProviderError},
    recall::{self, RecallError},
};

/// How many events may wait to be printed before the assistant waits.
const WATCHED: usize = 256;

/// Everything that `play` needs, opened and awake. Nothing runs yet.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) log: RedbLog,
    pub(crate) memory: Memory,
    pub(crate) sandbox: Sandbox,
    pub(crate) assistant: Assistant,
    pub(crate) handle: Handle,
    pub(crate) events: mpsc::Receiver<Arc<Recorded>>,
    pub(crate) key: AssistantId,
    pub(crate) resident: Character,
    pub(crate) player: Character,
    pub(crate) continuity: WorldContinuity,
    /// Its models.
    pub(crate) models: Vec<GuardedModel>,
    /// After how long a sender is notified that the answer takes longer.
    pub(crate) slow_after: Duration,
    /// The usage of its models.
    pub(crate) accounts: Accounts,
    /// What is learnt about its models during the visit.
    pub(crate) learning: Learning,
}

/// The host could not be composed. Existing files are unchanged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ComposeError {
    /// The data folder cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The log cannot be opened.
    #[error(transparent)]
    Log(#[from] dormouse_store::LogOpenError),
    /// The memory cannot be opened.
    #[error("the memory cannot be opened")]
    Memory(#[from] dormouse_memory::MemoryOpenError),
    /// The memory does not belong to this log.
    #[error(transparent)]
    Mismatch(#[from] Box<Mismatch>),
    /// Its encoder or vector index cannot be used.
    #[error(transparent)]
    Recall(#[from] RecallError),
    /// The world cannot be opened.
    #[error("the world cannot be opened")]
    World(#[from] dormouse_sandbox::SandboxOpenError),
    /// Log and world do not belong together.
    #[error(transparent)]
    Continuity(#[from] ContinuityError),
    /// Somebody's name cannot be used in the world.
    #[error("{name:?} cannot be the name of {whose}")]
    Join {
        /// Whose name: `the assistant` or `the player`.
        whose: &'static str,
        /// The name.
        name: String,
        /// Why not.
        source: JoinError,
    },
    /// A name is not a valid id.
    #[error("the name cannot be used")]
    Id(#[from] IdError),
    /// The model cannot be made.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// A limit is out of range.
    #[error(transparent)]
    Limits(#[from] OutOfRange),
    /// The assistant's log cannot be folded, or its tools conflict.
    #[error("the assistant cannot be woken")]
    Wake(#[from] WakeError),
}

/// Opens everything and wakes the assistant.
pub(crate) async fn host(
    data: &DataFolder,
    config: &Config,
    models: Models,
    tool_calling: Option<ToolCalling>,
    player: &str,
) -> Result<Host, ComposeError> {
    data.create()?;
    for warning in unmatched(&config.classify, &config.memory) {
        tracing::warn!("{warning}");
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // The log is opened first: another process would hold it, and it must not be lost. The process that has it open
    // owns the folder.
    let log_was_missing = is_missing(&data.log());
    let log = RedbLog::open(&data.log())?;
    let key = config.assistant.key();
    // Declared after the log, so that a file is removed while the log still keeps other processes out.
    let mut new_files = NewFiles::default();
    new_files.add(data.log(), log_was_missing && is_empty(&log));
    new_files.add(data.world(), is_missing(&data.world()));
    new_files.add(data.memory(&key), is_missing(&data.memory(&key)));
    let sandbox = Sandbox::open(&data.world(), Arc::clone(&clock))?;
    let Models {
        model,
        each,
        accounts,
        counter,
        window,
        timeout,
        retry_budget,
        ..
    } = models;
    let (book, trouble) = Dialects::open(&data.dialects());
    let (provider, name) = model.identity();
    let configured = tool_calling.or(config.provider.tool_calling);
    let offered = configured.unwrap_or_else(|| book.learnt(provider, name).calling);
    let learning = Learning::new(book, offered, configured, trouble);
    let cold = Arc::clone(&counter);
    // The first count loads the vocabulary; better now than with the first message.
    drop(tokio::task::spawn_blocking(move || warm(&*cold)));
    let memory = recall::memory_builder(config)?.counter(Arc::clone(&counter) as _);
    let memory = memory.open(data.memory(&key)).await?;
    check_follows(data, &log, &memory).await?;
    let ports = Ports {
        log: Arc::new(log.clone()),
        model: Arc::new(model),
        world: Arc::new(sandbox.clone()),
        clock,
        random: Arc::new(SystemRandom::default()),
        counter,
        memory: memory.clone(),
    };
    let mut settings = assistant_config(config, offered, window)?;
    settings.model_timeout = timeout;
    settings.retry_budget = retry_budget;
    let slow_after = settings.slow_after;
    let (assistant, handle) = Assistant::wake(settings, sandbox.tools(), ports).await?;
    keep_pausing(&each, &assistant.state().services.pauses, SystemClock.now());
    let continuity = check_world(&sandbox, &key, assistant.state()).await?;
    let (watcher, events) = mpsc::channel(WATCHED);
    let resident = Character {
        id: resident_id(&key)?,
        name: config.assistant.name(),
        kind: CharacterKind::Assistant(key.clone()),
    };
    let player = Character {
        id: EntityId::try_new(format!("player:{}", player.to_lowercase()))?,
        name: player.to_owned(),
        kind: CharacterKind::Player,
    };
    join(&sandbox, "the assistant", &resident).await?;
    join(&sandbox, "the player", &player).await?;
    new_files.keep();
    Ok(Host {
        log,
        memory,
        sandbox,
        assistant: assistant.watched_by(watcher),
        handle,
        events,
        key,
        resident,
        player,
        continuity,
        models: each,
        slow_after,
        accounts,
        learning,
    })
}

/// Files that did not exist before. They are removed unless they are kept: a failed start leaves the folder as it was.
#[derive(Debug, Default)]
struct NewFiles(Vec<PathBuf>);

impl NewFiles {
    fn add(&mut self, file: PathBuf, is_new: bool) {
        if is_new {
            self.0.push(file);
        }
    }

    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for file in &self.0 {
            // A file that was not created yet need not be removed.
            if let Err(error) = fs::remove_file(file)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, file = %file.display(), "a new file is left behind");
            }
        }
    }
}

fn is_missing(file: &Path) -> bool {
    // A dangling link counts as present.
    fs::symlink_metadata(file).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Whether nobody has written into the log. Another process may have created it just now, and used it.
fn is_empty(log: &RedbLog) -> bool {
    log.assistants().is_ok_and(|known| known.is_empty())
}

/// A pause also applies after a restart, so that failover skips the paused service.
fn keep_pausing(models: &[GuardedModel], pauses: &Pauses, now: Timestamp) {
    for pause in pauses.at(now) {
        let asked = |model: &&GuardedModel| model.services().contains(&pause.by);
        for model in models.iter().filter(asked) {
            model.guard().pause(pause.until.since(now));
        }
    }
}

async fn join(
    sandbox: &Sandbox,
    whose: &'static str,
    character: &Character,
) -> Result<(), ComposeError> {
    let joined = sandbox.join(character.clone()).await;
    joined.map_err(|source| ComposeError::Join {
        whose,
        name: character.name.clone(),
        source,
    })
}

/// The configuration of the engine. Flags take precedence over the file.
fn assistant_config(
    config: &Config,
    tool_calling: ToolCalling,
    window: Option<u32>,
) -> Result<AssistantConfig, OutOfRange> {
    let mut settings = AssistantConfig::new(config.assistant.key());
    settings.name = Some(config.assistant.name());
    if let Some(apology) = &config.assistant.apology {
        settings.apology.clone_from(apology);
    }
    if let Some(sentence) = &config.assistant.broken_off {
        settings.broken_off.clone_from(sentence);
    }
    if let Some(notice) = &config.assistant.outage_notice {
        settings.outage_notice.clone_from(notice);
    }
    if let Some(notice) = &config.assistant.wait_notice {
        settings.wait_notice.clone_from(notice);
    }
    if let Some(persona) = &config.assistant.persona {
        settings.persona.clone_from(persona);
    }
    settings.switch = if config.assistant.enabled {
        Switch::Enabled
    } else {
        Switch::Disabled
    };
    settings.classify = config.classify.clone();
    settings.pattern = config.execution.pattern();
    settings.limits = config.limits.limits(window)?;
    settings.tool_calling = tool_calling;
    settings.temperature = config.provider.temperature.map(|number| number.0);
    settings.top_p = config.provider.top_p.map(|number| number.0);
    settings.max_tokens = config.provider.max_tokens.map(|number| number.0);
    settings.reasoning_effort = config.provider.reasoning_effort;
    settings.extra_params.clone_from(&config.provider.extra);
    if let Some(seconds) = config.provider.retry_for {
        settings.retry_for = seconds.0;
    }
    if let Some(seconds) = config.limits.slow_after {
        settings.slow_after = seconds.0;
    }
    if let Some(tokens) = config.memory.tokens {
        settings.memory_tokens = tokens.0;
    }
    if let Some(timeout) = config.memory.timeout {
        settings.recall_timeout = timeout.0;
    }
    settings.privacy = config.memory.privacy;
    settings.secrets_in_log = config.memory.secrets_in_log;
    settings
        .public_channels
        .clone_from(&config.memory.public_channels);
    settings
        .public_places
        .clone_from(&config.memory.public_places);
    if let Some(trust) = config.memory.quote_trust {
        settings.quote_trust = trust;
    }
    if let Some(trust) = config.memory.dangerous_trust {
        settings.dangerous_trust = trust;
    }
    settings.sender_history = config.trust.sender_history;
    settings.independent_accounts = config.trust.independent_accounts;
    Ok(settings)
}
