//! A memory can be rebuilt from its log alone, so it may be lost at any time.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dormouse_contracts::{
    Append, AppendRequest, Attribution, Audience, Author, Clock, EntityId, ModelErrorKind, Origin,
    Sender, Seq, Sources, Timestamp, Trust,
};
use dormouse_engine::{
    CatchUpError, EntityChanged, Event, MemoryChanged, Person, Selection, catch_up,
};
use dormouse_entities::{
    ActionText, AttributeUpdate, ChangeReason, EntityChange, EntityType, Favorability, Keyword,
    Metric, Name, NewObservation, StaleAfter, Topic,
};
use dormouse_memory::{
    LinkKind, Memory, MemoryBuilder, MemoryChange, MemoryOpenError, Note, RecallRequest,
    write::ExtractionSettings,
};
use dormouse_testing::{HashedEmbedder, Perceive, ScriptedModel, ScriptedTurn, effort};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    consolidating::{consolidator, logged},
    forgetting,
    home::{Home, every_decision_is_the_same_again, in_virtual_time, key, shown},
    memory::{Contents, contents},
};

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

/// A model that cycles through: remember something, speak, note something about somebody, end the turn.
fn lively() -> ScriptedModel {
    let turns = (0..400).map(|number| match number % 4 {
        0 => ScriptedTurn::call(
            "store_memory",
            json!({"text": "somebody likes numbers", "about": "Alice"}),
        ),
        1 => ScriptedTurn::call("whisper", json!({"to": "Alice", "message": "so do I"})),
        2 => ScriptedTurn::call(
            "add_entity_observation",
            json!({"entity": "a", "content": "likes numbers"}),
        ),
        _ => noop(),
    });
    ScriptedModel::new(turns).then_for_ever(noop())
}

fn id(who: u8) -> EntityId {
    EntityId::try_new(["a", "b", "c"][usize::from(who % 3)]).unwrap()
}

/// Two of the three share a name.
fn name(who: u8) -> &'static str {
    ["Alice", "Bob", "Alice"][usize::from(who % 3)]
}

#[derive(Clone, Debug)]
enum Step {
    /// These people speak, and are answered. At the end the assistant is killed, or finishes its work.
    Life {
        heard: Vec<(u8, u8)>,
        is_killed: bool,
    },
    /// A command changes the memory; it may be inapplicable.
    Command { what: u8, one: usize, other: usize },
    /// A command changes what is known about people; it may be inapplicable.
    People { what: u8, who: u8, whom: u8 },
    /// A model makes facts and attributes, with odd replies. The program may be killed after some events, and files may
    /// be deleted during a model call.
    Night {
        seed: u64,
        killed_after: Option<u8>,
        loses: Option<Files>,
    },
    /// A command takes back the change of any event, or makes it again.
    Undo(usize),
    /// The assistant ends, and its memory is opened again from what is left on the disk.
    Lost(Files),
    /// These files are deleted while they are open: the next steps continue with the open files.
    Unlinked(Files),
    /// The words of one event, or of one person, are forgotten: the log is a different one from then on.
    Forgotten { which: usize, who: Option<u8> },
    /// The clock is set by this many hours.
    Clock(i8),
}

/// Which files of the memory are deleted.
#[derive(Clone, Copy, Debug)]
enum Files {
    All,
    /// The records, with the vectors, but not the copy of the search index.
    Records,
    /// The copy of the search index.
    Copy,
    None,
}

impl Files {
    fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            Just(Self::All),
            Just(Self::Records),
            Just(Self::Copy),
            Just(Self::None)
        ]
    }

    fn remove(self, path: &Path) {
        let files = Memory::files(path).into_iter();
        for file in files.filter(|file| match self {
            Self::All => true,
            Self::Records => file == path,
            Self::Copy => file != path,
            Self::None => false,
        }) {
            // A copy may not be there yet.
            drop(std::fs::remove_file(file));
        }
    }
}

fn with_vectors(home: &Home) -> MemoryBuilder {
    let clock = home.clock.clone();
    let memory = Memory::builder(key(), move || clock.now());
    memory.encoder(Arc::new(HashedEmbedder::new(16)))
}

