//! The entities that the assistant knows.

use dormouse_contracts::{Append, AppendRequest, AssistantId, Author, Clock, EntityId, Sources};
use dormouse_engine::{EntityChanged, Event};
use dormouse_entities::{EntityChange, Topic};
use dormouse_host::SystemClock;
use dormouse_store::RedbLog;

use crate::program::Home;

fn done(home: &Home, args: &[&str]) -> String {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
    run.out
}

fn failed(home: &Home, args: &[&str], said: &str) {
    let run = home.run(args, "");
    assert_eq!(run.code, Some(2), "{args:?}: {} {}", run.out, run.err);
    assert!(run.err.contains(said), "{args:?}: {}", run.err);
}

fn acquainted() -> Home {
    let home = Home::new();
    done(&home, &["entity", "create", "#12", "Alice"]);
    done(&home, &["entity", "create", "#13", "Ally", "--type", "npc"]);
    home
}

#[test]
fn observations_and_attributes_are_shown() {
    let home = acquainted();
    done(
        &home,
        &[
            "entity",
            "observe",
            "Alice",
            "She likes tea.",
            "--trust",
            "0.9",
        ],
    );
    done(&home, &["entity", "alias", "Alice", "Alicia"]);
    done(
        &home,
        &[
            "entity",
            "set",
            "alicia",
            "--favorability",
            "-0.5",
            "--trust",
            "0.8",
            "--interest",
            "boats",
            "--prefer",
            "drink=tea",
            "--style",
            "terse",
        ],
    );
    let shown = done(&home, &["entity", "show", "#12"]);
    for part in [
        "Alice, Alicia",
        "favorability -0.50, trust 0.80",
        "communication style: terse",
        "cares about boats",
        "prefers drink: tea",
        "1. She likes tea. (direct, trust 0.90",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let list = done(&home, &["entity", "list", "--json"]);
    let names: Vec<serde_json::Value> = list
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["name"].clone())
        .collect();
    assert_eq!(names, ["Alice", "Ally"]);
    let block = done(&home, &["entity", "block"]);
    assert!(
        block.contains("Alice") && block.contains("She likes tea."),
        "{block}"
    );
}

#[test]
fn two_become_one_and_two_again() {
    let home = acquainted();
    done(&home, &["entity", "merge", "Ally", "Alice"]);
    assert_eq!(done(&home, &["entity", "list"]).lines().count(), 1);
    assert!(done(&home, &["entity", "show", "#13"]).starts_with("#12"));
    done(&home, &["entity", "unmerge", "#13"]);
    assert_eq!(done(&home, &["entity", "list"]).lines().count(), 2);
    failed(&home, &["entity", "unmerge", "#13"], "was not merged");
    failed(&home, &["entity", "unmerge", "#13"], "expected the id FROM");
    failed(&home, &["entity", "restore", "#13"], "entity delete");
}

#[test]
fn a_deleted_entity_can_be_restored() {
    let home = acquainted();
    done(&home, &["entity", "delete", "Ally"]);
    failed(&home, &["entity", "show", "Ally"], "entity list");
    done(&home, &["entity", "restore", "#13"]);
    assert!(done(&home, &["entity", "show", "Ally"]).contains("NPC"));
}

#[test]
fn an_unknown_or_ambiguous_entity_is_refused_with_the_candidates() {
    let home = acquainted();
    failed(
        &home,
        &["entity", "show", "Bob"],
        "no entity has the id or name \"Bob\"",
    );
    failed(&home, &["entity", "create", "#12", "Alice"], "already");
    failed(&home, &["entity", "set", "Alice"], "nothing to set");
    failed(
        &home,
        &["entity", "set", "Alice", "--favorability", "2"],
        "from -1 to 1",
    );
    failed(
        &home,
        &["entity", "set", "Alice", "--prefer", "tea"],
        "drink=tea",
    );
    failed(&home, &["entity", "observe", "Alice", " "], "empty");
    done(&home, &["entity", "alias", "Ally", "Alice"]);
    failed(&home, &["entity", "show", "Alice"], "#12, #13");
    done(&home, &["entity", "alias", "Ally", "Alice", "--remove"]);
    done(&home, &["entity", "show", "Alice"]);
}

