//! An assistant in a data folder, with the default log, memory and world.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_contracts::{AssistantId, ChatModel, Clock, EntityId, IdError};
use dormouse_engine::{
    Accepted, Assistant, AssistantConfig, Handle, PerceiveError, Ports, RunError, WakeError,
};
use dormouse_memory::{Memory, MemoryBuilder};
use dormouse_offline::OfflineModel;
use dormouse_providers::token_counter_for;
use dormouse_sandbox::{Act, ActError, Character, CharacterKind, FeedError, JoinError, Sandbox};
use dormouse_store::RedbLog;
use tokio::{sync::watch, task::JoinSet};

use crate::{
    continuity::{ContinuityError, check_world, resident_id},
    senses::{Senses, Taken},
    system::{SystemClock, SystemRandom},
};

/// A resident could not be started, or a part of it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResidentError {
    /// The data folder cannot be created.
    #[error("the data folder cannot be created")]
    Folder(#[source] std::io::Error),
    /// The event log cannot be opened.
    #[error("the event log cannot be opened")]
    Log(#[from] dormouse_store::LogOpenError),
    /// The world cannot be opened.
    #[error("the world cannot be opened")]
    World(#[from] dormouse_sandbox::SandboxOpenError),
    /// The memory cannot be opened.
    #[error("the memory cannot be opened")]
    Memory(#[from] dormouse_memory::MemoryOpenError),
    /// The world and the log do not belong together.
    #[error("the world and the log cannot be used together")]
    Continuity(#[from] ContinuityError),
    /// A character cannot enter the world.
    #[error("the character cannot enter the world")]
    Join(#[from] JoinError),
    /// A name is not a valid id.
    #[error("the name cannot be used")]
    Id(#[from] IdError),
    /// The assistant cannot be woken.
    #[error("the assistant cannot be woken")]
    Wake(#[from] WakeError),
    /// The act cannot be done in this world.
    #[error("the act cannot be done")]
    Act(#[from] ActError),
    /// What the world delivered cannot be read.
    #[error("the world's deliveries cannot be read")]
    Feed(#[from] FeedError),
    /// The assistant did not accept a message.
    #[error("the assistant did not accept a message")]
    Perceive(#[from] PerceiveError),
    /// The assistant ended by itself.
    #[error("the assistant has ended")]
    Run(#[from] RunError),
    /// The assistant's task was cancelled or panicked.
    #[error("the assistant's task has died")]
    Task(#[from] tokio::task::JoinError),
}

/// The parts of a resident. Created by [`Resident::builder`].
pub struct ResidentBuilder {
    folder: PathBuf,
    config: AssistantConfig,
    model: Option<Arc<dyn ChatModel>>,
    memory: MemoryBuilder,
}

impl std::fmt::Debug for ResidentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResidentBuilder")
            .field("folder", &self.folder)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl ResidentBuilder {
    /// Changes the assistant's configuration.
    #[must_use]
    pub fn configured(mut self, change: impl FnOnce(&mut AssistantConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Uses this chat model instead of the offline model.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.model = Some(model);
        self
    }

    /// Changes the settings of the memory, such as its encoder or its vector index.
    #[must_use]
    pub fn memory(mut self, change: impl FnOnce(MemoryBuilder) -> MemoryBuilder) -> Self {
        self.memory = change(self.memory);
        self
    }

    /// Opens log, memory and world in the folder, creating what is missing, and wakes the assistant. Needs a tokio runtime
    /// with time enabled.
    ///
    /// # Errors
    ///
    /// [`ResidentError`]; existing data are unchanged.
    pub async fn start(self) -> Result<Resident, ResidentError> {
        std::fs::create_dir_all(&self.folder).map_err(ResidentError::Folder)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let log = RedbLog::open(&self.folder.join("log.redb"))?;
        let sandbox = Sandbox::open(&self.folder.join("world.redb"), Arc::clone(&clock))?;
        let key = self.config.key.clone();
        let body = resident_id(&key)?;

        let model = self.model.unwrap_or_else(|| Arc::new(OfflineModel::new()));
        let (provider, name) = model.identity();
        let counter = token_counter_for(provider, name);
        let memory = self.memory.counter(Arc::clone(&counter));
        let memory = memory.open(self.folder.join(format!("memory-{key}.redb")));
        let memory = memory.await?;
        let world = Arc::new(sandbox.clone());
        let random = Arc::new(SystemRandom::default());
        let ports = Ports {
            log: Arc::new(log),
            model,
            world,
            clock,
            random,
            counter,
            memory: memory.clone(),
        };
        let (assistant, handle) = Assistant::wake(self.config, sandbox.tools(), ports).await?;
        check_world(&sandbox, &key, assistant.state()).await?;
        let character = Character {
            id: body.clone(),
            name: key.to_string(),
            kind: CharacterKind::Assistant(key),
        };
        sandbox.join(character).await?;
        let heard = assistant
            .state()
            .delivered
            .last(sandbox.id())
            .unwrap_or_default();
        let mut running = JoinSet::new();
        running.spawn(assistant.run());
        let (senses, taken) = Senses::new(&sandbox, &handle, &body, heard);
        let mut perceiving = JoinSet::new();
        perceiving.spawn(senses.run());
        Ok(Resident {
            sandbox,
            memory,
            handle,
            body,
            taken,
            running,
            perceiving,
        })
    }
}

/// An assistant that lives in a data folder, in the sandbox world. What its character perceives reaches it at any time,
/// in order, until the resident is dropped or shut down.
#[derive(Debug)]
pub struct Resident {
    sandbox: Sandbox,
    memory: Memory,
    handle: Handle,
    body: EntityId,
    taken: watch::Receiver<Taken>,
    running: JoinSet<Result<(), RunError>>,
    perceiving: JoinSet<()>,
}

impl Resident {
    /// Returns a builder for the assistant with this key. Its data are kept in `folder`.
    #[must_use]
    pub fn builder(folder: impl AsRef<Path>, key: AssistantId) -> ResidentBuilder {
        ResidentBuilder {
            folder: folder.as_ref().to_owned(),
            memory: Memory::builder(key.clone(), SystemClock),
            config: AssistantConfig::new(key),
            model: None,
        }
    }

    /// The world in which the assistant lives.
    #[must_use]
    pub fn world(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The assistant's memory. The handle stays usable after the resident is shut down; the file is closed once every
    /// handle is dropped.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The handle of the running assistant.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Carries out a player's act, and waits until the assistant has taken in what it perceives of the act. When this
    /// returns, the accepted messages are on disk. The assistant answers them in the background; [`Handle::at_rest`]
    /// waits for the answers.
    ///
    /// # Errors
    ///
    /// [`ResidentError`]. If the assistant did not accept a message, that is delivered again until it does.
    pub async fn act(
        &mut self,
        player: &EntityId,
        act: Act,
    ) -> Result<Vec<Accepted>, ResidentError> {
        let acted = self.sandbox.act(player, act).await?;
        let to_it = acted
            .deliveries
            .into_iter()
            .filter(|(to, _)| *to == self.body);
        let numbers: BTreeSet<u64> = to_it.map(|(_, number)| number).collect();
        let Some(last) = numbers.last().copied() else {
            return Ok(Vec::new());
        };
        let taken = self.taken.wait_for(|taken| taken.has(last)).await;
        let taken = taken.map_err(|_ended| PerceiveError::Gone)?;
        if let Some(error) = taken.refusal() {
            return Err(error.clone().into());
        }
        Ok(taken.accepted(&numbers))
    }

    /// Saves a snapshot and stops the assistant. The next start continues unfinished work.
    ///
    /// # Errors
    ///
    /// [`ResidentError`] if the assistant had already stopped because of an error.
    pub async fn shut_down(mut self) -> Result<(), ResidentError> {
        self.handle.shut_down().await;
        while let Some(ended) = self.running.join_next().await {
            ended??;
        }
        // It has a handle of the world, whose file is closed with the last one.
        self.perceiving.shutdown().await;
        Ok(())
    }
}
