//! Promises for a moment: done once when the moment comes, for the person who asked.

use dormouse_contracts::{Audience, Author, Clock, EntityId, Purpose, Sender, Seq};
use dormouse_engine::{ContextType, Event, GoalMoment, Rest, Selection, replay};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;

use crate::{
    consolidating::logged,
    forgetting::without,
    goals::set_goal,
    home::{Home, key, minutes, shown},
};

/// An hour after a home begins.
const AT_ONE: &str = "2026-11-21T01:00:00Z";
const OCCASION: &str = "The moment has come";

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

fn promise(due_at: &str) -> ScriptedTurn {
    let promise =
        json!({"entity": "player:Alice", "description": "feed the cat", "due_at": due_at});
    ScriptedTurn::call("add_pending_action", promise)
}

fn alice() -> EntityId {
    EntityId::try_new("player:Alice").unwrap()
}

/// A model that promises what it is asked for, and keeps the promise when its moment comes. It keeps no state of its
/// own.
fn keeper() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| {
        let text = shown(request);
        let now = text.rsplit("> ").next().unwrap_or_default();
        let (promises, now) = match text.rsplit_once(OCCASION) {
            Some((_, now)) => (false, now),
            None => (true, now),
        };
        match now.contains("\"success\":true") {
            true => noop(),
            false if promises => promise(AT_ONE),
            false => ScriptedTurn::call("page", json!({"to": "Alice", "message": "feed the cat"})),
        }
    }))
}

