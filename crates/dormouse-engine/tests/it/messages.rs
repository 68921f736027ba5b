//! Accepting messages: once, on disk, and never silently dropped.

use dormouse_classify::{MessageVerdict, Rule};
use dormouse_contracts::{AppendErrorKind, Seq, Trust};
use dormouse_engine::{Accepted, Assistant, Event, PerceiveError, Rest, RunError, Switch};
use dormouse_testing::{FakeWorld, Gate, MemoryLog, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time;

use crate::home::{Home, key, minutes};

fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("say", json!({"message": text}))
}

#[tokio::test(start_paused = true)]
async fn an_accepted_message_is_on_disk_with_its_classification() {
    let home = Home::where_all_is_shared([say("hi")]);
    let life = home.wake().await;
    let accepted = life
        .accept(Perceive::whisper("Alice", "hello").build())
        .await;
    let Accepted::Logged {
        seq,
        classification,
        trust,
    } = accepted
    else {
        panic!("{accepted:?}")
    };
    assert_eq!(
        (seq, classification.verdict, classification.rule),
        (Seq(2), MessageVerdict::Trigger, Rule::DirectMessage)
    );
    assert_eq!(trust, Trust::try_new(0.9).unwrap());
    assert_eq!(home.log.events(&key())[1].kind, "perceived");
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_comes_twice_is_answered_once() {
    let home = Home::where_all_is_shared([say("hi"), say("again")]);
    let life = home.wake().await;
    let message = Perceive::whisper("Alice", "hello").number(7).build();
    life.accept(message.clone()).await;
    assert_eq!(life.accept(message.clone()).await, Accepted::Duplicate);
    life.handle.at_rest().await;
    life.end().await.unwrap();

    let life = home.wake().await;
    assert_eq!(
        life.accept(message).await,
        Accepted::Duplicate,
        "also after a restart"
    );
    life.accept(Perceive::whisper("Alice", "hello").number(8).build())
        .await;
    life.handle.at_rest().await;
    assert_eq!(home.deeds(), ["say hi", "say again"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_nothing_to_the_assistant_is_not_written() {
    let home = Home::where_all_is_shared([]);
    let life = home.wake().await;
    let accepted = life
        .accept(Perceive::channel("Alice", "trade", "selling boots").build())
        .await;
    assert!(
        matches!(accepted, Accepted::Ignored { classification } if classification.rule == Rule::Fallback)
    );
    assert!(home.events().is_empty());
}

#[tokio::test(start_paused = true)]
async fn overheard_lines_are_shown_and_not_answered() {
    let home = Home::where_all_is_shared([say("I heard.")]);
    let life = home.wake().await;
    life.accept(Perceive::say("Bob", "the bridge is out").number(1).build())
        .await;
    life.accept(Perceive::whisper("Alice", "any news?").number(2).build())
        .await;
    life.handle.at_rest().await;
    let shown = home.last_shown();
    assert!(
        shown.contains("Overheard lately") && shown.contains("> the bridge is out"),
        "{shown}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_the_log_cannot_take_is_not_accepted_and_may_be_sent_again() {
    let home = Home::where_all_is_shared([say("hi")]);
    let life = home.wake_configured().await;
    home.log.fail_next_appends(1, AppendErrorKind::Storage);
    let message = Perceive::whisper("Alice", "hello").build();
    assert!(matches!(
        life.handle.perceive(message.clone()).await,
        Err(PerceiveError::Storage { .. })
    ));
    assert!(matches!(
        life.accept(message).await,
        Accepted::Logged { .. }
    ));
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say hi"]);
}

#[tokio::test(start_paused = true)]
async fn an_outcome_the_log_cannot_take_is_written_later_and_the_act_is_not_repeated() {
    let gate = Gate::new();
    let home = Home::where_all_is_shared([ScriptedTurn::after(&gate, say("hi"))]);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    gate.reached().await;
    home.log.fail_next_appends(3, AppendErrorKind::Storage);
    gate.open();
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say hi"]);
    assert_eq!(
        home.model.requests().len(),
        1,
        "the reply was kept, not asked for again"
    );
}

/// Whether the log has what it said it may not have.
#[derive(Clone, Copy, Debug)]
enum Doubt {
    Written,
    NotWritten,
}

impl Doubt {
    fn next(self, log: &MemoryLog, count: usize) {
        match self {
            Self::Written => log.lose_next_answers(count),
            Self::NotWritten => log.fail_next_appends(count, AppendErrorKind::Unknown),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_whose_write_is_in_doubt_is_accepted_only_once_it_is_in_the_log() {
    for doubt in [Doubt::Written, Doubt::NotWritten] {
        let home = Home::where_all_is_shared([say("hi")]);
        let life = home.wake_configured().await;
        doubt.next(&home.log, 3);
        let message = Perceive::whisper("Alice", "hello").build();
        let mut answer = life.handle.perceive(message.clone()).await;
        assert!(
            matches!(answer, Err(PerceiveError::Storage { .. })),
            "{answer:?}"
        );
        while matches!(answer, Err(PerceiveError::Storage { .. })) {
            answer = life.handle.perceive(message.clone()).await;
        }
        assert_eq!(answer, Ok(Accepted::Duplicate), "{doubt:?}");
        let heard = home.events().into_iter();
        let heard = heard.filter(|it| matches!(it, Event::Perceived(_)));
        assert_eq!(heard.count(), 1, "{doubt:?}");
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
        assert_eq!(home.deeds(), ["say hi"], "{doubt:?}");
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_whose_write_is_in_doubt_is_in_the_log_once_and_the_act_is_not_repeated() {
    for doubt in [Doubt::Written, Doubt::NotWritten] {
        let gate = Gate::new();
        let home = Home::where_all_is_shared([ScriptedTurn::after(&gate, say("hi"))]);
        let life = home.wake().await;
        life.accept(Perceive::whisper("Alice", "hello").build())
            .await;
        gate.reached().await;
        doubt.next(&home.log, 3);
        gate.open();
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
        assert_eq!(home.deeds(), ["say hi"], "{doubt:?}");
        assert_eq!(home.model.requests().len(), 1, "{doubt:?}");
        life.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_refused_before_it_fills_the_memory() {
    let home = Home::with_all_shared(ScriptedModel::looping(ScriptedTurn::Hang))
        .configured(|config| config.switch = Switch::Disabled);
    let life = home.wake().await;
    for number in 1..=1_000 {
        life.accept(Perceive::whisper("Mallory", "spam").number(number).build())
            .await;
    }
    let refused = life
        .handle
        .perceive(Perceive::whisper("Alice", "hello").number(1_001).build())
        .await;
    assert_eq!(refused, Err(PerceiveError::Full { waiting: 1_000 }));
}

#[tokio::test(start_paused = true)]
async fn a_disabled_assistant_accepts_and_waits() {
    let home = Home::where_all_is_shared([say("good morning")])
        .configured(|config| config.switch = Switch::Disabled);
    assert_eq!(
        home.hear(Perceive::whisper("Alice", "hello").build()).await,
        Rest::Disabled
    );
    let enabled = home
        .clone()
        .configured(|config| config.switch = Switch::Enabled);
    let life = enabled.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say good morning"]);
}

#[tokio::test(start_paused = true)]
async fn a_second_writer_ends_the_first_without_harm() {
    let home = Home::where_all_is_shared([say("one"), say("two")]);
    home.wake_configured().await.end().await.unwrap();
    let first = home.wake().await;
    let second = home.wake().await;
    second
        .accept(Perceive::whisper("Alice", "hello").number(1).build())
        .await;
    second.handle.at_rest().await;
    let refused = first
        .handle
        .perceive(Perceive::whisper("Alice", "hello").number(2).build())
        .await;
    assert_eq!(refused, Err(PerceiveError::Gone));
    assert!(matches!(
        first.ended().await,
        Err(RunError::Conflict {
            expected: Seq(1),
            ..
        })
    ));
    second.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_refused_message_is_accepted_before_those_behind_it() {
    let home = Home::where_all_is_shared([]).configured(|config| config.switch = Switch::Disabled);
    let life = home.wake_configured().await;
    home.log.fail_next_appends(1, AppendErrorKind::Storage);
    let first = Perceive::whisper("Alice", "important").number(1).build();
    let second = Perceive::say("Bob", "chat").number(2).build();
    assert!(matches!(
        life.handle.perceive(first.clone()).await,
        Err(PerceiveError::Storage { .. })
    ));
    assert_eq!(
        life.handle.perceive(second.clone()).await,
        Err(PerceiveError::Behind { refused: 1 })
    );
    assert!(matches!(
        life.accept(first).await,
        Accepted::Logged { seq: Seq(2), .. }
    ));
    assert!(matches!(
        life.accept(second).await,
        Accepted::Logged { seq: Seq(3), .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn a_message_refused_for_a_full_inbox_is_no_duplicate_later() {
    let home = Home::where_all_is_shared([]).configured(|config| config.switch = Switch::Disabled);
    let life = home.wake().await;
    for number in 1..=1_000 {
        life.accept(Perceive::whisper("Mallory", "spam").number(number).build())
            .await;
    }
    let message = Perceive::whisper("Alice", "important")
        .number(1_001)
        .build();
    assert!(matches!(
        life.handle.perceive(message.clone()).await,
        Err(PerceiveError::Full { .. })
    ));
    let behind = life
        .handle
        .perceive(Perceive::say("Bob", "chat").number(1_002).build())
        .await;
    assert_eq!(behind, Err(PerceiveError::Behind { refused: 1_001 }));
    assert!(matches!(
        life.handle.perceive(message).await,
        Err(PerceiveError::Full { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn nothing_in_a_batch_that_was_not_written_is_called_accepted() {
    let home = Home::where_all_is_shared([]).configured(|config| config.switch = Switch::Disabled);
    home.wake_configured().await.end().await.unwrap();
    let woken = Assistant::wake(home.config.clone(), FakeWorld::tools(), home.ports()).await;
    let (assistant, handle) = woken.unwrap();
    home.log.fail_next_appends(1, AppendErrorKind::Storage);
    let same = || handle.perceive(Perceive::whisper("Alice", "hello").build());
    let both = async {
        let answers = tokio::join!(same(), same());
        handle.shut_down().await;
        answers
    };
    let (answers, _) = tokio::join!(both, assistant.run());
    assert!(matches!(
        answers,
        (
            Err(PerceiveError::Storage { .. }),
            Err(PerceiveError::Storage { .. })
        )
    ));
    assert!(home.events().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_behind_a_message_is_obeyed() {
    let home = Home::where_all_is_shared([]);
    let woken = Assistant::wake(home.config.clone(), FakeWorld::tools(), home.ports()).await;
    let (assistant, handle) = woken.unwrap();
    let message = handle.perceive(Perceive::say("Alice", "hello").build());
    let mailbox = async { tokio::join!(message, handle.shut_down()) };
    let (answer, ended) = tokio::join!(mailbox, time::timeout(minutes(60), assistant.run()));
    assert!(matches!(answer.0, Ok(Accepted::Logged { .. })));
    assert!(ended.is_ok(), "an hour later it still runs");
}