/// Opens the memory from what is on the disk.
async fn reopen(home: &mut Home, path: &Path) {
    home.lose_memory();
    // The work of a killed assistant releases the file a moment later.
    for _ in 0..1_000 {
        match with_vectors(home).open(path).await {
            Ok(memory) => {
                home.memory = memory;
                return;
            }
            Err(MemoryOpenError::File(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}: {error:?}"),
        }
    }
    panic!("somebody keeps {} open", path.display());
}

/// A new memory that indexes the whole log at once.
async fn anew(home: &Home) -> Memory {
    let memory = with_vectors(home).ephemeral().unwrap();
    catch_up(&home.log, &key(), &memory).await.unwrap();
    memory
}

/// The results of a search by words and by vectors, in order.
async fn found(memory: &Memory) -> Vec<(Origin, String)> {
    while memory.index_pending(512).await.unwrap().waiting > 0 {}
    let at = Timestamp::from_micros(1_800_000_000_000_000);
    let request = RecallRequest::new("who likes numbers in the old mill").asked_at(at);
    let recall = memory.recall(request).await.unwrap();
    let found = recall.items.into_iter();
    found.map(|it| (it.record.id, it.record.text)).collect()
}

/// Checks that the memory on the disk equals one rebuilt from the log.
async fn follows(home: &Home) {
    follow(home).await;
    let anew = anew(home).await;
    assert_eq!(everything(&home.memory).await, everything(&anew).await);
    assert_eq!(found(&home.memory).await, found(&anew).await);
}

/// Forgets something, like a command: the log is rewritten, and the memory is rebuilt.
async fn forget(home: &mut Home, path: &Path, selection: Selection) {
    if home.log.events(&key()).is_empty() {
        return;
    }
    let (log, _) = forgetting::without(&home.log, selection).await;
    home.log = log;
    Files::All.remove(path);
    reopen(home, path).await;
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (proptest::collection::vec(any::<(u8, u8)>(), 1..4), any::<bool>())
            .prop_map(|(heard, is_killed)| Step::Life { heard, is_killed }),
        5 => (any::<u8>(), any::<usize>(), any::<usize>())
            .prop_map(|(what, one, other)| Step::Command { what, one, other }),
        3 => any::<(u8, u8, u8)>().prop_map(|(what, who, whom)| Step::People { what, who, whom }),
        3 => (any::<u64>(), proptest::option::of(0..9_u8), proptest::option::of(Files::any()))
            .prop_map(|(seed, killed_after, loses)| Step::Night { seed, killed_after, loses }),
        4 => any::<usize>().prop_map(Step::Undo),
        3 => Files::any().prop_map(Step::Lost),
        2 => Files::any().prop_map(Step::Unlinked),
        1 => (any::<usize>(), proptest::option::of(0..3_u8))
            .prop_map(|(which, who)| Step::Forgotten { which, who }),
        1 => any::<i8>().prop_map(Step::Clock),
    ]
}

/// A model that sometimes gives odd replies: lines that it was not shown, secrets, nothing, a poem, or a failure. These
/// files are deleted at its second request.
fn odd(seed: u64, loses: Option<(Files, PathBuf)>) -> ScriptedModel {
    let calls = AtomicU64::new(0);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        if let (1, Some((files, path))) = (call, &loses) {
            files.remove(path);
        }
        let dice = seed.rotate_left(7 * u32::try_from(call % 9).unwrap()) ^ call;
        let shown = shown(request);
        let lines = shown.lines().filter_map(|line| {
            let (id, said) = line.strip_prefix('[')?.split_once(']')?;
            Some((id.to_owned(), said.to_owned()))
        });
        let lines: Vec<_> = lines.collect();
        let facts = lines.iter().enumerate().map(|(number, (id, said))| {
            let text = match (dice >> (number % 16)) % 6 {
                0 => said.clone(),
                1 => "password=hunter2!".to_owned(),
                2 => "the assistant likes numbers".to_owned(),
                3 => format!("Alice likes number {call}{number} in the old mill"),
                _ => format!("Alice likes number {} in the old mill", dice % 7),
            };
            let from = if dice.is_multiple_of(5) { "777.3" } else { id };
            json!({"text": text, "from": [from, id], "kind": "preference", "about": [text]})
        });
        let facts = json!(facts.collect::<Vec<_>>()).to_string();
        let known = shown
            .lines()
            .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let verdicts = known.enumerate().map(|(number, record)| {
            let action = ["supersede", "ignore", "link", "add", "erase"][number % 5];
            json!({"fact": format!("c{}", dice % 3), "action": action, "record": record})
        });
        match dice % 8 {
            0 => ScriptedTurn::text("[]"),
            1 => ScriptedTurn::text("Mice sleep in the teapot."),
            2 => ScriptedTurn::Fail(ModelErrorKind::Unavailable),
            3 => ScriptedTurn::Fail(ModelErrorKind::Refused),
            _ if shown.contains("Notes:") => ScriptedTurn::text(r#"{"interests": ["numbers"]}"#),
            _ if lines.is_empty() => {
                ScriptedTurn::text(json!(verdicts.collect::<Vec<_>>()).to_string())
            }
            _ => ScriptedTurn::text(facts),
        }
    }))
}

