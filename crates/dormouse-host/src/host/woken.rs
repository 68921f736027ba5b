//! One assistant, woken with its memory, models and world. It does not run yet.

use std::{sync::Arc, time::Duration};

use dormouse_contracts::{AssistantId, ChatModel, EntityId, Habitat, Timestamp};
use dormouse_engine::{Assistant, AssistantConfig, Handle, Pauses, Ports, State};
use dormouse_memory::Memory;
use dormouse_providers::GuardedModel;
use tokio::sync::watch;

use super::{
    Host, Shared, SharedModels,
    carrier::{carry, left_from_before},
    error::{HostError, check_follows},
    new_files::{NewFiles, is_missing},
    running::Running,
};
use crate::{
    continuity::{WorldContinuity, check_world},
    pump::{OnAccepted, Pump, Pumped},
    settings::assistant_config,
    tail::Tail,
};

/// An assistant that is awake and does not run yet. Dropping it leaves the folder as it was.
#[derive(Debug)]
pub struct Woken {
    /// Its key.
    pub key: AssistantId,
    /// Its character in the world.
    pub character: EntityId,
    /// The name of its character.
    pub name: String,
    /// Whether it has been in this world before.
    pub continuity: WorldContinuity,
    /// Its memory.
    pub memory: Memory,
    /// Its handle.
    pub handle: Handle,
    /// Its events, from now on.
    pub events: Tail,
    /// After how long a sender is notified that the answer takes longer.
    pub slow_after: Duration,
    assistant: Assistant,
    new_files: NewFiles,
    shared: Arc<Shared>,
}

impl Woken {
    /// The state with which it woke.
    #[must_use]
    pub fn state(&self) -> &State {
        self.assistant.state()
    }

    /// Starts it: it thinks and acts, receives what its world delivers, and learns from its models. `on_accepted` is
    /// called with each message. From now on new files are kept.
    #[must_use]
    pub fn start(self, on_accepted: OnAccepted) -> Running {
        let (shared, handle) = (Arc::clone(&self.shared), self.handle.clone());
        let (key, left) = (self.key.clone(), left_from_before(self.state()));
        let events = self.events.again();
        let (assistant, pump) = self.into_parts(on_accepted);
        let carrier = carry(Arc::clone(&shared), key, left, events.again());
        Running::start(
            &shared,
            (assistant, handle),
            pump,
            (events, Box::pin(carrier)),
        )
    }

    /// The assistant, and the pump that hands it its perceptions. From now on new files are kept.
    pub(super) fn into_parts(
        mut self,
        on_accepted: OnAccepted,
    ) -> (Assistant, (Pump, watch::Receiver<Pumped>)) {
        self.new_files.keep();
        self.shared.keep_files();
        let world = &self.shared.world;
        let state = self.assistant.state();
        let heard = state.delivered.last(world.id()).unwrap_or_default();
        let pump = Pump::new(world, &self.handle, &self.character, heard, on_accepted);
        (self.assistant, pump)
    }
}

impl<W: ?Sized> Host<W> {
    /// Wakes an assistant with its memory, its models and its character in the world, without letting it run.
    ///
    /// # Errors
    ///
    /// [`HostError`]; files that did not exist before are removed again.
    pub async fn prepare(&self, key: &AssistantId) -> Result<Woken, HostError> {
        let woken = self.shared.prepare(key, 0).await?;
        self.shared.note_alone(key, &woken.handle);
        Ok(woken)
    }
}

impl Shared {
    /// Its memory may be so many events `behind` the log on disk.
    pub(super) async fn prepare(
        self: &Arc<Self>,
        key: &AssistantId,
        behind: u64,
    ) -> Result<Woken, HostError> {
        let shared = self;
        let data = &shared.folder;
        data.remove_memory_being_made(key)?;
        let mut new_files = NewFiles::default();
        new_files.add(data.memory(key), is_missing(&data.memory(key)));
        let memory = shared.recall.builder(key, Arc::clone(&shared.clock));
        let memory = memory.counter(Arc::clone(&shared.models.counter) as _);
        let memory = memory.behind(behind);
        let memory = memory.open(data.memory(key)).await?;
        check_follows(data, &shared.log, &memory).await?;
        let tools = shared.tools();
        let ports = Ports {
            log: Arc::new(shared.log.clone()),
            model: Arc::clone(&shared.models.model),
            world: Arc::clone(&tools.router) as _,
            clock: Arc::clone(&shared.clock),
            random: Arc::clone(&shared.random),
            counter: Arc::clone(&shared.models.counter) as _,
            memory: memory.clone(),
        };
        let configure = {
            let (shared, key) = (Arc::clone(shared), key.clone());
            move |state: &State| shared.assistant_config(&key, state)
        };
        let woken = Assistant::wake_as(key, configure, tools.compiled()?, ports);
        // An assistant with its state is large, and many futures wait for one.
        let (assistant, handle) = Box::pin(woken).await?;
        if let Some(archived) = &assistant.state().roster.archived {
            return Err(HostError::Archived {
                assistant: key.clone(),
                archived: archived.clone(),
            });
        }
        let pauses = &assistant.state().services.pauses;
        keep_pausing(&shared.models.each, pauses, shared.clock.now());
        let continuity = check_world(&*shared.world, key, assistant.state()).await?;
        let character = shared.world.character(key)?;
        let AssistantConfig {
            name, slow_after, ..
        } = assistant.config();
        let (name, slow_after) = (name.clone(), *slow_after);
        let name = name.unwrap_or_else(|| key.to_string());
        admit(&*shared.world, key, &name).await?;
        Ok(Woken {
            key: key.clone(),
            character,
            name,
            continuity,
            memory,
            events: Tail::of_running(&shared.log, key, &handle),
            handle,
            slow_after,
            assistant,
            new_files,
            shared: Arc::clone(shared),
        })
    }
}

impl Shared {
    /// The configuration of the engine for an assistant in this state.
    fn assistant_config(
        &self,
        key: &AssistantId,
        state: &State,
    ) -> Result<AssistantConfig, HostError> {
        let SharedModels {
            window,
            price,
            timeout,
            retry_budget,
            ..
        } = &self.models;
        let config = &self.config;
        let settings = assistant_config(config, key, state, self.offered, *window, *price)?;
        Ok(AssistantConfig {
            model_timeout: *timeout,
            retry_budget: retry_budget.clone(),
            ..settings
        })
    }
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

async fn admit(world: &dyn Habitat, key: &AssistantId, name: &str) -> Result<(), HostError> {
    let admitted = world.admit(key, name).await;
    admitted.map_err(|source| HostError::Join {
        whose: "the assistant",
        name: name.to_owned(),
        source,
    })
}
