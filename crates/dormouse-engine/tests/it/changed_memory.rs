//! A record that is removed from the memory while a message waits is not shown to any model any more.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{Author, Clock, EntityId, ModelErrorKind, Origin, Seq, Sources, Trust};
use dormouse_engine::{EntityChanged, Event};
use dormouse_entities::{
    EntityChange, EntityType, Name, NewObservation, ObservationSource, ObservationText,
};
use dormouse_memory::{MemoryChange, Note};
use dormouse_testing::{Behaviour, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;
use tokio::time;

use crate::{
    home::{Home, in_virtual_time, shown},
    rebuilding::{changed, decide},
};

const LINES: usize = 3;

/// A word that occurs only in this line. The last line is an observation about Alice.
fn word(line: usize) -> String {
    format!("zebra{line}")
}

/// How an attempt to answer ends before the assistant is killed.
#[derive(Clone, Copy, Debug)]
enum Attempt {
    /// The model's server fails.
    Fails,
    /// The world does not answer an act, so that its call is open.
    Hangs,
}

#[derive(Clone, Copy, Debug)]
enum Command {
    Withdraw(usize),
    Erase(usize),
    DeleteAlice,
    Undo,
    Nothing,
}

fn rounds() -> impl Strategy<Value = Vec<(Attempt, Command)>> {
    let attempt = prop_oneof![Just(Attempt::Fails), Just(Attempt::Hangs)];
    let command = prop_oneof![
        (0..LINES).prop_map(Command::Withdraw),
        (0..LINES).prop_map(Command::Erase),
        Just(Command::DeleteAlice),
        Just(Command::Undo),
        Just(Command::Nothing),
    ];
    prop::collection::vec((attempt, command), 1..5)
}

/// A model whose server fails while `fails` is true, and which otherwise goes north.
fn model(fails: Arc<AtomicBool>) -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(move |_| {
        match fails.load(Ordering::Relaxed) {
            true => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
            false => ScriptedTurn::call("move", json!({"exit": "north"})),
        }
    }))
}

async fn people(home: &Home, change: EntityChange) {
    let event = Event::EntityChanged(EntityChanged {
        change,
        author: Author::Operator("florian".to_owned()),
        reason: "in a test".to_owned(),
    });
    decide(home, &event).await;
}

/// Fills the memory with lines to find, and returns their records.
async fn remember(home: &Home) -> Vec<Origin> {
    home.wake_configured().await.end().await.unwrap();
    let mut records = Vec::new();
    for line in 0..LINES {
        let text = format!("the lantern number {line} is called {}", word(line));
        let notes = vec![Note::new(text)];
        records.push(Origin::event(
            changed(home, MemoryChange::Added { notes }).await,
        ));
    }
    let entity = EntityId::try_new("player:Alice").unwrap();
    let created = EntityChange::Created {
        entity: entity.clone(),
        entity_type: EntityType::Player,
        name: Name::try_new("Alice").unwrap(),
    };
    people(home, created).await;
    let observation = NewObservation {
        content: ObservationText::shortened(&format!("has a {}", word(LINES))).unwrap(),
        source: ObservationSource::shortened("direct").unwrap(),
        trust: Trust::FULL,
        origin: None,
        audience: None,
        sources: Sources::default(),
    };
    people(
        home,
        EntityChange::Observed {
            entity,
            observation,
        },
    )
    .await;
    records
}

/// One message waits over several lives. Between two of them a command changes the memory.
async fn lived(rounds: &[(Attempt, Command)]) {
    let fails = Arc::new(AtomicBool::new(true));
    let home = Home::with_all_shared(model(fails.clone()));
    let records = remember(&home).await;
    let mut gone = [false; LINES + 1];
    let mut undoes: Option<(Seq, usize)> = None;
    let mut erased = [false; LINES];
    for (round, (attempt, command)) in rounds
        .iter()
        .chain([&(Attempt::Fails, Command::Nothing)])
        .enumerate()
    {
        let asked = home.model.requests().len();
        fails.store(matches!(attempt, Attempt::Fails), Ordering::Relaxed);
        let life = home.wake().await;
        if round == 0 {
            let message = Perceive::whisper("Alice", "tell me of the lantern");
            life.accept(message.build()).await;
        } else {
            // The message may have failed, or wait for its world.
            life.handle.retry("florian").await.ok();
        }
        if matches!(attempt, Attempt::Hangs) {
            home.world.then(Behaviour::DoneButHangs);
        }
        time::sleep(Duration::from_secs(200)).await;
        let requests = home.model.requests();
        let new: Vec<_> = requests.iter().skip(asked).map(shown).collect();
        for (line, is_gone) in gone.iter().enumerate() {
            let is_shown = new.iter().any(|request| request.contains(&word(line)));
            assert!(
                !(*is_gone && is_shown),
                "round {round}: {} in {rounds:?}",
                word(line)
            );
        }
        if round == 0 {
            assert!(
                new.iter().any(|request| request.contains(&word(0))),
                "{new:?}"
            );
            assert!(
                new.iter().any(|request| request.contains(&word(LINES))),
                "{new:?}"
            );
        }
        let state = life.handle.inspect().await.unwrap();
        let kept = serde_json::to_string(&state).unwrap();
        for (line, is_erased) in erased.iter().enumerate() {
            assert!(
                !(*is_erased && kept.contains(&word(line))),
                "{} in {rounds:?}",
                word(line)
            );
        }
        life.crash().await;
        match *command {
            Command::Withdraw(line) if !gone[line] => {
                let record = records[line];
                undoes = Some((
                    changed(&home, MemoryChange::Withdrawn { record }).await,
                    line,
                ));
                gone[line] = true;
            }
            Command::Erase(line) if !erased[line] => {
                let record = records[line];
                changed(&home, MemoryChange::Erased { record }).await;
                (gone[line], erased[line]) = (true, true);
            }
            Command::DeleteAlice => {
                let entity = EntityId::try_new("player:Alice").unwrap();
                people(&home, EntityChange::Deleted { entity }).await;
                gone[LINES] = true;
            }
            Command::Undo => {
                if let Some((event, line)) = undoes.take().filter(|(_, line)| !erased[*line]) {
                    // The next one takes this back.
                    let undone = changed(&home, MemoryChange::Undone { event }).await;
                    undoes = Some((undone, line));
                    gone[line] = !gone[line];
                }
            }
            Command::Withdraw(_) | Command::Erase(_) | Command::Nothing => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(48)))]

    #[test]
    fn what_leaves_the_memory_while_a_message_waits_is_in_no_later_request(rounds in rounds()) {
        in_virtual_time(lived(&rounds));
    }
}

