//! Binding a memory to a log that is not the one it was made of.

use dormouse_contracts::{Append, AppendRequest, AssistantId, Seq};
use dormouse_engine::{
    Assistant, CatchUpError, Event, Rebound, WakeError, catch_up, check_log, rebind,
};
use dormouse_memory::Memory;
use dormouse_testing::{FakeWorld, MemoryLog, Perceive, ScriptedModel, ScriptedTurn};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    home::{Home, in_virtual_time, key, minutes},
    memory::a_life,
};

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

/// A model that remembers, speaks and looks around in turn.
fn lively() -> ScriptedModel {
    let turns = (0..60).map(|number| match number % 3 {
        0 => ScriptedTurn::call("store_memory", json!({"text": "somebody likes numbers"})),
        1 => ScriptedTurn::call("whisper", json!({"to": "Bob", "message": "so do I"})),
        _ => noop(),
    });
    ScriptedModel::new(turns).then_for_ever(noop())
}

/// A log with the first `count` events of another one.
async fn set_back(log: &MemoryLog, count: usize) -> MemoryLog {
    let shorter = MemoryLog::new();
    let events = log.events(&key()).into_iter().take(count);
    let events: Vec<_> = events
        .map(|stored| Event::decode(&stored).unwrap().encode(stored.at).unwrap())
        .collect();
    if !events.is_empty() {
        let request = AppendRequest {
            assistant: key(),
            expected: Seq(0),
            events,
        };
        shorter.append(request).await.unwrap();
    }
    shorter
}

/// What a memory holds: text, time and origin of each record, in the order of these.
async fn records(memory: &Memory) -> Vec<(String, i64, Option<String>)> {
    let records = memory.records(None, 10_000).await.unwrap().into_iter();
    let mut records: Vec<_> = records
        .map(|record| (record.text, record.at.as_micros(), record.provenance.origin))
        .collect();
    records.sort();
    records
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_memory_bound_to_a_log_that_was_set_back_loses_nothing_and_has_each_event_once(
        heard in proptest::collection::vec((any::<u8>(), any::<u8>()), 1..6),
        later in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        in_virtual_time(async {
            let mut home = Home::with(lively());
            a_life(&home, &heard).await;
            let memory = home.memory.clone();
            let lived = records(&memory).await;

            let events = home.log.events(&key()).len();
            if events == 0 {
                // Nothing that was said concerned the assistant.
                return;
            }
            home.log = set_back(&home.log, cut.index(events)).await;
            home.lose_memory();
            tokio::time::advance(minutes(1)).await;
            if !later.is_empty() {
                a_life(&home, &later).await;
            }
            assert!(check_log(&home.log, &key(), &memory).await.unwrap_err().is_mismatch());
            assert!(catch_up(&home.log, &key(), &memory).await.unwrap_err().is_mismatch());
            rebind(&home.log, &key(), &memory).await.unwrap();
            catch_up(&home.log, &key(), &memory).await.unwrap();

            let bound = records(&memory).await;
            for (text, at, _) in &lived {
                let kept = bound.iter().any(|(kept, when, _)| (kept, when) == (text, at));
                assert!(kept, "{text}");
            }
            // What a new memory makes of the log is what this one has of it, and no more.
            home.lose_memory();
            catch_up(&home.log, &key(), &home.memory).await.unwrap();
            let of_the_log = |(_, _, origin): &(_, _, Option<String>)| {
                origin.as_ref().is_some_and(|origin| origin.starts_with("log:"))
            };
            let bound: Vec<_> = bound.into_iter().filter(of_the_log).collect();
            assert_eq!(bound, records(&home.memory).await);
            let again = rebind(&home.log, &key(), &memory).await.unwrap();
            assert_eq!(again, Rebound::NothingToDo);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_memory_of_another_log_is_refused_however_long_that_is() {
    let home = Home::new([noop()]);
    home.hear(Perceive::whisper("Alice", "hello").build()).await;
    let mut other = Home::with(ScriptedModel::looping(noop()));
    tokio::time::advance(minutes(1)).await;
    for number in 1..9 {
        let heard = Perceive::whisper("Alice", "hello").number(number);
        other.hear(heard.build()).await;
    }
    other.memory = home.memory.clone();
    let woken = Assistant::wake(other.config.clone(), FakeWorld::tools(), other.ports()).await;
    assert!(
        matches!(woken, Err(WakeError::Memory(CatchUpError::OtherLog { .. }))),
        "{woken:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_memory_of_another_assistant_is_refused() {
    let home = Home::new([]);
    let bob = AssistantId::try_new("bob").unwrap();
    let home = home.configured(|config| config.key = bob);
    let woken = Assistant::wake(home.config.clone(), FakeWorld::tools(), home.ports()).await;
    assert!(
        matches!(
            woken,
            Err(WakeError::Memory(CatchUpError::OtherAssistant { .. }))
        ),
        "{woken:?}"
    );
}
