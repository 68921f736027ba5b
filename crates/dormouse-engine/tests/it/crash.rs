//! A crash at any write loses nothing and repeats nothing.

use dormouse_contracts::Seq;
use dormouse_engine::{PerceiveError, Rest, replay, restore};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::home::{Home, key};

/// A model without memory of its own: walks, then answers with the last line it was shown.
fn model() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| {
        let text = crate::home::shown(request);
        let after_message = text.rsplit("> message").next().unwrap_or_default();
        if after_message.contains("\"success\"") {
            let number = after_message.lines().next().unwrap_or_default().trim();
            ScriptedTurn::call("say", json!({"message": format!("answer {number}")}))
        } else {
            ScriptedTurn::call("move", json!({"exit": "north"}))
        }
    }))
}

/// Sends three messages, letting the log die after `writes` appends in each life, until all are answered.
async fn survive(writes: usize, behaviour: fn() -> Behaviour) -> (Home, usize) {
    let home = Home::with(model()).where_alice_follows();
    home.world.then(behaviour());
    let mut crashes = 0;
    let mut accepted = [false; 3];
    loop {
        home.log.reopen();
        if crashes < 40 {
            home.log.close_after(writes);
        }
        let life = home.wake().await;
        for number in 1..=3_u64 {
            let message = Perceive::whisper("Alice", &format!("message {number}"))
                .number(number)
                .build();
            match life.handle.perceive(message).await {
                Ok(_) => accepted[number as usize - 1] = true,
                Err(PerceiveError::Gone) => break,
                Err(error) => panic!("{error}"),
            }
        }
        let rest = life.handle.at_rest().await;
        if rest == Rest::Settled && accepted == [true; 3] {
            life.crash().await;
            home.log.reopen();
            return (home, crashes);
        }
        crashes += 1;
        life.crash().await;
    }
}

#[tokio::test(start_paused = true)]
async fn killed_at_any_write_every_message_is_answered_once_and_every_act_done_once() {
    let behaviours: [fn() -> Behaviour; 4] = [
        || Behaviour::Do,
        || Behaviour::DoneButUnanswered,
        || Behaviour::LostBeforeDoing,
        || Behaviour::DoneButHangs,
    ];
    for behaviour in behaviours {
        for writes in 1..=14 {
            let (home, crashes) = survive(writes, behaviour).await;
            assert!(writes > 9 || crashes > 0, "the log did die");
            let mut deeds = home.deeds();
            deeds.sort();
            let expected = [
                "move",
                "move",
                "move",
                "say answer 1",
                "say answer 2",
                "say answer 3",
            ];
            assert_eq!(
                deeds, expected,
                "{writes} writes in each life, {crashes} crashes"
            );
            assert_eq!(home.world.reused_keys(), [], "no key stands for two acts");
            let whole = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
            assert_eq!(whole, restore(&home.log, &key()).await.unwrap());
            home.no_protocol_was_broken();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_effect_left_behind_is_asked_after_before_anything_else() {
    let home = Home::new([ScriptedTurn::call("say", json!({"message": "hi"}))]);
    home.world.then(Behaviour::DoneButHangs);
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "hello").build())
        .await;
    for _ in 0..1_000 {
        if home.world.performed().is_empty() {
            tokio::task::yield_now().await;
        }
    }
    life.crash().await;
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["say hi"]);
    assert_eq!(
        (home.world.attempts().len(), home.world.inquiries().len()),
        (1, 1),
        "asked after, not done again"
    );
}
