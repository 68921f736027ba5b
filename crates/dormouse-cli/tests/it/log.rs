//! Looking into the log.

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, LoadSnapshot, ReadEvents, SaveSnapshot, Seq, Snapshot,
};
use dormouse_engine::Event;
use dormouse_store::RedbLog;
use serde_json::Value;

use crate::program::Home;

fn lived() -> Home {
    let home = Home::new();
    let run = home.play("Hello!\nremember that Alice prefers tea\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    home
}

#[test]
fn show_prints_the_events_that_play_printed() {
    let home = Home::new();
    let printed = home.play("Hello!\n").of_type("event");
    let shown = home.run(&["log", "show", "--json"], "");
    assert_eq!((shown.code, shown.items()), (Some(0), printed));
    let part = home.run(&["log", "show", "--from", "2", "--to", "3"], "");
    let seqs: Vec<_> = part
        .out
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(seqs, ["2", "3"]);
}

#[test]
fn an_empty_range_is_reported_on_standard_error() {
    let home = lived();
    for (range, asked) in [
        (&["--from", "3", "--to", "2"][..], "from 3 to 2"),
        (&["--from", "999999"], "from 999999 on"),
    ] {
        let run = home.run(&[&["log", "show"], range].concat(), "");
        assert_eq!((run.code, run.out.as_str()), (Some(0), ""));
        assert!(
            run.err.contains(&format!(
                "there are no events {asked}; the log ends at event "
            )),
            "{}",
            run.err
        );
    }
}

#[test]
fn replay_gives_the_same_hash_as_snapshot_and_tail_and_the_hash_of_any_moment_is_stable() {
    let home = lived();
    let whole = home.run(&["log", "replay"], "");
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    let mut lines = whole.out.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("dormouse: state at event ") && first.contains("SHA-256"));
    assert!(lines.next().unwrap().contains("give the same state"));
    // The state of a long life has thousands of lines.
    assert_eq!(lines.collect::<Vec<_>>(), ["`--state` prints it"]);
    let shown = home.run(&["log", "replay", "--state"], "");
    let state: String = shown.out.lines().skip(2).collect();
    assert!(serde_json::from_str::<serde_json::Value>(&state).unwrap()["seq"].is_u64());
    let at = |n: &str| {
        home.run(&["log", "replay", "--json", "--at", n], "")
            .items()
            .remove(0)
    };
    let early = at("3");
    home.play("Hello again!\n");
    assert_eq!(at("3"), early);
    assert_eq!(early["seq"], 3);
    assert_eq!(early["hash"].as_str().unwrap().len(), 64);
}

#[test]
fn an_event_or_an_assistant_that_is_not_there_is_a_wrong_argument() {
    let home = lived();
    let run = home.run(&["log", "replay", "--at", "999999"], "");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err
            .contains("there is no event 999999; the log ends at event"),
        "{}",
        run.err
    );
    let run = home.run(&["log", "show", "--assistant", "hatter"], "");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("no assistant hatter") && run.err.contains("dormouse"),
        "{}",
        run.err
    );
}

#[test]
fn verify_reports_the_number_of_intact_events() {
    let home = lived();
    let run = home.run(&["log", "verify"], "");
    assert_eq!(run.code, Some(0));
    assert!(
        run.out.starts_with("dormouse: ") && run.out.contains("events intact"),
        "{}",
        run.out
    );
    let json = home.run(&["log", "verify", "--json"], "").items().remove(0);
    assert_eq!(
        (json["type"].as_str(), json["damage"].is_null()),
        (Some("verified"), true)
    );
}

#[test]
fn looking_never_makes_a_file() {
    let home = Home::new();
    for args in [
        &["log", "show"][..],
        &["log", "verify"],
        &["log", "replay"],
        &["log", "salvage", "--into", "new.redb"],
        &["emergency", "clear"],
    ] {
        let run = home.run(args, "");
        assert_eq!(run.code, Some(1), "{args:?}: {}", run.err);
        assert!(
            run.err.contains("there is no log at"),
            "{args:?}: {}",
            run.err
        );
    }
    assert_eq!(home.run(&["doctor"], "").code, Some(0));
    assert!(home.path().read_dir().unwrap().next().is_none());
}

#[test]
fn there_is_nothing_to_clear_unless_it_is_stopped() {
    let home = lived();
    let run = home.run(&["emergency", "clear"], "");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("is not stopped"), "{}", run.out);
}

