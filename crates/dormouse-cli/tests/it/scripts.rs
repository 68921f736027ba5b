//! `dormouse play --script`: several visitors in their own time, with the same log each time.

use dormouse_contracts::{ReadEvents, Seq, StoredEvent};
use dormouse_store::LogView;

use crate::program::{Home, Run};

/// Two visitors and two residents, from morning to noon.
const MORNING: &str = "\
# Everybody is in the common room.
begin 2027-01-01T09:00:00Z
resident mole: You are Mole, who is shy.
Alice: Good morning!
+5s Bob: say Hello, everybody.
Bob: whisper Dormouse = remember that Bob prefers jam
+1m Alice: public What does Bob prefer?
Alice: page Mole = Where are you?
Alice: what does Bob prefer?
Alice: remind me in ten minutes to water the roses
+90s Bob: channel tea off
Alice: channel tea = Bob does not hear this.
Bob: go up
+5s Bob: @mole Are you here?
+1m Bob: go down
Bob: /quit
+2h
";

fn play(home: &Home, script: &str) -> Run {
    let file = home.write("morning.txt", script);
    home.run(&["play", "--json", "--script", file.to_str().unwrap()], "")
}

/// Every event of every assistant, as it is stored.
fn lives(home: &Home) -> Vec<(String, Vec<StoredEvent>)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let log = LogView::open(&home.file("log.redb")).unwrap();
    let lives = log.assistants().unwrap().into_iter().map(|(key, _)| {
        let life = runtime.block_on(log.read(&key, Seq(0), 10_000)).unwrap();
        (key.to_string(), life)
    });
    lives.collect()
}

fn played(script: &str) -> (String, Vec<(String, Vec<StoredEvent>)>) {
    let home = Home::new();
    let run = play(&home, script);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
    (run.out.clone(), lives(&home))
}

#[test]
fn a_script_leads_to_the_same_log_byte_for_byte_and_another_line_to_another() {
    let (out, lives) = played(MORNING);
    assert_eq!(
        lives
            .iter()
            .map(|(key, _)| key.as_str())
            .collect::<Vec<_>>(),
        ["dormouse", "mole"]
    );
    assert!(lives.iter().all(|(_, life)| life.len() > 20), "{out}");
    let (again, lives_again) = played(MORNING);
    assert_eq!(again, out);
    assert_eq!(lives_again, lives);

    for (line, other) in [
        ("Hello, everybody.", "Hello, all."),
        ("+90s", "+91s"),
        ("09:00:00", "09:00:01"),
    ] {
        let (_, others) = played(&MORNING.replace(line, other));
        assert_ne!(others, lives, "{other}");
    }
}

#[test]
fn an_assistant_in_a_script_sees_where_it_went_within_its_act() {
    let script = "Alice: please go up\n+1m Alice: page Dormouse = hello\n";
    let (_, lives) = played(script);
    let holds =
        |event: &StoredEvent, text: &str| String::from_utf8_lossy(&event.payload).contains(text);
    let life = &lives[0].1;
    let seen = life
        .iter()
        .position(|it| it.kind == "perceived" && holds(it, "round window"));
    let settled = life
        .iter()
        .position(|it| it.kind == "effect_settled" && holds(it, "moved_to"));
    assert!(seen.is_some() && seen < settled, "{seen:?} {settled:?}");
    let captured =
        |event: &StoredEvent| event.kind == "effect_settled" && holds(event, "round window");
    assert!(life.iter().any(captured), "the model sees it in the result");
    let (_, again) = played(script);
    assert_eq!(again, lives);
}

