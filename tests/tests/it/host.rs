//! A log and a world in one folder, as the program keeps them.

use std::{path::Path, sync::Arc};

use dormouse_contracts::{AssistantId, ChatModel, EntityId, Perception, Senses, Words};
use dormouse_engine::Ports;
use dormouse_memory::Memory;
use dormouse_providers::token_counter_for;
use dormouse_sandbox::{Act, Character, CharacterKind, Sandbox};
use dormouse_store::RedbLog;
use dormouse_testing::FixedRandom;
use dormouse_tests::RunningClock;

/// A log and a world, opened where the program has them.
pub(crate) struct Host {
    pub(crate) log: RedbLog,
    pub(crate) sandbox: Sandbox,
}

impl Host {
    pub(crate) fn open(data: &Path) -> Self {
        Self {
            log: RedbLog::open(&data.join("log.redb")).expect("the log opens"),
            sandbox: Sandbox::open(&data.join("world.redb"), Arc::new(RunningClock::start()))
                .expect("the world opens"),
        }
    }

    /// Ports for one assistant. Its memory is filled from the log whenever it wakes.
    pub(crate) fn ports(&self, assistant: &AssistantId, model: Arc<dyn ChatModel>) -> Ports {
        let (provider, name) = model.identity();
        Ports {
            counter: token_counter_for(provider, name),
            memory: empty_memory(assistant),
            log: Arc::new(self.log.clone()),
            model,
            world: Arc::new(self.sandbox.clone()),
            clock: Arc::new(RunningClock::start()),
            random: Arc::new(FixedRandom::new(0.5)),
        }
    }

    pub(crate) async fn join(&self, id: &EntityId, name: &str, kind: CharacterKind) {
        let character = Character {
            id: id.clone(),
            name: name.to_owned(),
            kind,
        };
        self.sandbox.join(character).await.expect("one may come in");
    }

    /// Lets `player` whisper, and answers the number of the delivery to `listener`.
    pub(crate) async fn whisper(
        &self,
        player: &EntityId,
        (listener, name): (&EntityId, &str),
        text: &str,
    ) -> u64 {
        let act = Act::Whisper {
            to: name.to_owned(),
            words: Words::try_new(text).unwrap(),
        };
        let acted = self
            .sandbox
            .act(player, act)
            .await
            .expect("the act happens");
        let mut deliveries = acted.deliveries.into_iter();
        deliveries
            .find_map(|(who, number)| (who == *listener).then_some(number))
            .expect("it is delivered")
    }

    /// What `observer` perceived after the delivery `after`; waits until there is something.
    pub(crate) async fn perceived(&self, observer: &EntityId, after: u64) -> Vec<Perception> {
        let perceived = self.sandbox.await_perceptions(observer, after).await;
        perceived.expect("the world tells what was perceived")
    }
}

/// A memory that is filled from a log, or not at all.
pub(crate) fn empty_memory(assistant: &AssistantId) -> Memory {
    let memory = Memory::builder(assistant.clone(), RunningClock::start()).ephemeral();
    memory.expect("a memory without a file has nothing to fail by")
}

pub(crate) fn key(name: &str) -> AssistantId {
    AssistantId::try_new(name).unwrap()
}

pub(crate) fn entity(id: &str) -> EntityId {
    EntityId::try_new(id).unwrap()
}
