//! One turn of an assistant, in memory: a message comes in, a scripted model looks around and answers.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, sync::Arc};

use dormouse_contracts::{AssistantId, Seq, Timestamp};
use dormouse_engine::{Assistant, AssistantConfig, Event, Ports, replay};
use dormouse_memory::Memory;
use dormouse_testing::{
    CountTokens, FakeWorld, FixedRandom, ManualClock, MemoryLog, Perceive, ScriptedModel,
    ScriptedTurn,
};
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let key = AssistantId::try_new("dormouse")?;
    let (log, world) = (MemoryLog::new(), FakeWorld::new());
    world.answer("inspect_location", json!({"room": "Common Room"}));
    let model = ScriptedModel::new([
        ScriptedTurn::call("inspect_location", json!({})),
        ScriptedTurn::call("say", json!({"message": "We are in the common room."})),
    ]);
    let memory = Memory::builder(key.clone(), || Timestamp::EPOCH).ephemeral()?;
    let ports = Ports {
        log: Arc::new(log.clone()),
        model: Arc::new(model),
        world: Arc::new(world),
        clock: Arc::new(ManualClock::new(Timestamp::EPOCH)),
        random: Arc::new(FixedRandom::new(0.5)),
        counter: Arc::new(CountTokens),
        memory,
    };
    let config = AssistantConfig::new(key.clone());
    let (assistant, handle) = Assistant::wake(config, FakeWorld::tools(), ports).await?;

    let mut running = JoinSet::new();
    running.spawn(assistant.run());
    handle
        .perceive(Perceive::addressed("Alice", "where are we?").build())
        .await?;
    handle.at_rest().await;
    handle.shut_down().await;
    running.join_next().await.transpose()?.transpose()?;

    for stored in log.events(&key) {
        println!("{:>3} {}", stored.seq, Event::decode(&stored)?.kind());
    }
    println!("state {}", replay(&log, &key, Seq(u64::MAX)).await?.hash()?);
    Ok(())
}
