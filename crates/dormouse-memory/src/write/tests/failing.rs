//! A model that fails, hangs or is interrupted.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::atomic::{AtomicU64, Ordering},
    task::Poll,
};

use dormouse_contracts::ModelErrorKind;
use dormouse_testing::Gate;

use super::*;

#[tokio::test]
async fn a_failing_model_leaves_the_sources_as_they_are_and_each_is_skipped_after_three_failures() {
    for turn in [
        || ScriptedTurn::Fail(ModelErrorKind::Unavailable),
        || ScriptedTurn::text("I would rather talk about the weather."),
        || ScriptedTurn::CutOff {
            text: "[{\"te".to_owned(),
        },
    ] {
        let memory = memory();
        let entries = [
            entry(1, "Alice sold the mill"),
            entry(2, "Bob bought a boat"),
        ];
        let model = ScriptedModel::looping(turn());
        let mut attempts = Attempts::default();
        for failures in 1..=6 {
            let written = writer(&model)
                .consolidate(&memory, &entries, &mut attempts)
                .await
                .unwrap();
            assert!(written.failure.is_some());
            assert_eq!(written.left.is_empty(), written.gave_up.len() == 2);
            assert_eq!(all(&memory).await, [], "after {failures} failures");
            if written.gave_up.len() == 2 {
                break;
            }
        }
        // The first failure counts for both; then each fails by itself.
        assert_eq!(model.requests().len(), 1 + 2 + 2);
        let written = writer(&model)
            .consolidate(&memory, &entries, &mut attempts)
            .await
            .unwrap();
        assert_eq!(written.gave_up, [SourceKey::Entry(1), SourceKey::Entry(2)]);
        assert_eq!((written.failure, model.requests().len()), (None, 5));
        let data = serde_json::to_string(&attempts).unwrap();
        assert_eq!(serde_json::from_str::<Attempts>(&data).unwrap(), attempts);
    }
}

#[tokio::test]
async fn one_source_that_always_fails_does_not_hold_up_the_others() {
    let memory = memory();
    let model = ScriptedModel::looping(ScriptedTurn::with(|request| {
        let shown = format!("{:?}", request.messages);
        if shown.contains("poison") {
            ScriptedTurn::Fail(ModelErrorKind::Refused)
        } else {
            ScriptedTurn::text("[]")
        }
    }));
    let entries = [
        entry(1, "the mill"),
        entry(2, "poison"),
        entry(3, "the boat"),
    ];
    let mut attempts = Attempts::default();
    let mut done = Vec::new();
    for _ in 0..5 {
        let written = writer(&model)
            .consolidate(&memory, &entries, &mut attempts)
            .await
            .unwrap();
        done.extend(written.done);
    }
    assert_eq!(done, [SourceKey::Entry(1), SourceKey::Entry(3)]);
    assert!(attempts.gave_up("j2"));
}

/// A model that words every fact differently, so that equal wording cannot be what prevents repetitions.
fn inventive() -> (ScriptedModel, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    let model = ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let Some(Message::User { content }) = request.messages.get(1) else {
            return ScriptedTurn::text("[]");
        };
        let facts = content.lines().map(|line| {
            let key = line.trim_start_matches('[').split(']').next().unwrap();
            json!({"text": format!("Harbour {key} keeps {number} boats {number}{key}"), "from": [key]})
        });
        ScriptedTurn::text(json!(facts.collect::<Vec<_>>()).to_string())
    }));
    (model, asked)
}

#[tokio::test]
async fn a_call_dropped_anywhere_and_repeated_writes_nothing_twice() {
    for polls in 0..24 {
        let memory = memory();
        let (model, _) = inventive();
        let writer = writer(&model).with_settings(WriterSettings {
            batch: 2,
            ..WriterSettings::default()
        });
        let entries: Vec<_> = (1..=5)
            .map(|id| entry(id, &format!("boats of harbour {id}")))
            .collect();
        let mut attempts = Attempts::default();
        dropped_after(polls, writer.consolidate(&memory, &entries, &mut attempts)).await;
        let written = writer
            .consolidate(&memory, &entries, &mut attempts)
            .await
            .unwrap();
        assert_eq!(written.done.len() + written.done_before.len(), 5);
        let records = all(&memory).await;
        let evidence = records
            .iter()
            .filter(|record| record.collection == Collection::Journal);
        assert_eq!(evidence.count(), 5, "after {polls} polls");
        assert_eq!(records.len(), 10, "after {polls} polls");
    }
}

async fn dropped_after(polls: usize, future: impl Future) {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        future.as_mut().poll(cx).map(|_done| ())
    })
    .await;
}

#[tokio::test]
async fn a_call_to_a_hanging_model_can_be_dropped_and_repeated() {
    let memory = memory();
    let entries = [entry(1, "Alice sold the mill")];
    let mut attempts = Attempts::default();
    let stalled = || ScriptedTurn::Stall {
        text: "[{\"text\": \"x\", \"from\": [1]}".to_owned(),
    };
    for turn in [ScriptedTurn::Hang, stalled()] {
        let gate = Gate::new();
        let model = ScriptedModel::new([ScriptedTurn::after(&gate, turn)]);
        let writer = writer(&model);
        let in_the_middle = async {
            gate.reached().await;
            gate.open();
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            written = writer.consolidate(&memory, &entries, &mut attempts) => panic!("{written:?}"),
            () = in_the_middle => {}
        }
    }
    assert_eq!(all(&memory).await, []);
    assert_eq!(
        attempts,
        Attempts::default(),
        "a dropped call is not a failure"
    );
    let reply = json!([{"text": "Alice sold the mill", "from": ["j1"]}]);
    let model = ScriptedModel::new([ScriptedTurn::text(reply.to_string())]);
    let written = writer(&model)
        .consolidate(&memory, &entries, &mut attempts)
        .await;
    assert_eq!(written.unwrap().added.len(), 1);
}

#[tokio::test]
async fn a_request_never_exceeds_its_bound_of_sources() {
    let memory = memory();
    let (model, asked) = inventive();
    let entries: Vec<_> = (0..30)
        .map(|id| entry(id, &"word ".repeat(if id == 3 { 2_000_000 } else { 100 })))
        .collect();
    let mut attempts = Attempts::default();
    let writer = writer(&model).with_settings(WriterSettings {
        prompt_bytes: 3_000,
        ..WriterSettings::default()
    });
    let written = writer
        .consolidate(&memory, &entries, &mut attempts)
        .await
        .unwrap();
    assert_eq!(written.done.len(), 30);
    assert!(asked.load(Ordering::Relaxed) > 5);
    for request in 0..model.requests().len() {
        assert!(user_text(&model, request).len() < 6_000);
    }
}