/// Consolidates the memory; killed after some events, if so many are written.
async fn night(home: &Home, seed: u64, killed_after: Option<u8>, loses: Option<(Files, PathBuf)>) {
    let mut memory = logged(home).await;
    if let Some(count) = killed_after {
        home.log.close_after(usize::from(count));
    }
    let ended = consolidator(home, odd(seed, loses)).run(&mut memory).await;
    assert!(ended.is_ok() || killed_after.is_some(), "{ended:?}");
    home.log.reopen();
    every_decision_is_the_same_again(&home.log).await;
}

/// The whole content of a memory, and the records that no model has read yet.
async fn everything(memory: &Memory) -> (Contents, Vec<Origin>) {
    let settings = ExtractionSettings::default();
    let unread = memory.unread_sources(&settings, 10_000).await.unwrap();
    let unread = unread.iter().map(dormouse_memory::write::Source::id);
    (contents(memory).await, unread.collect())
}

/// Takes back the change of this event, or makes it again. An inapplicable undo is refused and writes nothing.
async fn undo(home: &Home, which: usize) {
    let mut memory = logged(home).await;
    let count = home.log.events(&key()).len() as u64;
    // Prefers one of the last events, because later changes depend on the others.
    let event = Seq(count.saturating_sub(which as u64 % (count / 3 + 2)));
    let by = Author::Operator("florian".to_owned());
    let undone = memory.undo(event, by, "undone").await;
    if undone.is_err() {
        assert_eq!(home.log.events(&key()).len() as u64, count, "{undone:?}");
    }
}

fn command(what: u8, (one, other): (Origin, Origin), mark: usize) -> MemoryChange {
    let note = |text: String| Note::new(text).from_source(format!("chat:{}", mark % 5));
    match what % 10 {
        8 => MemoryChange::Published { record: one },
        0 => MemoryChange::Added {
            notes: vec![Note::new(format!("a kettle, number {mark}"))],
        },
        1 => MemoryChange::Added {
            notes: vec![
                note(format!("imported line {mark}")).said_by("Alice"),
                Note::new(format!("api_key=a1b2c3 of line {mark}")),
                note(format!("the same line again {mark}")),
            ],
        },
        2 => MemoryChange::Withdrawn { record: one },
        3 => MemoryChange::Erased { record: one },
        4 => MemoryChange::Superseded {
            record: one,
            by: mark.is_multiple_of(2).then_some(other),
            until: dormouse_contracts::Timestamp::from_micros(1_900_000_000_000_000),
        },
        5 => MemoryChange::Folded {
            records: vec![one, other],
            into: other,
        },
        6 => MemoryChange::Linked {
            a: one,
            b: other,
            kind: LinkKind::Explains,
            weight: 0.5,
        },
        _ => MemoryChange::Undone { event: one.seq() },
    }
}

