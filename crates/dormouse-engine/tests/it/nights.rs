//! A night that is interrupted ends as one that is left alone.

use std::time::Duration;

use dormouse_contracts::{Author, ChatRequest, Purpose};
use dormouse_engine::{Event, Rest, SleepSettings, SleepStep, StepEnd, restore};
use dormouse_memory::{Derivation, MemoryChange};
use dormouse_testing::{Perceive, ScriptedModel, ScriptedTurn};
use serde_json::json;
use tokio::time::sleep;

use crate::home::{Home, key};

/// The clock of a home begins at midnight UTC: this is a night from one to five.
fn from_one_to_five() -> SleepSettings {
    SleepSettings {
        enabled: true,
        start_hour: 1,
        ..SleepSettings::default()
    }
}

fn hours(count: u64) -> Duration {
    Duration::from_secs(3_600 * count)
}

/// What three people say where it is.
const THINGS: [&str; 3] = [
    "little red boat lies in the old harbour of",
    "tall grey horse stands in the long stable of",
    "thin silver ring hides in the deep cellar of",
];

/// A model that keeps the subject of each line, at length, and loses the one word that mattered.
fn wordy() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request: &ChatRequest| {
        match request.purpose {
            Purpose::Consolidation => {
                let shown = crate::home::shown(request);
                let lines = shown.lines().filter(|line| line.starts_with('['));
                let facts = lines.map(|line| {
                    let id = line.trim_start_matches('[').split(']').next().unwrap();
                    let thing = THINGS.into_iter().find(|thing| line.contains(thing));
                    let text = format!("the {} ", thing.unwrap_or("night")).repeat(20);
                    json!({"text": format!("{text} {id}"), "from": [id]})
                });
                ScriptedTurn::text(json!(facts.collect::<Vec<_>>()).to_string())
            }
            _ => ScriptedTurn::call("noop", json!({})),
        }
    }))
}

/// What happens in the night.
#[derive(Clone, Copy, Debug)]
enum Interruption {
    /// The log dies after so many writes of the night, and the assistant wakes again.
    Kill(usize),
    /// Somebody speaks after so many events of the night.
    Message(usize),
}

/// Three people say where things are; the facts that are made of it in the night are lost.
async fn a_night_that_loses(interruption: Option<Interruption>) -> Home {
    let home = Home::with(wordy()).configured(|config| config.sleep = from_one_to_five());
    let life = home.wake().await;
    let harbours = [
        "Berlin", "Hamburg", "Bremen", "Kiel", "Lisbon", "Porto", "Genoa", "Naples", "Oslo",
        "Bergen", "Malmo", "Riga",
    ];
    for (number, harbour) in harbours.into_iter().enumerate() {
        let who = ["Alice", "Bob", "Carol"][number % 3];
        let said = format!("my {} {harbour}", THINGS[number % 3]);
        let said = Perceive::whisper(who, &said).number(number as u64 + 1);
        life.accept(said.build()).await;
        assert_eq!(life.handle.at_rest().await, Rest::Settled);
    }
    sleep(Duration::from_secs(3_000)).await;
    let before = home.log.events(&key()).len();
    match interruption {
        None => {
            sleep(hours(6)).await;
            life.end().await.unwrap();
        }
        Some(Interruption::Kill(writes)) => {
            home.log.close_after(writes);
            sleep(hours(1)).await;
            life.crash().await;
            home.log.reopen();
            let life = home.wake().await;
            sleep(hours(5)).await;
            life.end().await.unwrap();
        }
        Some(Interruption::Message(events)) => {
            while home.log.events(&key()).len() < before + events {
                sleep(Duration::from_millis(1)).await;
            }
            let said = Perceive::whisper("Dora", "are you awake?").number(13);
            life.accept(said.build()).await;
            sleep(hours(6)).await;
            life.end().await.unwrap();
        }
    }
    home
}

/// What the night did: the end of its step, the events that made facts, the events that were taken back, and whether any fact is left.
async fn lost(home: &Home) -> (bool, Vec<u64>, Vec<u64>, bool) {
    let at_end = restore(&home.log, &key()).await.unwrap();
    let night = at_end.sleep.last_night().unwrap();
    let mut steps = night.steps.iter();
    let step = steps.find(|it| it.step == SleepStep::ConsolidateMemory);
    let end = step.unwrap().end;
    let is_taken_back =
        matches!(end, Some(StepEnd::TakenBack(it)) if it.after < it.before && it.kept == 0);
    let (mut made, mut taken_back) = (Vec::new(), Vec::new());
    for stored in home.log.events(&key()) {
        if let Event::MemoryChanged(it) = Event::decode(&stored).unwrap() {
            assert_eq!(it.author, Author::Sleep(1));
            match it.change {
                MemoryChange::Extracted { .. } => made.push(stored.seq.0),
                MemoryChange::Undone { event } => taken_back.push(event.0),
                _ => {}
            }
        }
    }
    taken_back.reverse();
    let records = home.memory.records(None, 1_000).await.unwrap();
    let mut facts = records
        .iter()
        .filter(|it| it.provenance.derivation != Derivation::Heard);
    let is_any_left = facts.any(|fact| fact.is_in_use());
    (is_taken_back, made, taken_back, is_any_left)
}

#[tokio::test(start_paused = true)]
async fn work_that_lost_is_taken_back_once_whatever_interrupts_it_at_any_write() {
    let (is_taken_back, made, taken_back, is_any_left) = lost(&a_night_that_loses(None).await).await;
    assert!(is_taken_back && !is_any_left);
    assert_eq!((made.len(), &taken_back), (3, &made));
    let kills = (1..=20).map(Interruption::Kill);
    let messages = (1..=18).map(Interruption::Message);
    for interruption in kills.chain(messages) {
        let home = a_night_that_loses(Some(interruption)).await;
        let (is_taken_back, made, taken_back, is_any_left) = lost(&home).await;
        assert!(is_taken_back && !is_any_left, "{interruption:?}");
        assert_eq!(taken_back, made, "{interruption:?}");
        assert_eq!(made.len(), 3, "{interruption:?}");
    }
}
