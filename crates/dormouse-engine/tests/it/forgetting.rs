//! Forgetting leaves nothing of the selection anywhere, and removes nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dormouse_contracts::{
    Append, AppendRequest, Attribution, Audience, Author, EntityId, NewEvent, Origin, Sender, Seq,
    StoredEvent, Timestamp,
};
use dormouse_engine::{
    DecidedAgain, EmergencyStopCleared, EmergencyStopTriggered, EntityChanged, Event, ForgetPlan,
    KnownPeople, LogRewrite, Perceived, Person, Selection, SettingChanged, State, StopCause,
    WhoError, catch_up, decide_again, lost_words, replay, unreferred,
};
use dormouse_entities::EntityChange;
use dormouse_memory::{Record, RecordStatus};
use dormouse_testing::{CountTokens, MemoryLog, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    consolidating::{consolidator, logged},
    home::{Home, in_virtual_time, key, minutes, shown},
    rebuilding::decide,
};

const PEOPLE: [(&str, &str); 4] = [("a", "Alice"), ("b", "Bob"), ("c", "Alice"), ("d", "Dora")];

fn id(who: u8) -> EntityId {
    EntityId::try_new(PEOPLE[usize::from(who) % PEOPLE.len()].0).unwrap()
}

/// Four words that nobody else says.
fn secret(number: u64) -> [String; 4] {
    [0, 1, 2, 3].map(|place| {
        let mut left = 1 + number * 4 + place;
        let mut word = "q".to_owned();
        while left > 0 {
            word.push_str(
                ["ba", "ki", "do", "fu", "le", "mo", "sa"][usize::try_from(left % 7).unwrap()],
            );
            left /= 7;
        }
        word.push_str("ndra");
        word
    })
}

fn line(number: u64) -> String {
    let [a, b, c, d] = secret(number);
    format!("I keep {a} and {b} behind the {c} of {d}.")
}

/// A model that notes, says and observes its last message word for word, and searches the memory.
fn parrot() -> ScriptedModel {
    let calls = AtomicU64::new(0);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let shown = shown(request);
        let said = shown
            .rfind("I keep ")
            .and_then(|at| shown[at..].split_inclusive('.').next());
        let said = said.unwrap_or("Good day.").to_owned();
        match calls.fetch_add(1, Ordering::Relaxed) % 7 {
            0 => ScriptedTurn::call(
                "store_memory",
                json!({"text": format!("Somebody said: {said}"), "about": "Dora"}),
            ),
            1 => {
                let to = ["Bob", "Alice"][said.len() % 2];
                ScriptedTurn::call("whisper", json!({"to": to, "message": said}))
            }
            2 => ScriptedTurn::call(
                "add_entity_observation",
                json!({"entity": "b", "content": said}),
            ),
            3 => ScriptedTurn::call("recall_memories", json!({"query": said})),
            4 => ScriptedTurn::call("get_entity_profile", json!({"entity": said})),
            5 => ScriptedTurn::call("say", json!({"message": format!("You know: {said}")})),
            _ => ScriptedTurn::call("noop", json!({})),
        }
    }))
}

/// A model that plans something, notes something, or only answers.
fn planner() -> ScriptedModel {
    let calls = AtomicU64::new(0);
    ScriptedModel::looping(ScriptedTurn::with(move |_| {
        let number = calls.fetch_add(1, Ordering::Relaxed);
        let (tool, arguments) = match number % 5 {
            0 => (
                "add_pending_action",
                json!({"entity": "b", "description": format!("Ask about {number}")}),
            ),
            2 => (
                "store_memory",
                json!({"text": format!("It was visit {number}.")}),
            ),
            _ => (
                "say",
                json!({"message": format!("That is number {number}.")}),
            ),
        };
        ScriptedTurn::call(tool, arguments)
    }))
}