fn people(what: u8, who: EntityId, whom: EntityId, mark: usize) -> EntityChange {
    let name = |text: &str| Name::try_new(text).unwrap();
    let trust = [None, Some(Trust::NONE), Some(Trust::FULL)][mark % 3];
    match what % 21 {
        15 => EntityChange::Judged {
            entity: who,
            step: Favorability::try_new([-0.1, 0.2][mark % 2]).unwrap(),
            reason: ChangeReason::shortened(&format!("because of mill {mark}")).unwrap(),
            trust,
            audience: mark
                .is_multiple_of(2)
                .then(|| Audience::of([whom]).unwrap()),
            sources: Sources::default(),
        },
        16 => EntityChange::MetricSet {
            entity: who,
            metric: Metric::Favorability(Favorability::try_new(0.3).unwrap()),
        },
        17 => EntityChange::ConversationStarted {
            entity: who,
            topic: Topic::shortened(&format!("mill {}", mark % 3)),
            stale_after: StaleAfter::default(),
        },
        18 => EntityChange::TopicChanged {
            entity: who,
            topic: Topic::shortened(&format!("tea {mark}")).unwrap(),
            sources: Sources::default(),
        },
        19 => EntityChange::ConversationEnded { entity: who },
        20 => EntityChange::StaleCleared {
            stale_after: StaleAfter::default(),
        },
        8 => EntityChange::Retyped {
            entity: who,
            entity_type: EntityType::Object,
        },
        9 => EntityChange::AliasRemoved {
            entity: who,
            alias: name("Bobby"),
        },
        10 => EntityChange::AttributesUpdated {
            entity: who,
            update: AttributeUpdate {
                interests: vec![Keyword::try_new(format!("mills{}", mark % 3)).unwrap()],
                ..AttributeUpdate::default()
            },
            trust: Trust::FULL,
            audience: None,
            sources: Sources::default(),
        },
        11 => EntityChange::MetricSet {
            entity: who,
            metric: Metric::Trust(Trust::NONE),
        },
        12 => EntityChange::ActionAdded {
            entity: who,
            description: ActionText::shortened(&format!("look for mill {mark}")).unwrap(),
            priority: 1,
            due_at: None,
            when: Vec::new(),
            until: None,
            trust: None,
            audience: None,
            sources: Sources::default(),
        },
        13 => EntityChange::ActionCompleted {
            entity: who,
            action: u64::try_from(mark % 3).unwrap(),
            noted_at: None,
            completion: Default::default(),
        },
        14 => EntityChange::Purged { entity: who },
        0 => EntityChange::Created {
            entity: who,
            entity_type: EntityType::Npc,
            name: name("Alice"),
        },
        1 => EntityChange::Renamed {
            entity: who,
            name: name("Robert"),
        },
        2 => EntityChange::AliasAdded {
            entity: who,
            alias: name("Bobby"),
        },
        3 => EntityChange::Merged {
            from: who,
            into: whom,
        },
        4 => EntityChange::Unmerged { entity: who },
        5 => EntityChange::Deleted { entity: who },
        6 => EntityChange::Restored { entity: who },
        _ => EntityChange::Observed {
            entity: who,
            observation: NewObservation {
                content: dormouse_entities::ObservationText::shortened(&format!(
                    "sold mill {mark}"
                ))
                .unwrap(),
                source: dormouse_entities::ObservationSource::shortened("direct").unwrap(),
                trust: Trust::FULL,
                origin: Some(Origin::event(Seq(1))),
                audience: None,
                sources: Sources::default(),
            },
        },
    }
}

/// Appends an event while the assistant sleeps, as a command does.
pub(crate) async fn decide(home: &Home, event: &Event) {
    let events = home.log.events(&key());
    let at = events
        .last()
        .map_or(dormouse_contracts::Timestamp::EPOCH, |last| last.at);
    let request = AppendRequest {
        assistant: key(),
        expected: Seq(events.len() as u64),
        events: vec![event.encode(at).unwrap()],
    };
    home.log.append(request).await.unwrap();
}

pub(crate) async fn changed(home: &Home, change: MemoryChange) -> Seq {
    let event = Event::MemoryChanged(MemoryChanged {
        change: change.masked(),
        author: Author::Operator("florian".to_owned()),
        reason: "in a test".to_owned(),
    });
    decide(home, &event).await;
    Seq(home.log.events(&key()).len() as u64)
}

async fn follow(home: &Home) {
    catch_up(&home.log, &key(), &home.memory).await.unwrap();
}

async fn some_record(memory: &Memory, dice: usize) -> Origin {
    let records = memory.records(None, 10_000).await.unwrap();
    let place = dice % (records.len() + 1);
    // One beyond the last: a record that does not exist.
    records
        .get(place)
        .map_or(Origin::event(Seq(9_999)), |record| record.id)
}

