//! An assistant in memory, to be measured or to make events.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, ChatModel, Perception};
use dormouse_engine::{AdmissionSettings, AssistantConfig, Limits, Ports, Rest};
use dormouse_memory::Memory;
use dormouse_providers::Estimate;
use dormouse_testing::{FakeWorld, FixedRandom, MemoryLog};
use dormouse_tests::{Resident, RunningClock};
use serde_json::json;

/// An assistant over a log and a world in memory.
pub(crate) struct Life {
    pub(crate) log: MemoryLog,
    pub(crate) resident: Resident,
}

pub(crate) fn key() -> AssistantId {
    AssistantId::try_new("dormouse").unwrap()
}

impl Life {
    /// Wakes it with prompts of at most so many earlier turns. It answers every message, however fast they come.
    pub(crate) async fn begin(model: Arc<dyn ChatModel>, max_history: usize) -> Self {
        Self::begin_admitting(model, max_history, AdmissionSettings::off()).await
    }

    /// The same, and with these limits on how much one sender may ask.
    pub(crate) async fn begin_admitting(
        model: Arc<dyn ChatModel>,
        max_history: usize,
        admission: AdmissionSettings,
    ) -> Self {
        let (log, world) = (MemoryLog::new(), FakeWorld::new());
        world.answer(
            "inspect_location",
            json!({"room": "Attic", "exits": ["down"]}),
        );
        let mut config = AssistantConfig::new(key());
        let limits = Limits::default().with_max_history(max_history).unwrap();
        // Models of measurements look at the same place again and again.
        config.limits = limits.with_max_repeated_calls(100).unwrap();
        config.admission = admission;
        let clock = RunningClock::start();
        let memory = Memory::builder(key(), clock).ephemeral().unwrap();
        let ports = Ports {
            log: Arc::new(log.clone()),
            model,
            world: Arc::new(world),
            clock: Arc::new(clock),
            random: Arc::new(FixedRandom::new(0.5)),
            counter: Arc::new(Estimate::default()),
            memory,
        };
        let resident = Resident::wake(config, FakeWorld::tools(), ports).await;
        Self { log, resident }
    }

    /// Hands a message over and waits until it is dealt with.
    pub(crate) async fn hear(&self, perception: Perception) {
        self.resident.hear(perception).await;
        assert_eq!(self.resident.handle().at_rest().await, Rest::Settled);
    }
}
