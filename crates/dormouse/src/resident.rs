//! An assistant in a data folder, with the default log, memory and world.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_contracts::{AssistantId, ChatModel, Clock, EntityId, IdError, Perception};
use dormouse_engine::{
    Accepted, Assistant, AssistantConfig, Handle, PerceiveError, Ports, RunError, WakeError,
};
use dormouse_memory::{Memory, MemoryBuilder};
use dormouse_offline::OfflineModel;
use dormouse_providers::token_counter_for;
use dormouse_sandbox::{Act, ActError, Character, CharacterKind, FeedError, JoinError, Sandbox};
use dormouse_store::RedbLog;
use tokio::task::JoinSet;

use crate::{
    continuity::{ContinuityError, check_world, resident_id},
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
        Ok(Resident {
            sandbox,
            memory,
            handle,
            body,
            heard,
            running,
        })
    }
}

/// An assistant that lives in a data folder, in the sandbox world.
#[derive(Debug)]
pub struct Resident {
    sandbox: Sandbox,
    memory: Memory,
    handle: Handle,
    body: EntityId,
    heard: u64,
    running: JoinSet<Result<(), RunError>>,
}

impl Resident {
    /// Starts to configure the assistant with this key, whose data are kept in `folder`.
    #[must_use]
    pub fn builder(folder: impl AsRef<Path>, key: AssistantId) -> ResidentBuilder {
        ResidentBuilder {
            folder: folder.as_ref().to_owned(),
            memory: Memory::builder(key.clone(), SystemClock),
            config: AssistantConfig::new(key),
            model: None,
        }
    }

    /// The world it lives in.
    #[must_use]
    pub fn world(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Its memory. The handle stays usable after the resident is shut down; the file is closed once every handle is dropped.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The handle of the running assistant.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Carries out a player's act, and passes what the assistant perceives of it to the assistant. When this returns, the
    /// accepted messages are on disk; they are answered in the background, and [`Handle::at_rest`] waits for that.
    ///
    /// # Errors
    ///
    /// [`ResidentError`]. If the assistant did not accept a message, the next act delivers it again.
    pub async fn act(
        &mut self,
        player: &EntityId,
        act: Act,
    ) -> Result<Vec<Accepted>, ResidentError> {
        self.sandbox.act(player, act).await?;
        let mut accepted = Vec::new();
        for perception in self.deliveries().await? {
            let number = perception.attested.delivery.number;
            accepted.push(self.handle.perceive(perception).await?);
            self.heard = number;
        }
        Ok(accepted)
    }

    async fn deliveries(&self) -> Result<Vec<Perception>, ResidentError> {
        Ok(self
            .sandbox
            .perceptions(&self.body, self.heard, dormouse_sandbox::FEED_PAGE)
            .await?)
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
        Ok(())
    }
}