async fn speak(home: &Home, heard: &[(u8, u8)], number: &mut u64, is_killed: bool) {
    let life = home.wake().await;
    for (who, how) in heard {
        *number += 1;
        let words = format!("I like number {number} best");
        let perceive = match how % 4 {
            0 => Perceive::say(name(*who), &words),
            1 => Perceive::whisper(name(*who), &words),
            2 => Perceive::channel(name(*who), "public", &words),
            _ => Perceive::addressed(name(*who), &words),
        };
        let sender = Sender::Entity {
            id: id(*who),
            name: name(*who).to_owned(),
        };
        life.accept(perceive.sender(sender).number(*number).build())
            .await;
        if how % 3 > 0 {
            life.handle.at_rest().await;
        }
    }
    if is_killed {
        life.crash().await;
    } else {
        life.end().await.unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort(48)))]

    #[test]
    fn a_memory_that_is_lost_at_any_moment_comes_out_of_its_log_as_it_was(
        steps in proptest::collection::vec(step(), 1..24),
    ) {
        in_virtual_time(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("memory.redb");
            let mut home = Home::with_all_shared(lively());
            reopen(&mut home, &path).await;
            let mut number = 0;
            for (step, mark) in steps.iter().zip(0..) {
                match step {
                    Step::Life { heard, is_killed } => {
                        speak(&home, heard, &mut number, *is_killed).await;
                    }
                    Step::Command { what, one, other } => {
                        follow(&home).await;
                        let one = some_record(&home.memory, *one).await;
                        let other = some_record(&home.memory, *other).await;
                        changed(&home, command(*what, (one, other), mark)).await;
                    }
                    Step::People { what, who, whom } => {
                        let event = Event::EntityChanged(EntityChanged {
                            change: people(*what, id(*who), id(*whom), mark),
                            author: Author::Operator("florian".to_owned()),
                            reason: "in a test".to_owned(),
                        });
                        decide(&home, &event).await;
                    }
                    Step::Night { seed, killed_after, loses } => {
                        let loses = loses.map(|files| (files, path.clone()));
                        night(&home, *seed, *killed_after, loses).await;
                    }
                    Step::Undo(which) => undo(&home, *which).await,
                    Step::Lost(files) => {
                        follows(&home).await;
                        home.lose_memory();
                        files.remove(&path);
                        reopen(&mut home, &path).await;
                        follows(&home).await;
                    }
                    Step::Unlinked(files) => files.remove(&path),
                    Step::Forgotten { which, who } => {
                        let record = Origin::event(Seq(*which as u64 % (home.log.events(&key()).len() as u64 + 1)));
                        let selection = match who {
                            Some(who) => Selection::Person(Person::of_ids(BTreeSet::from([id(*who)]))),
                            None => Selection::Record(record),
                        };
                        forget(&mut home, &path, selection).await;
                    }
                    Step::Clock(hours) => home.set_clock(i64::from(*hours)),
                }
            }
            follows(&home).await;
            reopen(&mut home, &path).await;
            follows(&home).await;
        });
    }
}

/// A home in which Alice whispered something.
async fn whispered(words: &str) -> Home {
    let home = Home::with_all_shared(ScriptedModel::looping(noop()));
    let life = home.wake().await;
    life.accept(Perceive::whisper("Alice", words).number(1).build())
        .await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    home
}

/// The origin of the first message.
fn message(home: &Home) -> Origin {
    let events = home.log.events(&key());
    let heard = events.iter().find(|event| event.kind == "perceived");
    Origin::event(heard.unwrap().seq)
}