/// A home in which Alice has asked for it.
async fn asked(home: &Home) {
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", "remind me at one to feed the cat").build())
        .await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(home.deeds(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn what_was_promised_is_done_once_when_its_moment_comes_and_for_nobody_else() {
    let home = Home::with(keeper()).where_one_can_page();
    asked(&home).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(59)).await;
    life.handle.at_rest().await;
    assert_eq!(home.deeds(), Vec::<String>::new(), "not before its moment");
    tokio::time::sleep(minutes(2)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["page feed the cat"]);
    tokio::time::sleep(minutes(10_000)).await;
    life.end().await.unwrap();
    assert_eq!(home.deeds().len(), 1, "said once");
    let within = home.world.performed()[0].within.clone();
    assert_eq!(within, Audience::of([alice()]), "nobody else may hear it");
    let contexts = home.events().into_iter().filter_map(|event| match event {
        Event::TickStarted(started) => Some(started.context),
        _ => None,
    });
    let contexts: Vec<_> = contexts.collect();
    assert_eq!(
        contexts,
        [ContextType::TickEvent, ContextType::TickAutonomous],
        "nothing happened: it became due"
    );
    home.no_protocol_was_broken();
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_nobody_waits_for_is_a_heartbeat_and_a_promise_is_none() {
    let page = ScriptedTurn::call("page", json!({"to": "Alice", "message": "feed the cat"}));
    let home = Home::new([promise(AT_ONE), noop(), page, noop(), noop()]).where_one_can_page();
    asked(&home).await;
    let life = home.wake().await;
    tokio::time::sleep(minutes(61)).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.end().await.unwrap();
    set_goal(&home, "sweep", GoalMoment::At(home.clock.now()), None).await;
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    life.end().await.unwrap();
    let asked = home.model.requests();
    let asked: Vec<_> = asked.iter().map(|request| request.purpose).collect();
    let answers = asked.iter().filter(|it| **it == Purpose::Answer).count();
    assert_eq!(asked.last(), Some(&Purpose::Heartbeat), "the goal");
    assert_eq!(answers, asked.len() - 1, "the message and the promise");
    let replied = home.events().into_iter().filter_map(|event| match event {
        Event::Replied(replied) => Some(replied.purpose),
        _ => None,
    });
    assert_eq!(replied.collect::<Vec<_>>(), asked, "the log has it, too");
}

#[tokio::test(start_paused = true)]
async fn a_moment_that_passed_while_it_was_off_is_made_up_for_when_it_wakes() {
    let home = Home::with(keeper()).where_one_can_page();
    asked(&home).await;
    home.set_clock(50);
    let life = home.wake().await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    assert_eq!(home.deeds(), ["page feed the cat"]);
    life.end().await.unwrap();
    home.wake().await.end().await.unwrap();
    assert_eq!(home.deeds().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn killed_at_any_write_a_promise_is_kept_and_never_twice() {
    let behaviours: [fn() -> Behaviour; 4] = [
        || Behaviour::Do,
        || Behaviour::DoneButUnanswered,
        || Behaviour::LostBeforeDoing,
        || Behaviour::DoneButHangs,
    ];
    for behaviour in behaviours {
        for writes in 1..=5 {
            let home = Home::with(keeper()).where_one_can_page();
            asked(&home).await;
            home.world.then(behaviour());
            home.set_clock(2);
            let mut crashes = 0;
            loop {
                home.log.reopen();
                if crashes < 40 {
                    home.log.close_after(writes);
                }
                let life = home.wake().await;
                let is_settled = life.handle.at_rest().await == Rest::Settled;
                life.crash().await;
                let state = {
                    home.log.reopen();
                    replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap()
                };
                if is_settled && state.turns.is_empty() && state.promises.iter().len() == 0 {
                    break;
                }
                crashes += 1;
                assert!(crashes < 60, "it comes to rest");
            }
            assert!(writes > 1 || crashes > 0, "the log did die");
            assert_eq!(
                home.deeds(),
                ["page feed the cat"],
                "{writes} writes, {crashes} crashes"
            );
            assert_eq!(home.world.reused_keys(), []);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_off_before_its_moment_is_not_done_again() {
    let complete = ScriptedTurn::with(|request| {
        let text = shown(request);
        let (_, rest) = text
            .rsplit_once("\"due_at\":\"2026-11-21T01:00:00Z\",\"id\":")
            .unwrap();
        let id: u64 = rest.split([',', '}']).next().unwrap().parse().unwrap();
        ScriptedTurn::call(
            "complete_pending_action",
            json!({"entity": "player:Alice", "action": id}),
        )
    });
    let home = Home::new([
        promise(AT_ONE),
        noop(),
        ScriptedTurn::call("get_entity_profile", json!({"entity": "player:Alice"})),
        complete,
        noop(),
    ])
    .where_one_can_page();
    asked(&home).await;
    let life = home.wake().await;
    life.accept(
        Perceive::whisper("Alice", "I have fed it")
            .number(2)
            .build(),
    )
    .await;
    life.handle.at_rest().await;
    tokio::time::sleep(minutes(10_000)).await;
    life.end().await.unwrap();
    assert_eq!(home.deeds(), Vec::<String>::new());
    assert_eq!(
        home.model.requests().len(),
        5,
        "the model is not asked when the moment comes"
    );
}

#[tokio::test(start_paused = true)]
async fn plain_words_at_the_moment_are_said_to_the_one_who_asked_alone() {
    let words = ScriptedTurn::text("Time to feed the cat, Alice.");
    let home = Home::new([promise(AT_ONE), noop(), words]).where_one_can_page();
    asked(&home).await;
    home.set_clock(2);
    let life = home.wake().await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(home.deeds(), ["page Time to feed the cat, Alice."]);
    assert_eq!(home.world.performed()[0].arguments["to"], "Alice");
}

#[tokio::test(start_paused = true)]
async fn of_two_people_of_one_name_the_one_who_asked_is_reminded() {
    let home = Home::with(keeper()).where_one_can_page();
    asked(&home).await;
    let life = home.wake().await;
    let namesake = Sender::Entity {
        id: EntityId::try_new("player:2").unwrap(),
        name: "Alice".to_owned(),
    };
    let overheard = Perceive::channel("Alice", "public", "good day")
        .sender(namesake)
        .number(2);
    life.accept(overheard.build()).await;
    tokio::time::sleep(minutes(61)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    let within: Vec<_> = home
        .world
        .performed()
        .iter()
        .map(|it| it.within.clone())
        .collect();
    assert_eq!(within, [Audience::of([alice()])]);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_moment_is_refused_with_what_was_expected() {
    let home = Home::new([promise("at six"), noop()]);
    asked(&home).await;
    let refused = home.last_shown();
    assert!(
        refused.contains("due_at is \\\"at six\\\"; expected a date and time"),
        "{refused}"
    );
    assert!(
        !home
            .events()
            .iter()
            .any(|event| matches!(event, Event::EntityChanged(_)))
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_forgotten_is_not_done_when_its_moment_comes() {
    let mut home = Home::with(keeper()).where_one_can_page();
    asked(&home).await;
    let heard = home
        .log
        .events(&key())
        .into_iter()
        .find(|stored| matches!(Event::decode(stored).unwrap(), Event::Perceived(_)));
    let record = dormouse_contracts::Origin::event(heard.unwrap().seq);
    home.log = without(&home.log, Selection::Record(record)).await.0;
    home.lose_memory();
    let asked = home.model.requests().len();
    home.set_clock(2);
    let life = home.wake().await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    assert_eq!(
        (home.deeds().len(), home.model.requests().len()),
        (0, asked)
    );
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_takes_back_is_not_done_and_what_is_brought_back_is() {
    for undos in 1..=4 {
        let home = Home::with(keeper()).where_one_can_page();
        asked(&home).await;
        let state = replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap();
        let mut last = state.promises.iter().next().unwrap().seq;
        for _ in 0..undos {
            let author = Author::Operator("florian".to_owned());
            let undone = logged(&home).await.undo(last, author, "in a test").await;
            last = undone.unwrap().unwrap();
        }
        home.set_clock(2);
        let life = home.wake().await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
        let expected: &[&str] = match undos % 2 {
            0 => &["page feed the cat"],
            _ => &[],
        };
        assert_eq!(home.deeds(), expected, "after {undos} undos");
        home.no_protocol_was_broken();
    }
}