#[test]
fn visitors_perceive_each_other_and_a_moment_comes_when_it_comes() {
    let home = Home::new();
    let run = play(&home, MORNING);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
    let seen: Vec<_> = run
        .of_type("world")
        .iter()
        .filter_map(|item| {
            let text = |name: &str| Some(item.get(name)?.as_str()?.to_owned());
            Some(format!(
                "{} {} {}: {}",
                text("observer")?,
                text("at")?,
                text("by")?,
                text("text")?
            ))
        })
        .collect();
    let index = |line: &str| seen.iter().position(|it| it.contains(line));
    for line in [
        "Alice 2027-01-01T09:00:05Z Bob: arrives.",
        "Alice 2027-01-01T09:00:05Z Bob: Hello, everybody.",
        "Bob 2027-01-01T09:01:05Z Alice: What does Bob prefer?",
        "Alice 2027-01-01T09:02:35Z Bob: goes up to the Attic.",
        "Alice 2027-01-01T09:03:40Z Bob: leaves.",
    ] {
        assert!(index(line).is_some(), "{line}\n{}", seen.join("\n"));
    }
    assert_eq!(
        index("Bob does not hear this."),
        None,
        "{}",
        seen.join("\n")
    );
    // The reminder comes ten minutes after the request, although nothing else happened then.
    let reminder = "Alice 2027-01-01T09:11:05Z Dormouse: ";
    assert!(
        seen.last().unwrap().starts_with(reminder),
        "{}",
        seen.join("\n")
    );
}

#[test]
fn a_script_goes_on_in_its_folder_and_never_back_in_time() {
    let home = Home::new();
    assert_eq!(play(&home, MORNING).code, Some(0));
    let early = play(&home, MORNING);
    assert_eq!(early.code, Some(2));
    assert!(
        early.err.contains("write `begin TIME` with a later time"),
        "{}",
        early.err
    );
    let next = MORNING.replace("2027-01-01", "2027-01-02");
    let run = play(&home, &next);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
}

#[test]
fn a_wrong_script_does_nothing() {
    let home = Home::new();
    let run = play(&home, "Alice: Hello\nBob\n");
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.contains("morning.txt:2: expected `NAME: TEXT`"),
        "{}",
        run.err
    );
    assert!(!home.file("log.redb").exists());
    let run = home.run(&["play", "--script", "missing.txt", "--as", "Alice"], "");
    assert_eq!(run.code, Some(2), "{}", run.err);
    // A line that the world refuses is reported, and the script continues.
    let run = play(&home, "Alice: page Nobody = Hello\nAlice: Hello\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let rejected = run.of_type("rejected");
    assert_eq!(rejected.len(), 1, "{}", run.out);
    assert_eq!(rejected[0]["line"], 1);
}

#[test]
fn what_is_due_at_one_moment_is_done_one_after_the_other() {
    let script = "begin 2027-01-01T17:00:00Z\n\
        Alice: remind me in ten minutes to sleep\n\
        Alice: remind me in ten minutes to eat\n\
        Bob: remind me in ten minutes to drink\n\
        +3h\n";
    let (out, _) = played(script);
    for what in ["sleep", "eat", "drink"] {
        let reminds = |line: &&str| line.contains("\"page\"") && line.contains(what);
        assert_eq!(out.lines().filter(reminds).count(), 1, "{what}: {out}");
    }
}

#[test]
fn it_walks_along_with_whom_asks_until_told_to_wait_and_with_nobody_else() {
    let script = "begin 2027-01-01T09:00:00Z\n\
        Bob: Hello.\n\
        Alice: come along with me\n\
        +1m Bob: go up\n\
        +1m Alice: go north\n\
        +1m Alice: go south\n\
        +1m Alice: wait here, please\n\
        +1m Alice: go north\n\
        +1m Bob: go down\n\
        Bob: stay with me\n\
        Bob: /quit\n\
        +1m\n";
    let (out, _) = played(script);
    let moves = out.lines().filter_map(|line| {
        let item: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_move = item["kind"] == "movement" && item["by"] == "Dormouse";
        is_move.then(|| format!("{}: {}", item["observer"].as_str().unwrap(), item["text"]))
    });
    let moves: Vec<_> = moves.collect();
    assert_eq!(
        moves,
        [
            "Alice: \"arrives from the Common Room.\"",
            "Alice: \"arrives from the Garden.\"",
        ],
        "{out}"
    );
}
