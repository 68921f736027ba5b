//! The journal: entries by tools, who learns of them, and how they change.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dormouse_contracts::{
    Append, AppendRequest, Audience, Author, Clock, NewEvent, Origin, Seq, Task, Trust,
};
use dormouse_engine::{
    Event, JournalBook, JournalChanged, ReflectionCall, ReflectionTicks, Selection, State,
    left_entry, replay,
};
use dormouse_journal::{
    EntryId, JournalChange, JournalEntry, JournalSettings, NewEntry, SourceType,
};
use dormouse_memory::{Memory, MemoryChange, RecallRequest};
use dormouse_testing::{HashedEmbedder, MemoryLog, Perceive, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::{
    consolidating::{consolidator, logged},
    forgetting::without,
    home::{Home, every_decision_is_the_same_again, key, minutes},
};

fn noop() -> ScriptedTurn {
    ScriptedTurn::call("noop", json!({}))
}

fn add(content: &str) -> ScriptedTurn {
    ScriptedTurn::call("add_journal_entry", json!({"content": content}))
}

fn search(query: &str) -> ScriptedTurn {
    ScriptedTurn::call("search_journal", json!({"query": query}))
}

async fn state(home: &Home) -> State {
    replay(&home.log, &key(), Seq(u64::MAX)).await.unwrap()
}

async fn hear(home: &Home, perceive: Perceive, number: u64) -> String {
    let life = home.wake().await;
    life.accept(perceive.number(number).build()).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    home.last_shown()
}

async fn command(home: &Home, changed: JournalChanged) {
    let event = Event::JournalChanged(changed);
    let request = AppendRequest {
        assistant: key(),
        expected: state(home).await.seq,
        events: vec![event.encode(home.clock.now()).unwrap()],
    };
    home.log.append(request).await.unwrap();
}

fn by() -> (Author, &'static str) {
    (Author::Operator("florian".to_owned()), "asked for")
}

fn contents(book: &JournalBook) -> Vec<&str> {
    book.journal().entries().map(|it| &*it.content).collect()
}

fn results(home: &Home, tool: &str) -> Vec<Value> {
    let events = home.events().into_iter();
    let answered = events.filter_map(|event| match event {
        Event::ToolAnswered(it) if it.tool == tool => serde_json::from_str(&it.content).ok(),
        _ => None,
    });
    answered.collect()
}

async fn recalled(home: &Home, query: &str) -> Vec<String> {
    let life = home.wake().await;
    life.end().await.unwrap();
    let found = home.memory.recall(RecallRequest::new(query)).await.unwrap();
    found.items.into_iter().map(|it| it.record.text).collect()
}

#[tokio::test(start_paused = true)]
async fn an_entry_is_found_by_another_wording_leaves_when_there_are_too_many_and_comes_back() {
    let first = "The red gate was shut after the storm; Alice has the only key";
    let home = Home::where_all_is_shared([
        add(first),
        search("who could open the gates?"),
        noop(),
        add("Bob planted two pear trees by the well"),
        noop(),
    ])
    .configured(|config| config.journal.keeping.max_entries = 1);
    let words = "the red gate was shut after the storm, and I have the only key";
    hear(&home, Perceive::whisper("Alice", words), 1).await;
    let written = state(&home).await.journal;
    let entry = written.journal().entry(EntryId(1)).unwrap().clone();
    assert_eq!(entry.source_type, SourceType::Direct, "it was whispered");
    assert_eq!(
        entry.source_trust,
        Trust::try_new(0.9).unwrap(),
        "like the whisper"
    );
    assert_eq!(entry.source_entity.name(), Some("Alice"));
    let found = &results(&home, "search_journal")[0]["result"]["entries"][0];
    assert_eq!(
        (&found["entry"], &found["content"]),
        (&json!(1), &json!(first))
    );
    assert!(found["why"].as_str().unwrap().contains("reach"), "{found}");
    // Its source is recalled instead, and says the same.
    assert_eq!(recalled(&home, "the red gate and the storm").await, [words]);

    let words = "I planted two pear trees by the well";
    hear(&home, Perceive::whisper("Bob", words), 2).await;
    assert_eq!(
        contents(&state(&home).await.journal),
        ["Bob planted two pear trees by the well"]
    );
    let only = Selection::Record(Origin::event(home_message(&home, 0)));
    assert!(
        left_entry(&home.log, &key(), EntryId(2))
            .await
            .unwrap()
            .is_none()
    );
    let left = left_entry(&home.log, &key(), EntryId(1))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(left, entry, "as it was when it left");
    let book = state(&home).await.journal;
    command(&home, book.restore(left, home.clock.now(), by()).unwrap()).await;
    let back = state(&home).await.journal;
    assert_eq!(contents(&back).len(), 2);
    assert!(
        back.restore(entry, home.clock.now(), by()).is_err(),
        "it is there"
    );
    // Without the message, the entry has no source left.
    let (log, _) = without(&home.log, only).await;
    let mut forgotten = home.clone();
    forgotten.log = log;
    forgotten.lose_memory();
    assert_eq!(
        contents(&state(&forgotten).await.journal),
        ["Bob planted two pear trees by the well"]
    );
    for stored in forgotten.log.events(&key()) {
        let payload = String::from_utf8_lossy(&stored.payload).into_owned();
        assert!(!payload.contains("storm"), "{} {payload}", stored.kind);
    }
}

fn home_message(home: &Home, number: usize) -> Seq {
    let stored = home.log.events(&key());
    let mut heard = stored.iter().filter(|it| it.kind == "perceived");
    heard.nth(number).unwrap().seq
}

#[tokio::test(start_paused = true)]
async fn what_was_written_of_private_words_is_shown_to_nobody_else_and_only_counted() {
    let review =
        |synthesis: &str| ScriptedTurn::call("review_journal", json!({"synthesis": synthesis}));
    let home = Home::new([
        add("Alice hid the marigold seeds under the stair"),
        noop(),
        search("marigold seeds"),
        review("Quiet days follow a storm"),
        noop(),
        search("marigold seeds"),
        noop(),
    ]);
    let words = "I hid the marigold seeds under the stair";
    hear(&home, Perceive::whisper("Alice", words), 1).await;
    let shown = hear(&home, Perceive::whisper("Bob", "what do you know?"), 2).await;
    assert!(!shown.contains("marigold seeds under"), "{shown}");
    let result = &results(&home, "search_journal")[0]["result"];
    assert_eq!(result, &json!({"entries": [], "withheld": 1}));
    let review = &results(&home, "review_journal")[0]["result"];
    assert_eq!(
        (&review["reviewed"], &review["withheld"]),
        (&json!(0), &json!(1))
    );
    let kept = state(&home).await.journal;
    let synthesis = kept.journal().entry(EntryId(2)).unwrap();
    assert_eq!(synthesis.content, "[SYNTHESIS] Quiet days follow a storm");
    assert_eq!(synthesis.importance.get(), 8);
    let tags: Vec<_> = synthesis.tags.iter().map(|tag| tag.as_str()).collect();
    assert_eq!(tags, ["meta_learning", "synthesis"]);
    hear(&home, Perceive::whisper("Alice", "where are they?"), 3).await;
    let found = &results(&home, "search_journal")[1]["result"];
    assert_eq!(found["entries"][0]["entry"], 1, "{found}");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_refused_with_a_reason_and_a_name_is_only_a_name() {
    let entry = |arguments: Value| ("add_journal_entry", arguments);
    let home = Home::where_all_is_shared([
        ScriptedTurn::calls([
            entry(json!({"content": "  \u{200b} "})),
            entry(json!({"content": "it rains", "importance": 11})),
            entry(json!({"content": "it rains", "tags": ["a,b"]})),
            entry(json!({"content": "it rains", "source_type": "rumour"})),
        ]),
        noop(),
        ScriptedTurn::calls([
            entry(
                json!({"content": "it rains", "source_trust": 1.0, "importance": 2, "tags": ["Weather"],
                       "source_entity": "Carol", "source_type": "observation"}),
            ),
            ("review_journal", json!({"synthesis": "I should be kinder"})),
        ]),
        noop(),
    ]);
    hear(&home, Perceive::whisper("Alice", "it rains"), 1).await;
    hear(&home, Perceive::whisper("Alice", "it rains"), 2).await;
    let errors: Vec<_> = results(&home, "add_journal_entry")
        .iter()
        .map(|result| result["error"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert!(errors[0].contains("blank"), "{errors:?}");
    assert!(errors[1].contains("importance"), "{errors:?}");
    assert!(
        errors[2].contains("give each label separately"),
        "{errors:?}"
    );
    assert!(errors[3].contains("source_type"), "{errors:?}");
    let review = &results(&home, "review_journal")[0]["error"];
    assert!(
        review.as_str().unwrap().contains("about yourself"),
        "{review}"
    );
    let book = state(&home).await.journal;
    let entry = book.journal().entries().next().unwrap();
    assert_eq!(entry.importance.get(), 2);
    assert!(entry.source_trust < Trust::FULL, "like what it was made of");
    assert_eq!(entry.source_entity.name(), Some("Carol"));
    assert_eq!(entry.source_entity.id(), None, "nobody vouches for it");
    assert_eq!(book.journal().entry_count(), 1);
}

#[test]
fn a_change_that_makes_no_sense_changes_nothing_else_and_numbers_of_forgotten_entries_stay_used() {
    let entry: JournalEntry = serde_json::from_value(json!({
        "id": 7, "timestamp": 9, "content": "[forgotten]", "source_type": "direct", "source_trust": 0.5,
        "source_entity": "unknown", "importance": 5, "importance_method": "heuristic",
        "provenance": {"audience": "public"},
    }))
    .unwrap();
    let changed = |changes: Vec<JournalChange>| {
        Event::JournalChanged(JournalChanged {
            changes,
            author: by().0,
            reason: String::new(),
            withdrawn: Vec::new(),
        })
    };
    let added = |content: &str| JournalChange::Added {
        entry: Box::new(JournalEntry {
            content: content.to_owned(),
            ..entry.clone()
        }),
        points: 5,
    };
    let mut state = State::default();
    let at = dormouse_contracts::Timestamp::EPOCH;
    state.apply(
        Seq(1),
        at,
        &changed(vec![added(dormouse_contracts::FORGOTTEN)]),
    );
    assert_eq!(state.journal.journal().entries().len(), 0);
    assert_eq!(state.journal.journal().next_id(), EntryId(8));
    let linked = JournalChange::Linked {
        entry: EntryId(9),
        to: EntryId(7),
    };
    state.apply(
        Seq(2),
        at,
        &changed(vec![
            linked,
            added("again"),
            JournalChange::ReflectionGivenUp,
        ]),
    );
    assert_eq!(
        state.journal.journal().entries().len(),
        0,
        "its number was used"
    );
    assert_eq!(state.seq, Seq(2));
    let of_all = Audience::Public;
    assert_eq!(entry.provenance.audience, of_all);
}

#[tokio::test(start_paused = true)]
async fn after_enough_ticks_it_looks_back_with_its_journal_tools_alone_and_that_is_recorded() {
    let home = Home::new([
        add("Alice waters the roses at dawn"),
        noop(),
        noop(),
        search("roses"),
        ScriptedTurn::call(
            "review_journal",
            json!({"synthesis": "Roses want water at dawn"}),
        ),
        noop(),
    ])
    .configured(|config| {
        config.journal.reflection_interval = ReflectionTicks(2);
        config.journal.reflection_prompt = Some("(Look back now.)".to_owned());
    });
    let words = "I water the roses at dawn";
    hear(&home, Perceive::whisper("Alice", words), 1).await;
    let life = home.wake().await;
    life.accept(Perceive::whisper("Bob", "hello").number(2).build())
        .await;
    tokio::time::sleep(minutes(1)).await;
    life.handle.at_rest().await;
    life.end().await.unwrap();
    let request = home.model.requests().pop().unwrap();
    let offered: Vec<_> = request
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(
        offered,
        [
            "add_journal_entry",
            "search_journal",
            "review_journal",
            "noop"
        ]
    );
    let shown = home.last_shown();
    assert!(
        shown.contains("(Look back now.)") && !shown.contains("hello"),
        "{shown}"
    );
    let found = &results(&home, "search_journal")[0]["result"]["entries"];
    assert_eq!(found[0]["entry"], 1, "nobody listens: {found}");
    let lived = state(&home).await;
    let synthesis = lived.journal.journal().entry(EntryId(2)).unwrap();
    assert_eq!(
        synthesis.provenance.audience,
        Audience::nobody(),
        "it was made of private words"
    );
    assert_eq!((lived.reflections.count, lived.reflections.ticks), (1, 0));
    let recorded = home.events().into_iter().find_map(|event| match event {
        Event::ReflectionRecorded(it) => Some(it.entries),
        _ => None,
    });
    assert_eq!(recorded, Some(vec![EntryId(2)]));
}

/// A model that scores every entry 4, asks one question, and concludes from all that it is shown.
fn thinker(calls: &Arc<AtomicU64>) -> ScriptedModel {
    let calls = Arc::clone(calls);
    ScriptedModel::looping(ScriptedTurn::with(move |request| {
        calls.fetch_add(1, Ordering::Relaxed);
        let ids = |lines: &[dormouse_contracts::TaskLine]| -> Vec<String> {
            lines.iter().map(|line| line.id.clone()).collect()
        };
        ScriptedTurn::text(match request.task.as_deref() {
            Some(Task::Scoring { lines }) => {
                let scores = ids(lines).into_iter();
                let scores = scores.map(|id| json!({"id": id, "score": 4}));
                json!(scores.collect::<Vec<_>>()).to_string()
            }
            Some(Task::Questions { .. }) => json!(["Who has the key of the gate?"]).to_string(),
            Some(Task::Reflection { lines }) => {
                let insight = "The key of the gate is needed in the morning";
                json!([{"insight": insight, "from": ids(lines)}, {"insight": "I should sleep", "from": ids(lines)}])
                    .to_string()
            }
            other => panic!("{other:?}"),
        })
    }))
}

/// Lets a model score entries and draw conclusions. Returns the resulting entries, and the number of model calls.
async fn concluded(home: &Home) -> (Vec<String>, u64) {
    let calls = Arc::new(AtomicU64::new(0));
    let by = consolidator(home, thinker(&calls));
    let mut memory = logged(home).await;
    by.score_entries(&mut memory).await.unwrap();
    by.reflect(&mut memory, ReflectionCall::IfDue)
        .await
        .unwrap();
    let book = state(home).await.journal;
    let entries = book.journal().entries();
    let entries = entries.map(|it| {
        format!(
            "{} {:?} {}",
            it.importance, it.importance_method, it.content
        )
    });
    (entries.collect(), calls.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn conclusions_are_drawn_step_by_step_and_no_reply_is_paid_for_twice() {
    let entry = "Alice has the key of the gate and opens the gate in the morning";
    let mut home = Home::where_all_is_shared([add(entry), noop()]).configured(|config| {
        config.journal.keeping.reflection.threshold = 4;
    });
    let words = "I have the key of the gate, and I open the gate in the morning";
    hear(&home, Perceive::whisper("Alice", words), 1).await;
    let before = home.log.events(&key()).len();
    let (written, calls) = concluded(&home).await;
    assert_eq!(calls, 3, "{written:?}");
    let insight = "[SYNTHESIS] The key of the gate is needed in the morning";
    assert_eq!(
        written,
        [format!("4 Llm {entry}"), format!("8 Manual {insight}")]
    );
    let found = recalled(&home, "who opens the gate in the morning?").await;
    assert!(found.contains(&insight.to_owned()), "{found:?}");
    assert_eq!(
        concluded(&home).await,
        (written.clone(), 0),
        "nothing is left to do"
    );

    let whole = home.log.events(&key());
    for cut in before..whole.len() {
        let kept: Vec<_> = whole.iter().take(cut).cloned().collect();
        let paid = kept.iter().filter(|it| it.kind == "consulted").count();
        home.log = MemoryLog::new();
        let events = kept.into_iter().map(|it| NewEvent {
            at: it.at,
            kind: Event::decode(&it).unwrap().kind(),
            schema: it.schema,
            payload: it.payload,
        });
        let request = AppendRequest {
            assistant: key(),
            expected: Seq::ZERO,
            events: events.collect(),
        };
        home.log.append(request).await.unwrap();
        home.lose_memory();
        let (again, calls) = concluded(&home).await;
        assert_eq!(again, written, "killed after {cut}");
        assert_eq!(
            calls + u64::try_from(paid).unwrap(),
            3,
            "killed after {cut}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_night_makes_facts_of_entries_marks_them_and_an_undo_takes_the_mark_away() {
    let home = Home::new([noop()]);
    home.hear(Perceive::whisper("Alice", "good morning").build())
        .await;
    let boat = "Alice keeps a boat in the harbour of Berlin";
    let new = [
        NewEntry::new(boat, SourceType::Direct),
        // Its trust is too low for a fact.
        NewEntry::new("Somebody has sold the harbour", SourceType::Environmental),
    ];
    for new in new {
        let settings = JournalSettings::default();
        let book = state(&home).await.journal;
        let written = book.write_for_operator(new, home.clock.now(), &settings, by());
        command(&home, written.unwrap()).await;
    }
    let model = ScriptedModel::looping(ScriptedTurn::with(|request| {
        let shown = crate::home::shown(request);
        let line = shown
            .lines()
            .find(|line| line.contains("harbour of Berlin"));
        let id = line.map(|line| line.trim_start_matches('[').split(']').next().unwrap());
        let facts = id.map(|id| json!({"text": "Alice owns a boat", "from": [id]}));
        ScriptedTurn::text(json!(facts.into_iter().collect::<Vec<_>>()).to_string())
    }));
    let mut memory = logged(&home).await;
    let night = consolidator(&home, model);
    night.run(&mut memory).await.unwrap();
    let marks = async || -> Vec<bool> {
        let state = state(&home).await;
        let entries = state.journal.journal().entries();
        entries.map(|entry| entry.upkeep.consolidated).collect()
    };
    assert_eq!(marks().await, [true, false]);
    let mut read = home.log.events(&key()).into_iter().filter(|stored| {
        matches!(
            Event::decode(stored).unwrap(),
            Event::MemoryChanged(it) if matches!(&it.change, MemoryChange::Extracted { facts, .. } if !facts.is_empty())
        )
    });
    let read = read.next_back().unwrap().seq;
    // A second run has nothing to read, and nothing to mark.
    let before = state(&home).await.seq;
    night.run(&mut memory).await.unwrap();
    assert_eq!(state(&home).await.seq, before);
    memory.undo(read, by().0, "a mistake").await.unwrap();
    assert_eq!(marks().await, [false, false]);
    // The undo itself is taken back.
    let mut undone = home.log.events(&key()).into_iter().filter(|stored| {
        matches!(
            Event::decode(stored).unwrap(),
            Event::MemoryChanged(it) if matches!(it.change, MemoryChange::Undone { .. })
        )
    });
    let undone = undone.next_back().unwrap().seq;
    memory.undo(undone, by().0, "it was none").await.unwrap();
    assert_eq!(marks().await, [true, false]);
    every_decision_is_the_same_again(&home.log).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_used_again_for_the_same_listeners_until_the_journal_changes() {
    let look = || [search("gate"), noop()];
    let write = |text| [add(text), noop()];
    let turns = [
        write("Alice has the key of the gate"),
        look(),
        look(),
        look(),
        write("The gate squeaks"),
        look(),
        look(),
    ];
    let home = Home::new(turns.into_iter().flatten());
    let life = home.wake().await;
    let mut number = 0;
    for (who, minutes_later) in [
        ("Alice", 0),
        ("Alice", 0),
        ("Alice", 0),
        ("Bob", 0),
        ("Alice", 0),
        ("Alice", 0),
        ("Alice", 6),
    ] {
        tokio::time::sleep(minutes(minutes_later)).await;
        number += 1;
        let said = format!("what of the gate, {number}?");
        life.accept(Perceive::whisper(who, &said).number(number).build())
            .await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
    let events = home.events().into_iter();
    let cached: Vec<_> = events
        .filter_map(|event| match event {
            Event::ToolAnswered(it) if it.tool == "search_journal" => Some(it.cached.is_some()),
            _ => None,
        })
        .collect();
    // The cases: the first query, a repetition, one for Bob, one after the change, and one after five minutes.
    assert_eq!(cached, [false, true, false, false, false]);
    let found = results(&home, "search_journal");
    assert_eq!(found[0]["result"], found[1]["result"]);
    assert_eq!(
        found[2]["result"]["entries"],
        json!([]),
        "Bob did not perceive it"
    );
}

#[tokio::test(start_paused = true)]
async fn an_encoder_takes_part_in_the_search_of_the_journal_and_each_entry_says_why() {
    let gate = "The red gate was shut after the storm";
    let mut home = Home::where_all_is_shared([
        add(gate),
        noop(),
        add("Pear trees grow by the well"),
        noop(),
        search("the gate and the storm"),
        noop(),
    ]);
    let clock = home.clock.clone();
    let memory = Memory::builder(key(), move || clock.now());
    let memory = memory.encoder(Arc::new(HashedEmbedder::new(64)));
    home.memory = memory.ephemeral().unwrap();
    let life = home.wake().await;
    for number in 1..=3 {
        let said = format!("what do you know, {number}?");
        life.accept(Perceive::whisper("Alice", &said).number(number).build())
            .await;
        life.handle.at_rest().await;
    }
    life.end().await.unwrap();
    let found = &results(&home, "search_journal")[0]["result"]["entries"][0];
    assert_eq!(found["content"], json!(gate), "{found}");
    assert!(found["why"].as_str().unwrap().contains("dense"), "{found}");
}
