//! Everything derived names all its sources, and is forgotten with them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use dormouse_contracts::{
    Append, AppendRequest, Attribution, Audience, ChatRequest, EntityId, Message, Origin, Purpose,
    Seq, Sources, Trust,
};
use dormouse_engine::{Event, Person, Remembered, Replied, Selection, decide_again, lost_words};
use dormouse_entities::EntityChange;
use dormouse_memory::{MemoryChange, RecordKind};
use dormouse_testing::{CountTokens, MemoryLog, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    consolidating::{consolidator, logged},
    forgetting::{bytes, records, without},
    home::{Home, in_virtual_time, key, shown},
    rebuilding::decide,
    trust::{alice, live, noop, note, note_from},
};

/// A derived item in the log.
#[derive(Debug)]
struct Derived {
    at: Origin,
    text: String,
    sources: Vec<Origin>,
    trust: Trust,
    /// Who may learn it; `None` if that is computed from other items when it is applied.
    audience: Option<Audience>,
}

fn happened(home: &Home) -> Vec<(Origin, Event)> {
    let events = home.log.events(&key()).into_iter();
    let events = events.map(|it| (Origin::event(it.seq), Event::decode(&it).unwrap()));
    events.collect()
}

fn derived(home: &Home) -> Vec<Derived> {
    let mut found = Vec::new();
    for (at, event) in happened(home) {
        let mut add = |at, text: String, sources: &Sources, trust, audience: Option<Audience>| {
            found.push(Derived {
                at,
                text,
                sources: sources.as_slice().to_vec(),
                trust,
                audience,
            });
        };
        match event {
            Event::Remembered(it) => add(at, it.text, &it.sources, it.trust, it.audience),
            Event::EntityChanged(changed) => match changed.change {
                EntityChange::Observed {
                    observation: it, ..
                } => {
                    add(
                        at,
                        it.content.to_string(),
                        &it.sources,
                        it.trust,
                        it.audience,
                    );
                }
                EntityChange::AttributesUpdated {
                    update,
                    trust,
                    audience,
                    sources,
                    ..
                } => add(at, json!(update).to_string(), &sources, trust, audience),
                EntityChange::Consolidated {
                    update,
                    trust,
                    sources,
                    ..
                } => add(at, json!(update).to_string(), &sources, trust, None),
                EntityChange::Judged {
                    reason,
                    trust,
                    audience,
                    sources,
                    ..
                } => add(at, reason.to_string(), &sources, trust.unwrap(), audience),
                EntityChange::ActionAdded {
                    description,
                    trust,
                    audience,
                    sources,
                    ..
                } => add(
                    at,
                    description.to_string(),
                    &sources,
                    trust.unwrap(),
                    audience,
                ),
                _ => {}
            },
            Event::MemoryChanged(changed) => {
                if let MemoryChange::Extracted { facts, .. } = changed.change {
                    for (fact, part) in facts.iter().zip(1..) {
                        let json = serde_json::to_value(&fact.note).unwrap();
                        let trust = serde_json::from_value(json["trust"].clone()).unwrap();
                        let sources = fact.note.sources().iter().copied().collect();
                        add(
                            at.part(part).unwrap(),
                            fact.note.text().to_owned(),
                            &sources,
                            trust,
                            None,
                        );
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn a_note_names_all_messages_whose_words_are_in_it() {
    let home = Home::where_all_is_shared([
        noop(),
        noop(),
        note("Alice's horse is called Star and eats purple thistles"),
        noop(),
    ]);
    live(
        &home,
        [
            alice("my horse is called Star"),
            alice("it eats purple thistles"),
            alice("now please note that about my horse"),
        ],
    )
    .await;
    let [note] = &*derived(&home) else {
        panic!("one note");
    };
    let [first, second, third] = messages(&home)[..] else {
        panic!("three messages");
    };
    assert_eq!(note.sources, [first, second, third]);
    let record = home.memory.record(note.at).await.unwrap().unwrap();
    assert_eq!(record.provenance.derived_from, note.sources);
    let why = home.memory.why(note.at).await.unwrap().unwrap();
    let why: BTreeSet<_> = why.sources.iter().map(|record| record.id).collect();
    assert_eq!(why, note.sources.iter().copied().collect());
}

/// The messages, in the order of the log.
fn messages(home: &Home) -> Vec<Origin> {
    let heard = happened(home).into_iter();
    let heard = heard.filter(|(_, event)| matches!(event, Event::Perceived(_)));
    heard.map(|(at, _)| at).collect()
}

#[tokio::test(start_paused = true)]
async fn a_note_of_a_note_of_a_profile_and_of_an_order_names_what_they_rest_on() {
    let home = Home::new([
        ScriptedTurn::call(
            "add_entity_observation",
            json!({"entity": "player:Alice", "content": "Alice grows saffron"}),
        ),
        noop(),
        note("She grows saffron and oregano"),
        noop(),
        ScriptedTurn::call("get_entity_profile", json!({"entity": "player:Alice"})),
        note("In autumn there is saffron"),
        noop(),
    ])
    .configured(|config| config.limits = config.limits.with_max_history(0).unwrap());
    live(
        &home,
        [
            alice("I grow saffron"),
            alice("oregano as well, note both"),
            alice("what is there in autumn?"),
        ],
    )
    .await;
    let derived = derived(&home);
    let heard = messages(&home);
    let names: Vec<_> = derived.iter().map(|it| (&*it.text, &*it.sources)).collect();
    assert_eq!(names[0], ("Alice grows saffron", &heard[..1]));
    assert!(
        names[1].1.contains(&heard[0]) && names[1].1.contains(&heard[1]),
        "{names:?}"
    );
    assert!(
        names[2].1.contains(&heard[0]) && names[2].1.contains(&heard[2]),
        "{names:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn independent_accounts_are_the_sources_of_what_they_confirm() {
    let claim = "the bridge is closed tonight";
    let turns = [noop(), noop(), note(claim), noop()];
    let home = Home::new(turns).configured(|config| config.independent_accounts = 3);
    let ids = |ids: &[&str]| -> Audience {
        let ids = ids.iter().copied().chain(["npc:me"]);
        ids.map(|id| EntityId::try_new(id).unwrap()).collect()
    };
    let said = ["Bob", "Carol", "Dora"].map(|name| {
        Perceive::say(name, &format!("@dormouse {claim}"))
            .audience(ids(&[&format!("player:{name}")]))
    });
    let home = home.configured(|config| config.privacy = dormouse_engine::Privacy::Shared);
    live(&home, said).await;
    let [note] = &*derived(&home) else {
        panic!("one note: {:?}", derived(&home));
    };
    assert_eq!(
        (note.trust.score(), &*note.sources),
        (0.5, &*messages(&home))
    );
    let record = home.memory.record(note.at).await.unwrap().unwrap();
    assert_eq!(
        record.trust.score(),
        0.5,
        "no source lowers what they confirm together"
    );
}

#[tokio::test(start_paused = true)]
async fn a_note_goes_with_any_of_its_sources_and_another_stays() {
    let home = Home::where_all_is_shared([
        noop(),
        note_from("The thistles are purple and tall", &["2"]),
        noop(),
        note("Rain falls"),
        noop(),
    ]);
    live(
        &home,
        [
            alice("the thistles are purple"),
            Perceive::whisper("Bob", "they are tall"),
            Perceive::whisper("Carol", "rain falls"),
        ],
    )
    .await;
    let heard = messages(&home);
    for (gone, expected) in [(heard[0], [true, false]), (heard[2], [false, true])] {
        let home = home.clone();
        let (log, _) = without(&home.log, Selection::Record(gone)).await;
        let lost: Vec<_> = log.events(&key());
        let lost = derived(&home).into_iter().map(|it| {
            let seq = it.at.seq();
            lost.iter()
                .any(|event| event.seq == seq && lost_words(event))
        });
        assert_eq!(lost.collect::<Vec<_>>(), expected, "{gone}");
    }
}

/// A life in which the assistant tells Bob in its own words what Alice said, and notes that for Carol from its own
/// words.
async fn retold() -> Home {
    let say = |text: &str| ScriptedTurn::call("say", json!({"message": text}));
    let home = Home::where_all_is_shared([
        say("Welcome, dear guest!"),
        say("A mare by the name of Plumbago lives near here."),
        note("Carol wants to ride Plumbago"),
        noop(),
        say("It rains."),
    ])
    // The prompt for the next visitor shows only the last turn.
    .configured(|config| config.limits = config.limits.with_max_history(1).unwrap());
    let said = [
        ("Alice", "Plumbago is what I call my horse"),
        ("Bob", "is there any news?"),
        ("Carol", "may I ride her one day?"),
        ("Dora", "how is the weather?"),
    ];
    let said = said.map(|(name, said)| Perceive::whisper(name, said));
    Box::pin(live(&home, said)).await;
    home
}

/// The same log as written by a program that listed no sources for these kinds of events.
async fn without_sources(log: &MemoryLog, of: &[&str]) -> MemoryLog {
    let older = MemoryLog::new();
    for stored in log.events(&key()) {
        let event = match Event::decode(&stored).unwrap() {
            Event::Replied(replied) if of.contains(&"replied") => Event::Replied(Replied {
                sources: None,
                ..replied
            }),
            Event::Remembered(note) if of.contains(&"remembered") => {
                Event::Remembered(Remembered {
                    sources: Sources::default(),
                    ..note
                })
            }
            event => event,
        };
        let event = event.encode(stored.at).unwrap();
        let request = AppendRequest {
            assistant: key(),
            expected: Seq(stored.seq.0 - 1),
            events: vec![event],
        };
        older.append(request).await.unwrap();
    }
    older
}

#[tokio::test(start_paused = true)]
async fn what_the_assistant_retold_goes_with_whose_words_it_has_and_so_does_what_was_made_of_it() {
    let home = Box::pin(retold()).await;
    let older = without_sources(&home.log, &["replied"]).await;
    let oldest = without_sources(&home.log, &["replied", "remembered"]).await;
    let replies = |log: &MemoryLog| {
        let events = log.events(&key()).into_iter();
        let replied = events.filter_map(|stored| match Event::decode(&stored).unwrap() {
            Event::Replied(replied) => Some(replied.sources.is_some()),
            _ => None,
        });
        replied.collect::<Vec<_>>()
    };
    assert_eq!(
        (replies(&home.log), replies(&older)),
        (vec![true; 5], vec![false; 5])
    );
    let of = |name: &str| {
        let id = EntityId::try_new(format!("player:{name}")).unwrap();
        Selection::Person(Person::of_ids(BTreeSet::from([id])))
    };
    for log in [&home.log, &older] {
        decide_again(log, &key(), Seq(u64::MAX), |_| Arc::new(CountTokens))
            .await
            .unwrap();
    }
    for log in [&home.log, &older, &oldest] {
        let (left, _) = without(log, of("Alice")).await;
        let left = bytes(&left);
        assert!(!left.contains("plumbago"), "{left}");
        for stays in [
            "any news",
            "ride her one day",
            "how is the weather",
            "it rains",
        ] {
            assert!(left.contains(stays), "{stays} in {left}");
        }
        // Words that it says to everybody belong to nobody.
        let (left, _) = without(log, of("Dora")).await;
        assert!(bytes(&left).contains("a mare by the name of plumbago"));
    }
}

#[tokio::test(start_paused = true)]
async fn how_the_assistant_greets_everybody_goes_with_nobody_else() {
    let say = |text: &str| ScriptedTurn::call("say", json!({"message": text}));
    let home = Home::where_all_is_shared([
        say("Welcome, dear guest!"),
        say("Welcome, dear guest! A mare by the name of Plumbago lives near here."),
        say("Welcome, dear guest! Have a seat."),
    ]);
    let said = [
        ("Alice", "Plumbago is what I call my horse"),
        ("Bob", "is there any news?"),
        ("Carol", "I am tired"),
    ];
    let said = said.map(|(name, said)| Perceive::whisper(name, said));
    Box::pin(live(&home, said)).await;
    let (left, _) = without(&home.log, Selection::Record(messages(&home)[0])).await;
    let left = bytes(&left);
    assert!(!left.contains("plumbago"), "{left}");
    assert!(left.contains("welcome, dear guest! have a seat."), "{left}");
}

#[tokio::test(start_paused = true)]
async fn what_three_people_say_is_nobodys_when_the_assistant_says_it() {
    let say = |text: &str| ScriptedTurn::call("say", json!({"message": text}));
    let home = Home::where_all_is_shared([noop(), noop(), noop(), say("Then mind the ferry.")]);
    let said = [
        ("Alice", "the ferry was late"),
        ("Bob", "no ferry today"),
        ("Carol", "I missed the ferry"),
        ("Dora", "I walk home"),
    ];
    let said = said.map(|(name, said)| Perceive::whisper(name, said));
    Box::pin(live(&home, said)).await;
    for heard in &messages(&home)[..3] {
        let (left, _) = without(&home.log, Selection::Record(*heard)).await;
        assert!(bytes(&left).contains("then mind the ferry"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_number_of_an_event_is_not_taken_for_a_number_that_somebody_said() {
    let home = Home::new([noop()]);
    live(&home, [alice("the safe opens with 1234")]).await;
    let other = Origin::event(Seq(1234));
    let note = Event::Remembered(Remembered {
        text: "rain falls".to_owned(),
        from: Attribution::Myself,
        trust: Trust::FULL,
        origin: other,
        sources: [other].into_iter().collect(),
        kind: RecordKind::Fact,
        about: None,
        audience: None,
    });
    decide(&home, &note).await;
    let (log, _) = without(&home.log, Selection::Record(messages(&home)[0])).await;
    let events = log.events(&key()).into_iter();
    let events: Vec<_> = events.map(|event| Event::decode(&event).unwrap()).collect();
    assert!(events.contains(&note), "{events:?}");
    assert!(!bytes(&log).contains("opens with"));
}

const PEOPLE: [&str; 4] = ["Alice", "Bob", "Carol", "Dora"];

/// One message: who says it, how, who else is present, and what the model derives from it.
#[derive(Clone, Debug)]
struct Said {
    who: usize,
    is_aloud: bool,
    others: BTreeSet<usize>,
    habit: u64,
}

fn said() -> impl Strategy<Value = Said> {
    let others = prop::collection::btree_set(0_usize..4, 0..3);
    (0_usize..4, any::<bool>(), others, any::<u64>()).prop_map(|(who, is_aloud, others, habit)| {
        Said {
            who,
            is_aloud,
            others,
            habit,
        }
    })
}

/// The words that occur in only one message.
fn own_words(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.starts_with("zq")).collect()
}

/// A model that looks everything up and notes some of the words that it is shown, from some of the sources.
fn scholar(ids: Arc<Mutex<BTreeSet<Origin>>>) -> ScriptedModel {
    let calls = AtomicU64::new(0);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let text = shown(request);
        let number = calls.fetch_add(1, Ordering::Relaxed);
        ids.lock().unwrap().extend(ids_in(&text));
        answer(request, &text, number)
    }))
}

/// The ids that a prompt shows.
fn ids_in(text: &str) -> BTreeSet<Origin> {
    let ids = text.split('#').skip(1);
    let ids = ids.map(|after| {
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '.');
        after[..end.unwrap_or(after.len())].trim_end_matches('.')
    });
    ids.filter_map(|id| id.parse().ok()).collect()
}

fn answer(request: &ChatRequest, text: &str, number: u64) -> ScriptedTurn {
    let words = own_words(text);
    // A different half of the words each time, always with the first.
    let some = words
        .iter()
        .enumerate()
        .filter(|(place, _)| *place == 0 || (number >> (place % 7)).is_multiple_of(2));
    let some: Vec<_> = some.map(|(_, word)| *word).take(9).collect();
    let said = format!("the word is {}", some.join(" "));
    if request.purpose == Purpose::Consolidation {
        let id = text
            .lines()
            .find_map(|line| Some(line.strip_prefix('[')?.split_once(']')?.0.to_owned()));
        return ScriptedTurn::text(match id {
            Some(id) => json!([{"text": said, "from": [id]}]).to_string(),
            None => json!({"preferences": {"word": said}, "interests": some}).to_string(),
        });
    }
    let results = request.messages.iter().rev();
    let results = results
        .take_while(|message| matches!(message, Message::Tool { .. }))
        .count();
    let who = format!(
        "player:{}",
        PEOPLE[usize::try_from(number / 3 % 4).unwrap()]
    );
    match results {
        0 => ScriptedTurn::calls([
            ("recall_memories", json!({"query": "the word", "limit": 5})),
            ("get_entity_profile", json!({"entity": who})),
        ]),
        2 => {
            let (tool, mut arguments) = match number % 7 {
                0 => ("store_memory", json!({"text": said})),
                1 => (
                    "add_entity_observation",
                    json!({"entity": who, "content": said}),
                ),
                2 => (
                    "update_entity_profile",
                    json!({"entity": who, "preferences": {"word": said}}),
                ),
                3 => (
                    "update_relationship",
                    json!({"entity": who, "metric": "favorability", "change": 0.1, "reason": said}),
                ),
                4 => ("keep_note", json!({"kind": "fact", "text": said})),
                5 => ("create_project", json!({"summary": said})),
                _ => (
                    "add_pending_action",
                    json!({"entity": who, "description": said}),
                ),
            };
            let ids: Vec<_> = ids_in(text).into_iter().collect();
            if number.is_multiple_of(3)
                && let Some(id) = ids.get(usize::try_from(number / 5).unwrap() % ids.len().max(1))
            {
                arguments["sources"] = json!([format!("#{id}")]);
            }
            ScriptedTurn::call(tool, arguments)
        }
        _ => noop(),
    }
}

/// The ids of items that a prompt shows, without ids that only a call or an error repeats.
fn shown_ids(text: &str) -> BTreeSet<Origin> {
    let first = |after: &str| {
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '.');
        after[..end.unwrap_or(after.len())].parse().ok()
    };
    let shown = ["[#", "(#", "\"id\":\"#"].into_iter();
    let after = shown.flat_map(|before| text.split(before).skip(1));
    after.filter_map(first).collect()
}

/// A model that looks things up and names, for each note, a source that the prompt may or may not show. Each note
/// contains its number, and `named` records for each whether its source was shown.
fn guesser(named: Arc<Mutex<Vec<bool>>>, picks: Vec<u64>) -> ScriptedModel {
    let asked = AtomicU64::new(0);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let round = usize::try_from(asked.fetch_add(1, Ordering::Relaxed)).unwrap();
        let text = shown(request);
        let visible = shown_ids(&text);
        let mut named = named.lock().unwrap();
        let pick = picks[round % picks.len()];
        let source = match visible.iter().nth(usize::try_from(pick % 64).unwrap()) {
            Some(id) if pick.is_multiple_of(5) => *id,
            _ => Origin::event(Seq(1 + pick % 90)),
        };
        let look = ("recall_memories", json!({"query": "tea word", "limit": 10}));
        let is_first = !matches!(request.messages.last(), Some(Message::Tool { .. }));
        let store = |named: &mut Vec<bool>| {
            named.push(visible.contains(&source));
            let note = json!({"text": format!("rain falls zq{}x", named.len() - 1), "sources": [format!("#{source}")]});
            ("store_memory", note)
        };
        match (is_first, pick % 4) {
            (true, 0 | 1) => ScriptedTurn::calls([look]),
            (true, 2) => ScriptedTurn::calls([look, store(&mut named)]),
            (true, _) => ScriptedTurn::calls([store(&mut named)]),
            (false, 0) => ScriptedTurn::calls([store(&mut named)]),
            (false, _) => noop(),
        }
    }))
}

/// Runs a life with such a model. Returns for each note whether its source was shown, and whether the note was
/// accepted.
async fn guessed(window: u32, history: usize, life: &[(u64, usize)]) -> Vec<(bool, bool)> {
    let named = Arc::<Mutex<Vec<bool>>>::default();
    let picks = life.iter().map(|(pick, _)| *pick).collect();
    let home = Home::with_all_shared(guesser(named.clone(), picks)).configured(|config| {
        let limits = config.limits.with_max_history(history).unwrap();
        config.limits = limits.with_max_context_tokens(window).unwrap();
    });
    let heard = life.iter().enumerate().map(|(number, (pick, length))| {
        let name = PEOPLE[number % 4];
        let text = format!("the word is zr{number}x {}", "tea ".repeat(*length));
        match pick % 3 {
            0 => Perceive::say(name, &text),
            _ => Perceive::whisper(name, &text),
        }
    });
    live(&home, heard).await;
    let accepted: BTreeSet<_> = derived(&home).into_iter().map(|it| it.text).collect();
    let named = named.lock().unwrap().clone();
    let all = named.into_iter().enumerate();
    all.map(|(number, was_shown)| {
        (
            was_shown,
            accepted.contains(&format!("rain falls zq{number}x")),
        )
    })
    .collect()
}

async fn lived(home: &Home, life: &[Said], has_night: bool) {
    let running = home.wake_configured().await;
    for (said, number) in life.iter().zip(1_u64..) {
        let name = PEOPLE[said.who];
        let text = format!("the word is zq{number}x, @dormouse");
        let present = said
            .others
            .iter()
            .chain([&said.who])
            .map(|who| PEOPLE[*who]);
        let ids = |names: Vec<&str>| -> Audience {
            let ids = names.into_iter().map(|name| format!("player:{name}"));
            ids.map(|id| EntityId::try_new(id).unwrap()).collect()
        };
        let heard = match said.is_aloud {
            true => Perceive::addressed(name, &text).audience(ids(present.collect())),
            false => Perceive::whisper(name, &text).audience(ids(vec![name])),
        };
        tokio::time::advance(std::time::Duration::from_secs(
            60 * (1 + said.habit % 3_000),
        ))
        .await;
        running.accept(heard.number(number).build()).await;
        running.handle.at_rest().await;
    }
    running.end().await.unwrap();
    if has_night {
        let ids = Arc::default();
        let mut by = consolidator(home, scholar(ids));
        by.settings.people.min_observations = 1;
        by.run(&mut logged(home).await).await.unwrap();
    }
}

fn home(history: usize) -> (Home, Arc<Mutex<BTreeSet<Origin>>>) {
    let ids = Arc::<Mutex<BTreeSet<Origin>>>::default();
    let home = Home::with(scholar(ids.clone()));
    let home = home.configured(|config| {
        config.limits = config.limits.with_max_history(history).unwrap();
    });
    (home, ids)
}

/// The trust and audience of the facts and projects that it keeps for itself.
fn kept_for_itself(home: &Home) -> BTreeMap<Origin, (Trust, Audience)> {
    let stored = home.log.events(&crate::home::key());
    let kept = stored.iter().filter_map(|stored| {
        let event = Event::decode(stored).unwrap();
        let (_, notes) = event.noted()?;
        let note = notes.first()?;
        let known = (note.trust, note.audience.clone());
        Some((Origin::event(stored.seq), known))
    });
    kept.collect()
}

/// All direct and indirect sources of an origin, including itself.
fn closure(all: &BTreeMap<Origin, Vec<Origin>>, of: Origin) -> BTreeSet<Origin> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![of];
    while let Some(next) = waiting.pop() {
        if found.insert(next) {
            waiting.extend(all.get(&next).into_iter().flatten());
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(96)))]

    #[test]
    fn what_is_derived_rests_on_what_was_shown_and_is_believed_and_known_no_further(
        life in prop::collection::vec(said(), 2..9), has_night in any::<bool>(), history in 0_usize..4,
    ) {
        in_virtual_time(async {
            let (home, ids) = home(history);
            lived(&home, &life, has_night).await;
            let records = home.memory.records(None, 10_000).await.unwrap();
            let records: BTreeMap<_, _> = records.into_iter().map(|record| (record.id, record)).collect();
            let kept = kept_for_itself(&home);
            let mut shown: BTreeSet<_> = ids.lock().unwrap().clone();
            for it in derived(&home) {
                assert!(!it.sources.is_empty() && it.sources.len() <= Sources::MOST, "{it:?}");
                for source in &it.sources {
                    assert!(source < &it.at, "{it:?} comes before {source}");
                    let is_of_night = it.at.part_number() > 0 || it.audience.is_none();
                    assert!(is_of_night || shown.contains(source), "{source} of {it:?} was never shown");
                    let (trust, known_to) = match records.get(source) {
                        Some(record) => (record.trust, record.known_to()),
                        None => kept[source].clone(),
                    };
                    assert!(it.trust <= trust, "{it:?} is believed more than {source}");
                    if let Some(audience) = &it.audience {
                        assert!(known_to.covers(audience), "{it:?} is known to more than {source}");
                    }
                }
                shown.insert(it.at);
            }
        });
    }

    #[test]
    fn nothing_is_left_of_what_was_derived_from_something_forgotten(
        life in prop::collection::vec(said(), 2..9), has_night in any::<bool>(), which in any::<usize>(),
    ) {
        in_virtual_time(async {
            // Without earlier turns in the prompt, notes about them come from records and profiles.
            let (mut home, _) = home(0);
            lived(&home, &life, has_night).await;
            let heard = messages(&home);
            let gone = heard[which % heard.len()];
            let all = derived(&home);
            let lists = all.iter().map(|it| (it.at, it.sources.clone())).collect();
            let (log, _) = without(&home.log, Selection::Record(gone)).await;
            let word = format!("zq{}x", 1 + which % heard.len());
            let left = log.events(&key());
            for it in &all {
                let rests = closure(&lists, it.at).contains(&gone);
                assert!(rests || !it.text.contains(&word), "{it:?} says {word} of {gone}");
                let event = left.iter().find(|event| event.seq == it.at.seq()).unwrap();
                assert!(!rests || lost_words(event), "{it:?} rests on {gone}");
            }
            assert!(!bytes(&log).contains(&word), "{word} is left");
            for record in records(&mut home, &log).await.into_values() {
                assert!(!record.text.contains(&word), "{record:?}");
            }
            let known = home.memory.with_entities(|known| serde_json::to_string(known).unwrap());
            assert!(!known.contains(&word), "{known}");
        });
    }

    #[test]
    fn no_id_that_the_prompt_did_not_show_is_ever_accepted_as_a_source(
        window in 2_048_u32..9_000, history in 0_usize..6,
        life in prop::collection::vec((any::<u64>(), 0_usize..900), 4..24),
    ) {
        in_virtual_time(async {
            for (number, (was_shown, is_accepted)) in guessed(window, history, &life).await.into_iter().enumerate() {
                assert!(was_shown || !is_accepted, "note {number} of {life:?}, window {window}, history {history}");
            }
        });
    }
}

#[test]
fn ids_that_are_shown_are_accepted_and_others_of_the_same_life_are_not() {
    let life: Vec<_> = (0_u64..60).map(|number| (number * 5, 200)).collect();
    let all = in_virtual_time(guessed(5_600, 3, &life));
    let count = |it| all.iter().filter(|found| **found == it).count();
    assert!(
        count((true, true)) > 2 && count((false, false)) > 2,
        "{all:?}"
    );
    assert_eq!(count((false, true)), 0);
}
