//! Tools that hang, and tools that return too much.

use dormouse_contracts::WorldErrorKind;
use dormouse_engine::{Event, Rest, ToolAnswered, Verdict};
use dormouse_resilience::RetryPolicy;
use dormouse_testing::{Behaviour, Perceive, ScriptedTurn};
use serde_json::{Value, json};

use crate::{
    home::{Home, Life, key, minutes},
    trust::noop,
};

fn look() -> ScriptedTurn {
    ScriptedTurn::call("inspect_location", json!({}))
}

fn answers(home: &Home) -> Vec<ToolAnswered> {
    let events = home.events().into_iter();
    let answered = events.filter_map(|event| match event {
        Event::ToolAnswered(answered) if answered.tool == "inspect_location" => Some(answered),
        _ => None,
    });
    answered.collect()
}

async fn asks(life: &Life, number: u64) {
    let message = Perceive::whisper("Alice", "what do you see?").number(number);
    life.accept(message.build()).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_answers_is_left_alone_also_after_a_crash_and_used_again_when_it_answers() {
    let home = Home::new((0..8).flat_map(|_| [look(), noop()]));
    home.world
        .answer("inspect_location", json!({"seen": "a lantern"}));
    home.world.fail_next_queries(20, WorldErrorKind::Unanswered);
    let life = home.wake().await;
    for number in 1..=5 {
        asks(&life, number).await;
    }
    assert_eq!(
        life.handle.status().tools_not_attempted,
        ["inspect_location"]
    );
    assert!(answers(&home).iter().all(|it| it.is_unanswered));
    life.crash().await;

    let life = home.wake().await;
    asks(&life, 6).await;
    let sixth = answers(&home).pop().unwrap();
    assert_eq!(sixth.verdict, Verdict::Skipped, "it follows from the log");
    assert!(sixth.content.contains("not attempted"), "{}", sixth.content);
    let errors = &life.handle.status().safety;
    assert_eq!(errors.consecutive_errors, 1, "and is no error");

    tokio::time::advance(minutes(1)).await;
    for number in [7, 8] {
        asks(&life, number).await;
        assert_eq!(answers(&home).pop().unwrap().verdict, Verdict::Success);
    }
    assert!(life.handle.status().tools_not_attempted.is_empty());
    life.end().await.unwrap();
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_tried_as_often_as_its_settings_say() {
    for (attempts, verdict) in [(2, Verdict::Failure), (3, Verdict::Success)] {
        let home = Home::new([look(), noop()]).configured(|config| {
            let second = minutes(1) / 60;
            let policy = RetryPolicy::try_new(attempts, second, 2.0, second).unwrap();
            let each = &mut config.tool_retries.each;
            each.insert("inspect_location".to_owned(), policy);
        });
        home.world
            .answer("inspect_location", json!({"seen": "a lantern"}));
        home.world.fail_next_queries(2, WorldErrorKind::Unanswered);
        let life = home.wake().await;
        asks(&life, 1).await;
        life.end().await.unwrap();
        assert_eq!(answers(&home)[0].verdict, verdict, "{attempts}");
    }
}

/// Fifty megabytes, in pieces that are quick to make.
fn fifty_megabytes() -> Value {
    let piece = json!("x".repeat(1 << 20));
    Value::Array(vec![piece; 50])
}

#[tokio::test(start_paused = true)]
async fn a_result_of_fifty_megabytes_is_cut_before_anything_reads_it() {
    let home = Home::new([
        look(),
        ScriptedTurn::call("move", json!({"exit": "north"})),
        noop(),
    ]);
    home.world.answer("inspect_location", fifty_megabytes());
    // The size of a receipt is counted, which takes longer.
    home.world
        .then(Behaviour::DoWith(json!("x".repeat(1 << 20))));
    let life = home.wake().await;
    asks(&life, 1).await;
    life.end().await.unwrap();
    assert!(answers(&home)[0].content.contains("cut_off_after"));
    let events = home.log.events(&key());
    let settled = events.iter().find(|it| it.kind == "effect_settled");
    let settled = String::from_utf8_lossy(&settled.unwrap().payload).into_owned();
    assert!(settled.contains("left_out_bytes"), "{settled}");
    let largest = events.iter().map(|stored| stored.payload.len()).max();
    assert!(largest < Some(100_000), "{largest:?}");
}