async fn texts(memory: &Memory) -> Vec<String> {
    let records = memory.records(None, 100).await.unwrap().into_iter();
    records
        .filter(dormouse_memory::Record::is_in_use)
        .map(|record| record.text)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn what_was_erased_stays_erased_when_the_memory_is_made_again() {
    let mut home = whispered("my account number is 42").await;
    let record = message(&home);
    changed(&home, MemoryChange::Erased { record }).await;
    follow(&home).await;
    for _ in 0..2 {
        assert_eq!(texts(&home.memory).await, [""; 0]);
        let why = home.memory.why(record).await.unwrap().unwrap();
        assert_eq!(why.record.text, "");
        let erased = why.changes.last().unwrap();
        assert_eq!(erased.author, Some(Author::Operator("florian".to_owned())));
        home.lose_memory();
        follow(&home).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_correction_and_its_undoing_are_events_that_name_records_for_good() {
    let mut home = whispered("the kettle is blue").await;
    let notes = vec![Note::new("the kettle is red")];
    let red = Origin::event(changed(&home, MemoryChange::Added { notes }).await);
    let blue = message(&home);
    let until = dormouse_contracts::Timestamp::from_micros(1_900_000_000_000_000);
    let corrected = MemoryChange::Superseded {
        record: blue,
        by: Some(red),
        until,
    };
    let event = changed(&home, corrected).await;
    home.lose_memory();
    follow(&home).await;
    let status = |memory: Memory| async move { memory.record(blue).await.unwrap().unwrap().status };
    let superseded = dormouse_memory::RecordStatus::Superseded { by: Some(red) };
    assert_eq!(status(home.memory.clone()).await, superseded);
    changed(&home, MemoryChange::Undone { event }).await;
    home.lose_memory();
    follow(&home).await;
    assert_eq!(
        status(home.memory.clone()).await,
        dormouse_memory::RecordStatus::Live
    );
}

#[tokio::test(start_paused = true)]
async fn a_correction_of_a_record_that_is_not_there_changes_nothing_and_stops_nothing() {
    let home = whispered("the kettle is blue").await;
    let record = Origin::event(Seq(777));
    assert!(
        home.memory
            .check_change(Seq(99), MemoryChange::Withdrawn { record })
            .await
            .is_err()
    );
    changed(&home, MemoryChange::Withdrawn { record }).await;
    changed(
        &home,
        MemoryChange::Added {
            notes: vec![Note::new("tea")],
        },
    )
    .await;
    let caught_up = catch_up(&home.log, &key(), &home.memory).await.unwrap();
    assert_eq!(caught_up.refused, 1);
    assert_eq!(texts(&home.memory).await, ["the kettle is blue", "tea"]);
}

#[tokio::test(start_paused = true)]
async fn a_log_with_other_events_at_the_same_times_is_another_log() {
    let [home, other] = [
        whispered("the kettle is blue").await,
        whispered("the kettle is blue").await,
    ];
    for (home, text) in [(&home, "tea"), (&other, "milk")] {
        let notes = vec![Note::new(text)];
        changed(home, MemoryChange::Added { notes }).await;
    }
    let last = |home: &Home| home.log.events(&key()).last().unwrap().clone();
    assert_eq!(
        (last(&home).seq, last(&home).at),
        (last(&other).seq, last(&other).at)
    );
    follow(&home).await;
    let refused = catch_up(&other.log, &key(), &home.memory).await;
    let error = refused.unwrap_err();
    assert!(matches!(error, CatchUpError::OtherLog { .. }), "{error}");
    assert!(
        error.to_string().contains("make the memory again"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_two_people_of_one_name_said_stays_apart() {
    let home = Home::with_all_shared(ScriptedModel::looping(noop()))
        .configured(|config| config.limits = config.limits.with_max_history(0).unwrap());
    let life = home.wake().await;
    for (number, (who, words)) in (1..).zip([
        ("a", "my mill is in the north"),
        ("c", "my mill is in the south"),
        ("b", "where is the mill?"),
    ]) {
        let sender = Sender::Entity {
            id: EntityId::try_new(who).unwrap(),
            name: if who == "b" { "Bob" } else { "Alice" }.to_owned(),
        };
        let whisper = Perceive::whisper("x", words).sender(sender);
        life.accept(whisper.number(number).build()).await;
        life.handle.at_rest().await;
    }
    let shown = home.last_shown();
    assert!(
        shown.contains("whisper of \"Alice\" (a), trust 0.90"),
        "{shown}"
    );
    assert!(
        shown.contains("whisper of \"Alice\" (c), trust 0.90"),
        "{shown}"
    );
    life.end().await.unwrap();
    for (seq, who) in [
        ("my mill is in the north", "a"),
        ("my mill is in the south", "c"),
    ] {
        let records = home.memory.records(None, 100).await.unwrap();
        let record = records.iter().find(|record| record.text == seq).unwrap();
        let expected = Attribution::entity(EntityId::try_new(who).unwrap(), "Alice");
        assert_eq!(record.speaker, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_follows_a_log_is_changed_by_its_log_alone() {
    let home = whispered("the kettle is blue").await;
    let record = message(&home);
    let before = contents(&home.memory).await;
    let known = EntityChange::Deleted { entity: id(0) };
    let refused = [
        home.memory.add(Note::new("tea"), "by hand").await.map(drop),
        home.memory.withdraw(record, "by hand").await.map(drop),
        home.memory.erase(record, "by hand").await.map(drop),
        home.memory.change_entity(known, "by hand").await.map(drop),
    ];
    for refused in refused {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("must be an event of that log"), "{error}");
    }
    assert_eq!(contents(&home.memory).await, before);
}
