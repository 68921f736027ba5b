//! Forgetting the words of tasks between assistants, in the log of one of them.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, CallId, Clock, FORGOTTEN, Origin, Seq, Sources, Timestamp};
use dormouse_engine::{
    AssistantConfig, DelegatedTask, DelegatedWords, DelegationEnded, DelegationFailure, EndedBy,
    Event, Insulation, Person, Rest, Selection, TaskDelegated, TaskOutcome, TaskReceived, Trigger,
    decide_again, unreferred,
};
use dormouse_testing::{CountTokens, MemoryLog, Perceive, ScriptedTurn};
use serde_json::json;

use crate::{
    delegating::{
        answer, carry, delegate, delegated, done, give, may_delegate, task, whisper, words,
    },
    forgetting::{bytes, without},
    home::{Home, Life, key, minutes},
    trust::note,
};

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

fn tells_all(config: &mut AssistantConfig) {
    may_delegate(config);
    config.execution.personality_insulation = Insulation::None;
}

async fn hear(life: &Life, heard: Perceive, number: u64) {
    life.accept(heard.number(number).build()).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
}

fn alice() -> Selection {
    let id = dormouse_contracts::EntityId::try_new("player:Alice").unwrap();
    Selection::Person(Person::of_ids(BTreeSet::from([id])))
}

async fn is_decided_the_same_again(log: &MemoryLog) {
    let counter = |_: &_| std::sync::Arc::new(CountTokens) as _;
    decide_again(log, &key(), Seq(u64::MAX), counter)
        .await
        .unwrap();
}