/// A model that makes a fact from every line, and an interest from every observation.
fn scribe() -> ScriptedModel {
    ScriptedModel::looping(ScriptedTurn::with(|request| {
        let shown = shown(request);
        if shown.contains("Notes:") {
            return ScriptedTurn::text(r#"{"interests": ["keeping things"]}"#);
        }
        let lines = shown.lines().filter_map(|line| {
            let (id, said) = line.strip_prefix('[')?.split_once(']')?;
            Some(json!({"text": format!("It holds that {}", said.trim()), "from": [id], "kind": "fact"}))
        });
        ScriptedTurn::text(json!(lines.collect::<Vec<_>>()).to_string())
    }))
}

#[derive(Clone, Debug)]
struct Life {
    /// Who speaks, how, and whom they quote.
    heard: Vec<(u8, u8, Option<u8>)>,
    /// Whether facts are made at the end.
    has_night: bool,
}

impl Life {
    /// The number of the message that this one quotes, if any.
    fn quoted(&self, number: u64) -> Option<u64> {
        let of = |number: u64| self.heard[usize::try_from(number - 1).unwrap()].2;
        let other = 1 + u64::from(of(number)?) % number;
        (other < number && of(other).is_none()).then_some(other)
    }
}

fn life() -> impl Strategy<Value = Life> {
    let said = (
        0..4_u8,
        any::<u8>(),
        proptest::option::weighted(0.1, any::<u8>()),
    );
    (proptest::collection::vec(said, 3..14), any::<bool>())
        .prop_map(|(heard, has_night)| Life { heard, has_night })
}

/// Runs the life. Returns for each line number who said it.
async fn lived(home: &Home, life: &Life) -> BTreeMap<u64, u8> {
    let said = visited(home, life, 0..life.heard.len()).await;
    if life.has_night {
        let mut memory = logged(home).await;
        consolidator(home, scribe()).run(&mut memory).await.unwrap();
    }
    said
}

/// One visit, in which some of the lines are said.
async fn visited(home: &Home, life: &Life, lines: Range<usize>) -> BTreeMap<u64, u8> {
    let mut said = BTreeMap::new();
    let running = home.wake().await;
    let heard = life.heard.iter().zip(1_u64..);
    for ((who, how, _), number) in heard.take(lines.end).skip(lines.start) {
        let (id, name) = PEOPLE[usize::from(*who)];
        let text = match life.quoted(number) {
            Some(other) => format!(
                "Somebody told me: {} And I {}.",
                line(other),
                secret(number)[0]
            ),
            None => line(number),
        };
        let perceive = match how % 4 {
            0 => Perceive::say(name, &text),
            1 => Perceive::whisper(name, &text),
            2 => Perceive::channel(name, "public", &text),
            _ => Perceive::addressed(name, &text),
        };
        tokio::time::advance(minutes(1)).await;
        let sender = Sender::Entity {
            id: EntityId::try_new(id).unwrap(),
            name: name.to_owned(),
        };
        said.insert(number, *who);
        let at = Timestamp::from_micros(
            1_767_268_800_000_000 + i64::try_from(number).unwrap() * 60_000_000,
        );
        running
            .accept(perceive.sender(sender).number(number).at(at).build())
            .await;
        running.handle.at_rest().await;
    }
    running.end().await.unwrap();
    said
}

/// The log without the selection, as rewriting its file produces it.
pub(crate) async fn without(log: &MemoryLog, selection: Selection) -> (MemoryLog, ForgetPlan) {
    let mut people = KnownPeople::default();
    people.read(log, &key()).await.unwrap();
    let plans = ForgetPlan::of_each(log, &[key()], &[], selection, &people).await;
    let plan = plans.unwrap().remove(&key()).unwrap();
    let mut rewrite = LogRewrite::new(&plan);
    let mut events = Vec::new();
    for stored in log.events(&key()) {
        let payload = rewrite.payload(&stored).unwrap();
        events.push(NewEvent {
            at: stored.at,
            kind: Event::decode(&stored).unwrap().kind(),
            schema: stored.schema,
            payload: payload.unwrap_or(stored.payload),
        });
    }
    let at = events.last().unwrap().at;
    events.push(rewrite.end(at, "florian", "asked to").unwrap());
    let new = MemoryLog::new();
    let request = AppendRequest {
        assistant: key(),
        expected: Seq::ZERO,
        events,
    };
    new.append(request).await.unwrap();
    (new, plan)
}

pub(crate) fn bytes(log: &MemoryLog) -> String {
    let events = log.events(&key()).into_iter();
    let texts = events.map(|event| String::from_utf8(event.payload).unwrap().to_lowercase());
    texts.collect::<Vec<_>>().join("\n")
}

pub(crate) async fn records(home: &mut Home, log: &MemoryLog) -> BTreeMap<Origin, Record> {
    home.lose_memory();
    catch_up(log, &key(), &home.memory).await.unwrap();
    let records = home.memory.records(None, 10_000).await.unwrap();
    records
        .into_iter()
        .map(|record| (record.id, record))
        .collect()
}

async fn again(log: &MemoryLog) -> DecidedAgain {
    let again = decide_again(log, &key(), Seq(u64::MAX), |_| Arc::new(CountTokens)).await;
    again.unwrap_or_else(|error| panic!("{error}: {error:#?}"))
}

fn message(stored: &StoredEvent) -> Option<Perceived> {
    match Event::decode(stored).unwrap() {
        Event::Perceived(perceived) => Some(perceived),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(24)))]

    #[test]
    fn nothing_of_a_selection_is_left_and_nothing_else_is_lost(
        life in life(),
        what in 0..4_u8,
        which in any::<u64>(),
    ) {
        in_virtual_time(async {
            let mut home = Home::with_all_shared(parrot());
            let mut said = lived(&home, &life).await;
            let before = home.log.events(&key());
            // What nobody says to it on a channel is not in the log.
            let messages = before.iter().filter_map(|stored| {
                let number = message(stored)?.perception.attested.delivery.number;
                Some((number, stored.clone()))
            });
            let messages: BTreeMap<_, _> = messages.collect();
            said.retain(|number, _| messages.contains_key(number));
            let Some((number, stored)) = messages.iter().nth(usize::try_from(which).unwrap() % messages.len().max(1)) else {
                return;
            };
            let number = *number;
            let who = said[&number];
            let (selection, gone): (_, BTreeSet<u64>) = match what {
                0 => (
                    Selection::Person(Person::of_ids(BTreeSet::from([id(who)]))),
                    said.iter().filter(|(_, by)| **by == who).map(|(number, _)| *number).collect(),
                ),
                1 => (Selection::Record(Origin::event(stored.seq)), BTreeSet::from([number])),
                2 => (
                    Selection::Span { from: Some(stored.at), until: None },
                    said.keys().copied().filter(|other| *other >= number).collect(),
                ),
                _ => (
                    Selection::Text(secret(number)[0].clone()),
                    said.keys().copied().filter(|other| *other == number || life.quoted(*other) == Some(number)).collect(),
                ),
            };
            let old_bytes = bytes(&home.log);
            let old_records = {
                let log = home.log.clone();
                records(&mut home, &log).await
            };
            let (log, plan) = without(&home.log, selection.clone()).await;

            // Nothing of it is left.
            let new_bytes = bytes(&log);
            for number in &gone {
                // A line with a quotation has one word of its own; the quoted words may be somebody else's.
                let own = if life.quoted(*number).is_some() { 1 } else { 4 };
                for word in secret(*number).iter().take(own) {
                    assert!(old_bytes.contains(word), "{word} was there");
                    assert!(!new_bytes.contains(word), "{word} of {number} is left after {selection:?}");
                }
            }

            // Every event has its place, time and kind, and everything can be read and folded.
            let after = log.events(&key());
            assert_eq!(after.len(), before.len() + 1);
            for (old, new) in before.iter().zip(&after) {
                assert_eq!((old.seq, old.at, &old.kind, old.schema), (new.seq, new.at, &new.kind, new.schema));
                assert_eq!(old.payload == new.payload, !lost_words(new));
            }
            let changed = after.iter().filter(|event| lost_words(event)).count();
            assert_eq!(changed as u64, plan.events());
            let state: State = replay(&log, &key(), Seq(u64::MAX)).await.unwrap();
            assert_eq!(state.seq, after.last().unwrap().seq);
            let compared = again(&log).await;
            assert!(compared.forgotten >= plan.events().min(1));

            // The events of the turns that answered the selection.
            let gone_events: BTreeSet<_> = gone.iter().map(|number| messages[number].seq).collect();
            let mut answers = BTreeSet::new();
            let mut is_answering = false;
            for stored in &before {
                match Event::decode(stored).unwrap() {
                    Event::TickStarted(started) => is_answering = gone_events.contains(&started.trigger),
                    Event::TickEnded(_) => is_answering = false,
                    // A note that names it as its source, or that was made from it.
                    Event::Remembered(note)
                        if gone_events.contains(&note.origin.seq())
                            || answers.contains(&note.origin.seq())
                            || note.sources.as_slice().iter().any(|source| {
                                gone_events.contains(&source.seq()) || answers.contains(&source.seq())
                            }) =>
                    {
                        answers.insert(stored.seq);
                    }
                    _ if is_answering => drop(answers.insert(stored.seq)),
                    _ => {}
                }
            }

            // Other people's words are unchanged, in the log and in the memory.
            for (number, stored) in &messages {
                let now = message(&after[usize::try_from(stored.seq.0 - 1).unwrap()]).unwrap();
                if !gone.contains(number) && life.quoted(*number).is_none() {
                    assert_eq!(now, message(stored).unwrap(), "{number} is lost by {selection:?}");
                }
            }
            let new_records = records(&mut home, &log).await;
            for (origin, old) in &old_records {
                let text = old.text.to_lowercase();
                let tells = gone.iter().any(|number| secret(*number).iter().any(|word| text.contains(word)));
                let Some(new) = new_records.get(origin) else {
                    // A fact is not rebuilt if its source is gone.
                    assert!(tells, "{old:?} is missing after {selection:?}");
                    continue;
                };
                // Two people who quote the same line say the same run of words. In the second message it counts as a
                // copy.
                let is_quotation = text.contains("somebody told me");
                if !tells && !is_quotation && !new.text.is_empty() {
                    let same = Record { status: old.status, links: old.links.clone(), ..new.clone() };
                    assert_eq!(same, *old);
                } else if new.text.is_empty() {
                    assert_eq!(new.status, RecordStatus::Withdrawn);
                }
                // Only events made from the selection, or made in answering it, are emptied.
                if new.text.is_empty() && !old.text.is_empty() {
                    let is_taken = |source: &Origin| {
                        gone_events.contains(&source.seq())
                            || answers.contains(&source.seq())
                            || new_records.get(source).is_none_or(|record| record.text.is_empty())
                    };
                    let is_answer = answers.contains(&origin.seq())
                        || old.provenance.derived_from.iter().any(is_taken);
                    let person = id(who);
                    let is_about = what == 0
                        && (old.speaker.id() == Some(&person) || old.tags.contains(person.as_str()));
                    // If it repeats words that a forgotten line quoted, after that line, this is a copy of the line.
                    let is_copy = old.speaker == Attribution::Myself
                        && gone.iter().filter_map(|number| life.quoted(*number)).any(|quoted| {
                            secret(quoted).iter().any(|word| text.contains(word))
                        });
                    assert!(
                        tells || is_answer || is_about || is_copy,
                        "{old:?} is emptied by {selection:?}",
                    );
                }
            }

            // Forgetting the same selection again removes nothing more.
            let (twice, plan) = without(&log, selection).await;
            assert_eq!(plan.events(), 0, "{:?}", plan.examples());
            assert_eq!(&twice.events(&key())[..after.len()], &after[..]);
        });
    }

    #[test]
    fn after_visits_and_forgettings_in_any_order_every_decision_is_the_same_again(
        life in life(),
        forgotten in proptest::collection::vec((1..5_usize, 0..5_u8, any::<u64>()), 2..6),
    ) {
        in_virtual_time(async {
            let mut home = Home::with_all_shared(parrot());
            let mut from = 0;
            for (lines, what, which) in forgotten {
                let until = life.heard.len().min(from + lines);
                // The end of a visit replays all decisions.
                visited(&home, &life, from..until).await;
                from = until;
                let events = home.log.events(&key());
                let heard: Vec<_> = events.iter().filter(|stored| message(stored).is_some()).collect();
                let Some(stored) = heard.get(usize::try_from(which).unwrap() % heard.len().max(1)) else {
                    continue;
                };
                let number = message(stored).unwrap().perception.attested.delivery.number;
                let selection = match what {
                    0 => Selection::Person(Person::of_ids(BTreeSet::from([id(u8::try_from(which % 4).unwrap())]))),
                    1 => Selection::Record(Origin::event(stored.seq)),
                    2 => Selection::Span { from: None, until: Some(stored.at) },
                    3 => Selection::Span { from: Some(stored.at), until: None },
                    _ => Selection::Text(secret(number)[0].clone()),
                };
                let (log, plan) = without(&home.log, selection).await;
                // A plan that removes nothing is not written.
                if plan.events() > 0 {
                    home.log = log;
                    home.lose_memory();
                    again(&home.log).await;
                }
            }
            visited(&home, &life, from..life.heard.len()).await;
            again(&home.log).await;
        });
    }

    #[test]
    fn what_is_old_goes_unless_something_refers_to_it_and_everything_else_stays(
        life in life(),
        minute in 0..16_u64,
    ) {
        in_virtual_time(async {
            let home = Home::with_all_shared(planner());
            let said = lived(&home, &life).await;
            let events = home.log.events(&key());
            let Some(first) = events.first() else { return };
            let before = first.at.plus(minutes(minute));
            let messages = unreferred(&home.log, &key(), before).await.unwrap();

            // The references to each message, or to the turn that answered it, read directly from the log.
            let (mut referred, mut trigger) = (BTreeSet::new(), None);
            let mut answers: BTreeMap<Seq, Seq> = BTreeMap::new();
            let mut acts = BTreeMap::new();
            for stored in &events {
                let event = Event::decode(stored).unwrap();
                let payload: serde_json::Value = serde_json::from_slice(&stored.payload).unwrap();
                if let Event::TickStarted(started) = &event {
                    trigger = Some(started.trigger);
                }
                if let (Some(trigger), None) = (trigger, message(stored)) {
                    answers.insert(stored.seq, trigger);
                }
                if let (Event::EffectIntended(intended), Some(trigger)) = (&event, trigger) {
                    acts.insert(intended.key.clone(), trigger);
                }
                if let Some(cause) = message(stored).and_then(|it| it.perception.attested.cause) {
                    answers.extend(acts.get(&cause).map(|trigger| (stored.seq, *trigger)));
                }
                let notes = matches!(stored.kind.as_str(), "remembered" | "memory_changed")
                    || payload.pointer("/author/tool").is_some();
                if notes {
                    referred.extend(trigger);
                    let texts = payload.to_string();
                    for field in ["\"origin\":\"", "\"derived_from\":[\"", "\"sources\":[\""] {
                        for (at, _) in texts.match_indices(field) {
                            let of = &texts[at + field.len()..];
                            let of = of.split(']').next().unwrap();
                            referred.extend(of.split('"').map_while(|part| match part {
                                "," => Some(None),
                                part => part.parse::<Origin>().ok().map(|it| Some(it.seq())),
                            }).flatten());
                        }
                    }
                }
                if matches!(event, Event::TickEnded(_)) {
                    trigger = None;
                }
            }
            let through_answers: Vec<_> = referred.iter().filter_map(|seq| answers.get(seq)).copied().collect();
            referred.extend(through_answers);
            for stored in &events {
                let Some(perceived) = message(stored) else { continue };
                let is_due = stored.at < before
                    && perceived.perception.attested.cause.is_none()
                    && !referred.contains(&stored.seq);
                assert_eq!(messages.contains(&stored.seq), is_due, "{} of {said:?}", stored.seq);
            }

            // The rewriting removes these messages and their turns, and nothing else that was said or noted.
            let selection = Selection::Unreferred { before, messages: messages.clone() };
            let (log, _) = without(&home.log, selection).await;
            for (old, new) in events.iter().zip(&log.events(&key())) {
                let is_taken = messages.contains(&old.seq)
                    || answers.get(&old.seq).is_some_and(|trigger| messages.contains(trigger));
                match old.kind.as_str() {
                    "perceived" if messages.contains(&old.seq) => {
                        assert!(message(new).unwrap().perception.words.is_forgotten());
                    }
                    "remembered" | "memory_changed" | "entity_changed" => assert_eq!(old, new),
                    "perceived" | "replied" | "effect_intended" if !is_taken => assert_eq!(old, new),
                    _ => {}
                }
            }
            again(&log).await;
            assert!(unreferred(&log, &key(), before).await.unwrap().is_empty());
        });
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_said_to_somebody_of_the_same_name_stays_said_to_them() {
    let answer =
        |text: &str| ScriptedTurn::call("whisper", json!({"to": "Alice", "message": text}));
    let mut home = Home::new([
        answer("Your barge leaves at noon."),
        answer("Your heron is well."),
        answer("Your barge is late."),
    ]);
    let running = home.wake().await;
    for (number, who) in (1..).zip([0_u8, 2, 0]) {
        let (id, name) = PEOPLE[usize::from(who)];
        let sender = Sender::Entity {
            id: EntityId::try_new(id).unwrap(),
            name: name.to_owned(),
        };
        let perceive = Perceive::whisper(name, &line(number)).sender(sender);
        tokio::time::advance(minutes(1)).await;
        running.accept(perceive.number(number).build()).await;
        running.handle.at_rest().await;
    }
    running.end().await.unwrap();
    let of_other = |home: &Home| {
        let known = home.memory.entities();
        let talk = known.conversation(&id(2)).unwrap();
        let profile = known.profile(&id(2)).unwrap();
        serde_json::to_value((talk, profile)).unwrap()
    };
    let log = home.log.clone();
    let before = (records(&mut home, &log).await, of_other(&home));
    let (log, plan) = without(
        &home.log,
        Selection::Person(Person::of_ids(BTreeSet::from([id(0)]))),
    )
    .await;
    assert!(plan.events() > 0);
    let after = (records(&mut home, &log).await, of_other(&home));
    assert_eq!(after.1, before.1);
    let answered = |records: &BTreeMap<Origin, Record>| {
        let mut records = records.values();
        let record = records
            .find(|record| record.text.contains("heron"))
            .unwrap();
        (
            record.text.clone(),
            record.thread.clone(),
            record.audience.clone(),
        )
    };
    assert_eq!(answered(&after.0), answered(&before.0));
    assert!(!bytes(&log).contains("barge"));
}

#[tokio::test(start_paused = true)]
async fn words_that_a_model_wrote_into_fields_for_ids_are_found_too() {
    let said = line(1);
    let home = Home::where_all_is_shared([
        ScriptedTurn::call("noop", json!({})),
        ScriptedTurn::call(
            "get_entity_profile",
            json!({"entity": said, "name": said, "kind": [said], "source": {"id": said}}),
        ),
        ScriptedTurn::call(&said, json!({})),
        ScriptedTurn::call("whisper", json!({"to": said, "message": "Good day."})),
        ScriptedTurn::call("noop", json!({})),
    ]);
    for (number, name, text) in [(1, "Alice", &*said), (2, "Bob", "Whom do you know?")] {
        let perceive = Perceive::whisper(name, text).number(number);
        home.hear(perceive.build()).await;
    }
    assert!(bytes(&home.log).matches(&secret(1)[0]).count() > 6);
    let (log, _) = without(&home.log, Selection::Text(said.clone())).await;
    let left = bytes(&log);
    let left: Vec<_> = left
        .lines()
        .filter(|line| line.contains(&secret(1)[0]))
        .collect();
    assert!(left.is_empty(), "{left:#?}");
    again(&log).await;
}

/// Somebody says something, under this id and name, to those who are there.
fn says(id: &str, name: &str, text: &str, heard_by: &[String]) -> Perceive {
    let ids = heard_by.iter().map(String::as_str).chain([id, "npc:me"]);
    let audience = ids.map(|id| EntityId::try_new(id).unwrap());
    let sender = Sender::Entity {
        id: EntityId::try_new(id).unwrap(),
        name: name.to_owned(),
    };
    Perceive::addressed(name, text)
        .sender(sender)
        .audience(audience.collect::<Audience>())
}

async fn person(log: &MemoryLog, who: &str) -> Result<Person, WhoError> {
    let mut people = KnownPeople::default();
    people.read(log, &key()).await.unwrap();
    people.find(who)
}

fn silent() -> Home {
    Home::with_all_shared(ScriptedModel::looping(ScriptedTurn::call(
        "noop",
        json!({}),
    )))
}

#[tokio::test(start_paused = true)]
async fn one_of_thousands_is_forgotten_and_the_others_keep_what_they_heard() {
    let home = silent();
    let crowd = |size: usize| -> Vec<String> {
        let ids = (0..size).map(|number| format!("player:{number:04}"));
        ids.collect()
    };
    for (number, (id, text, size)) in (1..).zip([
        ("player:0007", line(1), 200),
        ("player:0008", line(2), 200),
        ("player:0007", line(3), 5_000),
        ("player:0008", line(4), 5_000),
    ]) {
        let heard = says(id, "Crowd", &text, &crowd(size)).number(number);
        home.hear(heard.build()).await;
    }
    let before: Vec<_> = home.log.events(&key()).iter().filter_map(message).collect();
    let of = person(&home.log, "player:0007").await.unwrap();
    let (log, _) = without(&home.log, Selection::Person(of)).await;
    let after: Vec<_> = log.events(&key()).iter().filter_map(message).collect();
    for (number, is_gone) in [(1, true), (2, false), (3, true), (4, false)] {
        let is_left = bytes(&log).contains(&secret(number)[0]);
        assert_eq!(is_left, !is_gone, "{number}");
    }
    // The words of the others, and who heard them, are unchanged.
    assert_eq!((&after[1], &after[3]), (&before[1], &before[3]));
    assert!(bytes(&log).len() < bytes(&home.log).len() + 1_000);
    again(&log).await;
}

#[tokio::test(start_paused = true)]
async fn somebody_is_forgotten_under_every_name_and_every_id_that_was_merged() {
    let home = silent();
    for (number, (id, name)) in (1..).zip([
        ("player:1", "Alice"),
        ("player:1", "Lady Alice"),
        ("player:2", "Masked"),
        ("player:3", "Bob"),
    ]) {
        let heard = says(id, name, &line(number), &[]).number(number);
        home.hear(heard.build()).await;
    }
    let merged = EntityChange::Merged {
        from: EntityId::try_new("player:2").unwrap(),
        into: EntityId::try_new("player:1").unwrap(),
    };
    let merged = EntityChanged {
        change: merged,
        author: Author::Operator("florian".to_owned()),
        reason: "one person".to_owned(),
    };
    decide(&home, &Event::EntityChanged(merged)).await;
    // Each name that the person ever had selects all of the person's messages.
    for who in ["Alice", "lady alice", "Masked", "player:2"] {
        let of = person(&home.log, who).await.unwrap();
        let (log, _) = without(&home.log, Selection::Person(of)).await;
        let left = bytes(&log);
        for (number, is_left) in [(1, false), (2, false), (3, false), (4, true)] {
            assert_eq!(
                left.contains(&secret(number)[0]),
                is_left,
                "{number} for {who}"
            );
        }
        assert!(!left.contains("lady") && !left.contains("masked"), "{left}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_name_of_somebody_who_acted_as_an_operator_goes_and_what_they_did_stays() {
    let home = silent();
    for (number, (id, name)) in (1..).zip([("player:1", "Alice"), ("player:2", "Bob")]) {
        let heard = says(id, name, &line(number), &[]).number(number);
        home.hear(heard.build()).await;
    }
    for by in ["Alice", "Bob"].map(str::to_owned) {
        let stopped = EmergencyStopTriggered {
            cause: StopCause::Operator(by.clone()),
            reason: None,
        };
        let cleared_by = by.clone();
        let set = SettingChanged {
            setting: "limits.tick_rate".to_owned(),
            old: None,
            new: Some(json!(10)),
            by,
        };
        decide(&home, &Event::EmergencyStopTriggered(stopped)).await;
        let cleared = EmergencyStopCleared { cleared_by };
        decide(&home, &Event::EmergencyStopCleared(cleared)).await;
        decide(&home, &Event::SettingChanged(set)).await;
    }
    let of = person(&home.log, "Alice").await.unwrap();
    let (log, plan) = without(&home.log, Selection::Person(of)).await;
    let left = bytes(&log);
    assert!(!left.contains("alice"), "{left}");
    assert!(left.matches(r#""bob""#).count() >= 4, "{left}");
    let kinds = |log: &MemoryLog| -> Vec<_> {
        let events = log.events(&key()).into_iter();
        events.map(|event| event.kind).collect()
    };
    assert_eq!(kinds(&log)[..kinds(&home.log).len()], kinds(&home.log));
    assert!(plan.counts()["copies"] >= 3, "{:?}", plan.counts());
    again(&log).await;
}

#[tokio::test(start_paused = true)]
async fn two_players_of_one_character_are_one_person_and_two_characters_of_one_name_are_two() {
    let home = silent();
    for (number, (id, name)) in (1..).zip([
        ("npc:guard", "Guard (played by Alice)"),
        ("npc:guard", "Guard (played by Bob)"),
        ("npc:cook", "Twin"),
        ("npc:maid", "Twin"),
    ]) {
        let heard = says(id, name, &line(number), &[]).number(number);
        home.hear(heard.build()).await;
    }
    let of = person(&home.log, "Guard (played by Bob)").await.unwrap();
    let (log, _) = without(&home.log, Selection::Person(of)).await;
    let left = bytes(&log);
    let is_left = [1, 2, 3, 4].map(|number| left.contains(&secret(number)[0]));
    assert_eq!(is_left, [false, false, true, true]);
    let two = person(&home.log, "Twin").await.unwrap_err();
    assert!(
        matches!(&two, WhoError::Several { known, .. } if known.len() == 2),
        "{two}"
    );
    let nobody = person(&home.log, "Zebedee").await.unwrap_err();
    assert!(matches!(nobody, WhoError::Unknown { .. }));
}