#[test]
fn a_life_is_decided_again_and_every_decision_is_the_same() {
    let home = lived();
    let run = home.run(&["log", "replay", "--decide"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let all = home.run(&["log", "show"], "").out.lines().count();
    let expected = format!("dormouse: {all} events, every decision is the same\n");
    assert_eq!(run.out, expected);
    let part = home.run(&["log", "replay", "--decide", "--at", "4", "--json"], "");
    let line = part.of_type("decided_again").pop().unwrap();
    assert_eq!(
        (line["events"].as_u64(), line.get("difference")),
        (Some(4), None)
    );
}

/// Changes the first event of a kind in a log, and nothing else.
async fn with_event(home: &Home, kind: &str, change: impl FnOnce(&mut Value)) -> u64 {
    let key = AssistantId::try_new("dormouse").unwrap();
    let file = home.file("log.redb");
    let log = RedbLog::open(&file).unwrap();
    let mut events = log.read(&key, Seq(0), 10_000).await.unwrap();
    drop(log);
    std::fs::remove_file(&file).unwrap();
    let event = events.iter_mut().find(|event| event.kind == kind).unwrap();
    let mut value = serde_json::from_slice(&event.payload).unwrap();
    change(&mut value);
    event.payload = serde_json::to_vec(&value).unwrap();
    let (seq, at, schema) = (event.seq, event.at, event.schema);
    let again = Event::decode(event).unwrap().encode(at).unwrap();
    assert_eq!(again.schema, schema);
    let events = events
        .iter()
        .map(|stored| Event::decode(stored).unwrap().encode(stored.at).unwrap());
    let request = AppendRequest {
        assistant: key,
        expected: Seq(0),
        events: events.collect(),
    };
    let log = RedbLog::open(&file).unwrap();
    log.append(request).await.unwrap();
    seq.0
}

#[tokio::test]
async fn the_first_decision_that_differs_is_named_with_what_was_recorded() {
    let home = lived();
    let seq = with_event(&home, "perceived", |event| event["trust"] = 1.0.into()).await;
    let run = home.run(&["log", "replay", "--decide"], "");
    assert_eq!(run.code, Some(4), "{}", run.err);
    for part in [
        &format!("event {seq} (perceived) is decided differently now"),
        "the log has 1.0 in the field `trust`",
        "The log was changed afterwards",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let json = home.run(&["log", "replay", "--decide", "--json"], "");
    let line = json.of_type("decided_again").pop().unwrap();
    assert_eq!(line["difference"]["seq"], seq);
    assert_eq!(line["difference"]["recorded"]["trust"], 1.0);
    assert!(line["difference"]["decided"]["trust"].as_f64() < Some(1.0));
    std::fs::remove_file(home.file("log.redb")).unwrap();
}

#[tokio::test]
async fn a_life_that_another_version_decided_is_not_called_damaged() {
    let home = lived();
    with_event(&home, "configured", |event| {
        event["program"] = "dormouse-engine 0.0.0".into();
        event["preamble_tokens"] = 7.into();
    })
    .await;
    let run = home.run(&["log", "replay", "--decide"], "");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(
        run.err.contains("made by dormouse-engine 0.0.0"),
        "{}",
        run.err
    );
    std::fs::remove_file(home.file("log.redb")).unwrap();
}

#[test]
fn a_closed_output_is_not_an_error() {
    let home = lived();
    let mut child = home.spawn(&["log", "show"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap().as_str()
        ),
        (Some(0), "")
    );
}

/// Changes the newest snapshot of a log, whose checksum stays right.
async fn with_snapshot(home: &Home, change: impl FnOnce(&mut Snapshot, &mut Value)) {
    let log = RedbLog::open(&home.file("log.redb")).unwrap();
    let key = AssistantId::try_new("dormouse").unwrap();
    let newest = log.load_snapshot(&key, Seq(u64::MAX)).await.unwrap();
    let mut snapshot = newest.unwrap();
    let mut state = serde_json::from_slice(&snapshot.payload).unwrap();
    change(&mut snapshot, &mut state);
    snapshot.payload = serde_json::to_vec(&state).unwrap();
    log.save_snapshot(&key, snapshot).await.unwrap();
}

#[tokio::test]
async fn replay_names_what_a_snapshot_and_the_log_disagree_about() {
    let home = lived();
    with_snapshot(&home, |_, state| state["counts"]["remembered"] = 7.into()).await;
    let run = home.run(&["log", "replay"], "");
    assert_eq!(run.code, Some(4), "{}", run.err);
    for part in [
        "the snapshot at event ",
        "holds 7 in the field `counts.remembered`",
        " give 1.",
        "log salvage",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    assert!(!run.out.contains("give the same state"), "{}", run.out);
}

#[tokio::test]
async fn replay_refuses_a_log_that_ends_before_its_snapshot() {
    let home = lived();
    with_snapshot(&home, |snapshot, state| {
        snapshot.seq = Seq(snapshot.seq.0 + 5);
        state["seq"] = snapshot.seq.0.into();
    })
    .await;
    let run = home.run(&["log", "replay"], "");
    assert_eq!(run.code, Some(4), "{}", run.err);
    assert!(
        run.err.contains("events are missing at its end"),
        "{}",
        run.err
    );
}