fn given(log: &MemoryLog) -> TaskDelegated {
    let events = log.events(&key()).into_iter();
    let mut given = events.filter_map(|stored| match Event::decode(&stored).unwrap() {
        Event::TaskDelegated(it) => Some(it),
        _ => None,
    });
    given.next().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_briefing_goes_with_anybody_whose_words_or_answers_it_shows_and_the_task_stays() {
    let home = Home::where_all_is_shared([
        ScriptedTurn::call("say", json!({"message": "Dig beside the crooked chimney."})),
        delegate("polish the lantern", "Alice"),
        noop(),
    ])
    .configured(tells_all);
    let life = home.wake().await;
    let asked = "where is the cobalt ledger?";
    hear(&life, Perceive::addressed("Alice", asked), 1).await;
    let asked = "have somebody polish the lantern";
    hear(&life, Perceive::addressed("Bob", asked), 2).await;
    life.end().await.unwrap();
    let before = given(&home.log);
    let briefing = before.task.briefing.as_ref().unwrap();
    for words in [
        "cobalt ledger",
        "crooked chimney",
        "Bob said: have somebody",
    ] {
        assert!(briefing.text.contains(words), "{words}: {}", briefing.text);
    }

    let (log, _) = without(&home.log, alice()).await;
    let after = given(&log);
    assert_eq!(after.task.briefing.unwrap().text, FORGOTTEN);
    assert_eq!(after.task.task, before.task.task);
    assert_eq!(after.to.as_deref(), Some(FORGOTTEN), "it is her name");
    for words in ["cobalt", "ledger", "crooked", "chimney"] {
        assert!(!bytes(&log).contains(words), "{words}");
    }
    is_decided_the_same_again(&log).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_delegate_made_of_a_briefing_that_goes_is_taken_and_the_answer_to_the_task_stays() {
    let home = Home::new([
        ScriptedTurn::calls([
            (
                "store_memory",
                json!({"text": "The cobalt ledger is in the belfry"}),
            ),
            ("answer_task", json!({"result": "count the boats"})),
        ]),
        answer("The cobalt ledger is there, and three boats"),
    ]);
    let life = home.wake().await;
    let briefed = |number| DelegatedTask {
        briefing: Some(words(
            "> Alice said: the cobalt ledger is in the belfry",
            0.9,
        )),
        ..task(&home, number, "count the boats")
    };
    for number in [1, 2] {
        give(&home, &life, &briefed(number)).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    life.end().await.unwrap();
    let events = home.log.events(&key());
    let received = events
        .iter()
        .filter(|stored| stored.kind == "task_received");
    let mut log = home.log.clone();
    for stored in received {
        let briefing = Origin::event(stored.seq).part(1).unwrap();
        log = without(&log, Selection::Record(briefing)).await.0;
    }
    assert!(!bytes(&log).contains("cobalt ledger"), "{}", bytes(&log));
    let answers = log.events(&key()).into_iter();
    let answers = answers.filter_map(|stored| match Event::decode(&stored).unwrap() {
        Event::TaskAnswered(it) => Some(it.outcome),
        _ => None,
    });
    let answers: Vec<_> = answers
        .map(|outcome| match outcome {
            TaskOutcome::Done(result) => result.text,
            TaskOutcome::Failed(failure) => panic!("{failure}"),
        })
        .collect();
    assert_eq!(answers, ["count the boats", FORGOTTEN]);
    assert!(bytes(&log).contains("count the boats"));
    is_decided_the_same_again(&log).await;
}

/// The log without events that are older than this moment.
async fn aged(log: &MemoryLog, before: Timestamp) -> MemoryLog {
    let messages = unreferred(log, &key(), before).await.unwrap();
    let selection = Selection::Unreferred { before, messages };
    let (log, _) = without(log, selection).await;
    is_decided_the_same_again(&log).await;
    log
}

#[tokio::test(start_paused = true)]
async fn old_words_of_a_task_that_nothing_refers_to_go_on_both_sides() {
    let home = Home::new([
        delegate("weigh the walnuts", "smith"),
        whisper("I asked."),
        whisper("Ninety grams of walnuts."),
        delegate("paint the ferry", "smith"),
        whisper("I asked."),
        note("The ferry was painted vermilion"),
        whisper("Done."),
        delegate("mend the flute", "smith"),
        whisper("I asked."),
        whisper("It cannot be mended."),
        answer("Seventeen herons."),
    ])
    .configured(|config| {
        may_delegate(config);
        config.execution.personality_insulation = Insulation::Orchestrator;
    });
    let life = home.wake().await;
    let mut number = 0;
    for (asked, result) in [
        ("weigh the walnuts", Some("ninety grams")),
        ("paint the ferry", Some("The ferry was painted vermilion")),
        ("mend the flute", None),
    ] {
        number += 1;
        hear(&life, Perceive::whisper("Alice", asked), number).await;
        let end = match (
            result,
            done(&delegated(&home).pop().unwrap().task.key, words("", 0.9)),
        ) {
            (Some(text), Event::DelegationEnded(ended)) => Some(done(&ended.key, words(text, 0.9))),
            _ => None,
        };
        match end {
            Some(end) => carry(&home, &life, end).await,
            // Its result never arrives.
            None => tokio::time::sleep(minutes(11)).await,
        }
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    give(&home, &life, &task(&home, 9, "count the herons")).await;
    assert_eq!(life.handle.at_rest().await, Rest::Settled);
    let of = |log: &MemoryLog| {
        let text = bytes(log);
        let words = [
            "walnuts",
            "grams",
            "ferry",
            "vermilion",
            "flute",
            "mended",
            "herons",
        ];
        words.map(|word| text.contains(word))
    };
    assert_eq!(of(&home.log), [true; 7]);
    let at = |kind: &str, which: usize| {
        let events = home.log.events(&key()).into_iter();
        let mut events = events.filter(|stored| stored.kind == kind);
        events.nth(which).unwrap().at
    };
    // A task stays as long as its end is recent.
    let ended = aged(&home.log, at("delegation_ended", 0)).await;
    assert_eq!(of(&ended), [true; 7]);
    let all = aged(&home.log, home.clock.now().plus(minutes(1))).await;
    // Somebody noted the second result, which repeats the task.
    assert_eq!(of(&all), [false, false, true, true, false, false, false]);
    let due = unreferred(&all, &key(), Timestamp::from_micros(i64::MAX)).await;
    assert_eq!(due.unwrap(), BTreeSet::new(), "nothing is due twice");
    life.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_anybody_may_hear_where_nothing_is_kept_private_is_known_to_nobody_elsewhere() {
    let home = Home::new([]);
    let life = home.wake().await;
    let state = life.handle.inspect().await.unwrap();
    life.end().await.unwrap();
    let of_anybody = DelegatedWords {
        audience: None,
        ..words("the belfry leans", 0.9)
    };
    // The audience of the occasion that the last of these events creates.
    let audience = |events: &[Event]| {
        let mut state = state.clone();
        for event in events {
            state.apply(state.seq.next(), home.clock.now(), event);
        }
        match state.turns.waiting().last() {
            Some(Trigger::Occasion(occasion)) => occasion.audience.clone(),
            other => panic!("{other:?}"),
        }
    };
    let nobody = Some(Audience::nobody());
    let of_alice = task(&home, 1, "look at the belfry");
    let of_all = DelegatedTask {
        task: of_anybody.clone(),
        ..of_alice.clone()
    };
    let briefed = DelegatedTask {
        briefing: Some(of_anybody.clone()),
        ..of_alice.clone()
    };
    let received = |task: &DelegatedTask| Event::TaskReceived(TaskReceived { task: task.clone() });
    let known_to_alice = audience(&[received(&of_alice)]);
    assert_eq!(known_to_alice, of_alice.task.audience);
    assert_eq!(audience(&[received(&of_all)]), nobody);
    assert_eq!(audience(&[received(&briefed)]), nobody);

    let given = Event::TaskDelegated(TaskDelegated {
        call: CallId::try_new("call_1_0").unwrap(),
        to: None,
        tag: None,
        task: of_alice.clone(),
        sources: Sources::default(),
        briefing_sources: Sources::default(),
        root: Seq(1),
        part_of: None,
        cost: None,
    });
    let failed = Event::DelegationEnded(DelegationEnded {
        key: of_alice.key.clone(),
        by: EndedBy::Carrier,
        outcome: TaskOutcome::Failed(DelegationFailure::NoResult),
        took: None,
    });
    let end = done(&of_alice.key, of_anybody);
    assert_eq!(audience(&[given.clone(), end]), nobody);
    assert_eq!(
        audience(&[given, failed]),
        known_to_alice,
        "it has no words"
    );
}