#[test]
fn a_line_that_is_erased_after_the_server_failed_is_not_sent_when_it_is_asked_again() {
    for attempt in [Attempt::Fails, Attempt::Hangs] {
        for command in [
            Command::Erase(0),
            Command::Withdraw(0),
            Command::DeleteAlice,
        ] {
            in_virtual_time(lived(&[(attempt, command)]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_undo_of_an_undo_takes_out_is_in_no_earlier_result_either() {
    let home = Home::with_all_shared(ScriptedModel::new([
        ScriptedTurn::call("recall_memories", json!({"query": "the lantern"})),
        ScriptedTurn::call("noop", json!({})),
        ScriptedTurn::call("noop", json!({})),
    ]));
    let records = remember(&home).await;
    let record = records[0];
    let withdrawn = changed(&home, MemoryChange::Withdrawn { record }).await;
    let event = changed(&home, MemoryChange::Undone { event: withdrawn }).await;
    let ask = async |number, words: &str| {
        let life = home.wake().await;
        let message = Perceive::whisper("Alice", words).number(number).build();
        life.accept(message).await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
    };
    ask(1, "what do you know of the lantern?").await;
    assert!(home.last_shown().contains(&word(0)), "it is back");
    changed(&home, MemoryChange::Undone { event }).await;
    ask(2, "and of the teapot?").await;
    let later = home.last_shown();
    assert!(!later.contains(&word(0)), "{later}");
}

#[tokio::test(start_paused = true)]
async fn superseding_a_fact_hides_what_it_was_quoted_from_until_that_is_undone() {
    let store = |text: &str| ScriptedTurn::call("store_memory", json!({"text": text}));
    let noop = || ScriptedTurn::call("noop", json!({}));
    let home = Home::with_all_shared(
        ScriptedModel::new([store("Alice lives in Antwerp"), noop(), noop()]).then_for_ever(noop()),
    )
    .configured(|config| config.limits = config.limits.with_max_history(0).unwrap());
    let tell = async |number, words: &str| {
        let life = home.wake().await;
        let message = Perceive::whisper("Alice", words).number(number).build();
        life.accept(message).await;
        life.handle.at_rest().await;
        life.end().await.unwrap();
        home.last_shown()
    };
    tell(1, "by the way, Alice lives in Antwerp these days").await;
    tell(2, "by the way, Bob lives in Ghent, near Antwerp").await;
    let fact = home.log.events(&crate::home::key());
    let fact = fact.iter().find(|stored| stored.kind == "remembered");
    let record = Origin::event(fact.unwrap().seq);
    let shown = tell(3, "who lives in Antwerp or near it?").await;
    let lines = |shown: &str| {
        let said = [
            "Alice lives in Antwerp these",
            ": Alice lives in Antwerp\n",
            "near Antwerp",
        ];
        said.map(|line| shown.contains(line))
    };
    assert!(lines(&shown)[0] && lines(&shown)[2], "{shown}");
    let until = home.clock.now();
    let by = None;
    let ended = changed(&home, MemoryChange::Superseded { record, by, until }).await;
    let shown = tell(4, "who lives in Antwerp or near it now?").await;
    assert!(!lines(&shown)[0] && lines(&shown)[2], "{shown}");
    assert!(!shown.contains("Alice lives"), "{shown}");
    changed(&home, MemoryChange::Undone { event: ended }).await;
    let shown = tell(5, "so who lives in Antwerp, or near it?").await;
    assert!(lines(&shown)[0], "{shown}");
}
