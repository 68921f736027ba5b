//! A life that was lived before there was a memory beside the log.

use dormouse_contracts::{Append, AppendRequest, NewEvent, Seq, Timestamp};
use dormouse_engine::{Event, replay, restore};
use dormouse_testing::{MemoryLog, Perceive, ScriptedTurn};
use serde_json::{Value, json};

use crate::home::{Home, key};

/// The log of the program as it was before, one event a line: two lines are remembered, and asked for.
const LIFE: &str = include_str!("../fixtures/life-before-memory.jsonl");

/// The kinds of events there were, as the log takes them.
const KINDS: [&str; 8] = [
    "perceived",
    "tick_started",
    "replied",
    "tool_answered",
    "remembered",
    "effect_intended",
    "effect_settled",
    "tick_ended",
];

async fn written_to(log: &MemoryLog) {
    for (line, before) in LIFE.lines().zip(0..) {
        let fields: Value = serde_json::from_str(line).unwrap();
        let kind = KINDS.into_iter().find(|kind| fields["kind"] == **kind);
        let event = NewEvent {
            at: Timestamp::from_micros(fields["at"].as_i64().unwrap()),
            kind: kind.unwrap(),
            schema: 1,
            payload: fields["payload"].to_string().into_bytes(),
        };
        let request = AppendRequest {
            assistant: key(),
            expected: Seq(before),
            events: vec![event],
        };
        log.append(request).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn it_folds_and_its_memory_is_filled_from_it() {
    let home = Home::new([
        ScriptedTurn::call(
            "recall_memories",
            json!({"query": "what does Alice prefer?"}),
        ),
        ScriptedTurn::call("noop", json!({})),
    ]);
    written_to(&home.log).await;
    let before = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    assert_eq!(
        (before.remembered, before.seq.0),
        (2, LIFE.lines().count() as u64)
    );

    home.hear(Perceive::whisper("Bob", "what does Alice prefer?").build())
        .await;
    let found = home
        .events()
        .into_iter()
        .rev()
        .find_map(|event| match event {
            Event::ToolAnswered(it) if it.tool == "recall_memories" => Some(it.content),
            _ => None,
        });
    let found: Value = serde_json::from_str(&found.unwrap()).unwrap();
    let memories = found["result"]["memories"].as_array().unwrap();
    let told = memories
        .iter()
        .find(|line| line["text"] == "Alice prefers tea");
    assert_eq!(told.unwrap()["from"], "Visitor", "{found}");
    let whole = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
    let restored = restore(&home.log, &key()).await.unwrap();
    assert_eq!(whole.hash().unwrap(), restored.hash().unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_of_its_program_is_passed_over_and_the_log_folded_anew() {
    use dormouse_contracts::{SaveSnapshot, Snapshot};
    let home = Home::new([]);
    written_to(&home.log).await;
    let old = Snapshot {
        seq: Seq(10),
        schema: 1,
        payload: br#"{"seq":10,"memories":[]}"#.to_vec(),
    };
    home.log.save_snapshot(&key(), old).await.unwrap();
    let state = restore(&home.log, &key()).await.unwrap();
    assert_eq!(state.remembered, 2);
}