#[test]
fn a_change_of_what_is_known_of_somebody_is_undone_and_made_again() {
    let home = acquainted();
    let shown = || done(&home, &["entity", "show", "#12"]);
    let without_times = |shown: String| -> Vec<String> {
        let lines = shown.lines().filter(|line| !line.contains("changed"));
        lines.map(str::to_owned).collect()
    };
    let mut events = 2;
    for change in [
        &["observe", "Alice", "She likes tea.", "--trust", "0.9"][..],
        &["alias", "#12", "Alicia"],
        &["set", "#12", "--name", "Alison"],
        &["set", "#12", "--type", "npc"],
        &["set", "#12", "--favorability", "-0.5"],
        &["set", "#12", "--trust", "0.8"],
        &["set", "#12", "--rapport", "0.7"],
        &["set", "#12", "--interest", "boats", "--prefer", "drink=tea"],
    ] {
        let before = without_times(shown());
        done(&home, &[&["entity"], change].concat());
        events += 1;
        let after = without_times(shown());
        assert_ne!(before, after, "{change:?}");
        for expected in [&before, &after, &before] {
            done(&home, &["memory", "undo", &events.to_string()]);
            events += 1;
            assert_eq!(without_times(shown()), *expected, "{change:?}");
            // The same holds after the memory's file was rebuilt.
            done(&home, &["memory", "rebuild", "--from-log"]);
            assert_eq!(without_times(shown()), *expected, "{change:?}");
        }
    }
}

#[test]
fn what_was_noticed_since_stays_when_an_earlier_change_is_undone() {
    let home = acquainted();
    done(&home, &["entity", "observe", "Alice", "She likes tea."]);
    done(&home, &["entity", "set", "Alice", "--interest", "boats"]);
    done(&home, &["entity", "observe", "Alice", "She has a boat."]);
    done(&home, &["memory", "undo", "3"]);
    let shown = done(&home, &["entity", "show", "Alice"]);
    assert!(
        !shown.contains("tea") && shown.contains("2. She has a boat.") && shown.contains("boats"),
        "{shown}"
    );
    failed(&home, &["memory", "undo", "3"], "was undone by event 6");
}

#[test]
fn who_is_one_person_and_who_is_known_is_undone_by_the_opposite() {
    let home = acquainted();
    let people = || done(&home, &["entity", "list"]).lines().count();
    for (change, with, without) in [
        (&["merge", "Ally", "Alice"][..], 1, 2),
        (&["delete", "Ally"], 1, 2),
        (&["create", "#14", "Bob"], 3, 2),
    ] {
        let run = home.run(&[&["entity"], change, &["--json"]].concat(), "");
        let event = run.items()[0]["event"].as_u64().unwrap();
        assert_eq!(people(), with, "{change:?}");
        for (event, expected) in (event..).zip([without, with, without]) {
            done(&home, &["memory", "undo", &event.to_string()]);
            assert_eq!(people(), expected, "{change:?}");
        }
    }
}

#[test]
fn undoing_what_is_not_there_any_more_says_so() {
    let home = acquainted();
    done(&home, &["entity", "observe", "Ally", "She likes tea."]);
    done(&home, &["entity", "merge", "Ally", "Alice"]);
    failed(&home, &["memory", "undo", "3"], "was merged into #12");
    done(&home, &["entity", "unmerge", "#13"]);
    failed(&home, &["memory", "undo", "4"], "has changed since");
    done(&home, &["entity", "delete", "Ally"]);
    failed(&home, &["memory", "undo", "3"], "restore or purge it first");
    failed(&home, &["memory", "undo", "99"], "changed no record");
}

#[test]
fn people_are_listed_by_what_is_talked_of_with_them() {
    let home = acquainted();
    home.play("hello\n");
    let listed = done(&home, &["entity", "list", "--json"]);
    let ids = |listed: &str| -> Vec<String> {
        let rows = listed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let ids = rows.map(|row: serde_json::Value| row["entity"].as_str().unwrap().to_owned());
        ids.collect()
    };
    let known = ids(&listed);
    let visitor = known.iter().find(|id| !id.starts_with("#1")).unwrap();
    // Stands in for a model that calls the tool.
    let change = EntityChange::TopicChanged {
        entity: EntityId::try_new(visitor.as_str()).unwrap(),
        topic: Topic::shortened("plum jam").unwrap(),
        sources: Sources::default(),
    };
    let event = Event::EntityChanged(EntityChanged {
        change,
        author: Author::Operator("florian".to_owned()),
        reason: "in a test".to_owned(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let log = RedbLog::open_existing(&home.file("log.redb")).unwrap();
    let (key, expected) = log.assistants().unwrap().remove(0);
    let key = AssistantId::try_new(key.as_str()).unwrap();
    let events = vec![event.encode(SystemClock.now()).unwrap()];
    let request = AppendRequest {
        assistant: key,
        expected,
        events,
    };
    runtime.block_on(log.append(request)).unwrap();
    drop(log);
    home.play("good day\n");
    let about = |topic: &str| {
        ids(&done(
            &home,
            &["entity", "list", "--topic", topic, "--json"],
        ))
    };
    assert_eq!(about("Plum  Jam"), std::slice::from_ref(visitor));
    assert_eq!(about("the weather"), Vec::<String>::new());
}
