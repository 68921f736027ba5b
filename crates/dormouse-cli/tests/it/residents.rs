//! Several in one `dormouse run`: assistants with a model that always answers, and what ends their conversation; visitors who
//! perceive each other.

use std::io::{BufRead, BufReader};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    control::Running,
    program::{Home, Run},
    server::{Request, Server, calls},
};

/// A model that pages the other assistant with each reply.
fn chatterbox() -> Server {
    Server::scripted(|request: &Request| {
        let is_mole = request.body.to_string().contains("You are Mole.");
        let to = if is_mole { "Dormouse" } else { "Mole" };
        calls(
            "page",
            &json!({"to": to, "message": "And what do you think?"}),
        )
    })
}

fn life(home: &Home, key: &str) -> Vec<Value> {
    let shown = home.run(&["log", "show", "--json", "--assistant", key], "");
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    shown.items()
}

fn turns(home: &Home, key: &str) -> usize {
    let events = life(home, key);
    let begun = |event: &&Value| event.get("kind").is_some_and(|kind| kind == "tick_started");
    events.iter().filter(begun).count()
}

/// How many messages were not answered because no person has said anything.
fn held_back(home: &Home, key: &str) -> usize {
    let events = life(home, key);
    let rule = |event: &&Value| event.pointer("/data/classification/rule").cloned();
    let held_back = events.iter().filter_map(|event| rule(&event));
    held_back.filter(|rule| rule == "4a").count()
}

fn visit(home: &Home, input: &str) -> Run {
    let run = home.play(input);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    run
}

/// Waits until Mole is in the world, which happens after the program reports that it runs.
fn until_mole_is_there(home: &Home) {
    let configured = |event: &Value| event.get("kind").is_some_and(|kind| kind == "configured");
    let is_there = (0..1_000).any(|_| life(home, "mole").iter().any(configured));
    assert!(is_there, "Mole does not move in");
}

/// Waits until Mole has been held back this many times. Each check is a separate command.
fn until_held_back(home: &Home, times: usize) {
    let is_over = (0..1_000).any(|_| held_back(home, "mole") >= times);
    let of = |key| home.run(&["log", "show", "--assistant", key], "").out;
    assert!(is_over, "{}\n{}", of("dormouse"), of("mole"));
}

#[test]
fn two_residents_that_page_each_other_stop_until_a_person_says_something() {
    let home = Home::new();
    let server = chatterbox();
    home.write(
        "dormouse.toml",
        &format!(
            "[limits]\nmax_exchanges = 2\n[provider]\nkind = \"local\"\nmodel = \"tiny\"\nbase_url = \"{}\"\n",
            server.url
        ),
    );
    let mole = ["assistant", "create", "mole", "--persona", "You are Mole."];
    assert_eq!(home.run(&mole, "").code, Some(0));

    let running = Running::start(&home);
    until_mole_is_there(&home);
    visit(&home, "What does Mole think?\n");
    // Each says a farewell, which the other does not answer.
    until_held_back(&home, 2);
    assert_eq!((turns(&home, "dormouse"), turns(&home, "mole")), (4, 3));
    running.end(Signal::SIGTERM);

    // A restart changes nothing, and neither does an arrival, because a person must say something.
    let running = Running::start(&home);
    let status = visit(&home, "/status\n").of_type("notice");
    assert!(
        status[0]["text"].as_str().unwrap().contains(
            "answers no other assistant until a person says something (2 messages of theirs answered since; \
             limits.max_exchanges)"
        ),
        "{status:?}"
    );
    assert_eq!((turns(&home, "dormouse"), turns(&home, "mole")), (4, 3));
    assert_eq!(held_back(&home, "dormouse"), 1);

    // Both hear it, and continue to talk.
    visit(&home, "And what does it think now?\n");
    until_held_back(&home, 4);
    assert_eq!((turns(&home, "dormouse"), turns(&home, "mole")), (8, 6));
    running.end(Signal::SIGTERM);
    let shown = home.run(&["log", "show", "--assistant", "mole"], "");
    assert!(
        shown.out.contains(
            "by rule 4a (enough exchanges with other assistants until a person says something)"
        ),
        "{}",
        shown.out
    );
}

#[test]
fn visitors_see_each_other_come_hear_each_other_and_see_each_other_leave() {
    let home = Home::new();
    let running = Running::start(&home);
    let mut bob = home.spawn(&["play", "--json", "--as", "Bob"]);
    let input = bob.stdin.take().unwrap();
    let mut out = BufReader::new(bob.stdout.take().unwrap());
    let mut seen = Vec::new();
    let mut until = |text: &str| loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "{text}: {seen:?}");
        let item: Value = serde_json::from_str(&line).unwrap();
        let is_it = line.contains(text);
        if let (Some("Alice"), Some(kind), Some(text)) = (
            item.get("by").and_then(Value::as_str),
            item.get("kind").and_then(Value::as_str),
            item.get("text").and_then(Value::as_str),
        ) {
            seen.push(format!("{kind}: {text}"));
        }
        if is_it {
            return;
        }
    };
    until("\"type\":\"ready\"");
    let words = "say Hello, Bob.\nwhisper Bob = Psst.\n:waves.\npublic Anybody?\nchannel tea = Tea?\npage Bob = Bye.\n";
    let alice = home.run(&["play", "--json", "--as", "Alice"], words);
    assert_eq!(alice.code, Some(0), "{}{}", alice.out, alice.err);
    assert!(!alice.out.contains("rejected"), "{}", alice.out);
    until("\"leaves.\"");
    assert_eq!(
        seen,
        [
            "movement: arrives.",
            "say: Hello, Bob.",
            "whisper: Psst.",
            "pose: waves.",
            "channel: Anybody?",
            "channel: Tea?",
            "page: Bye.",
            "movement: leaves.",
        ]
    );
    drop((input, out));
    assert!(bob.wait().unwrap().success());
    running.end(Signal::SIGTERM);
}

#[test]
fn an_assistant_that_cannot_wake_does_not_keep_the_others_from_living() {
    let (home, other) = (Home::new(), Home::new());
    for home in [&home, &other] {
        visit(home, "hello\n");
    }
    assert_eq!(home.run(&["assistant", "create", "rat"], "").code, Some(0));
    std::fs::copy(
        other.file("memory-dormouse.redb"),
        home.file("memory-dormouse.redb"),
    )
    .unwrap();

    let mut running = home.spawn(&["run"]);
    let mut lines = BufReader::new(running.stderr.take().unwrap()).lines();
    let mut said = Vec::new();
    while !said
        .last()
        .is_some_and(|line: &String| line.contains("the model is"))
    {
        said.push(lines.next().unwrap().unwrap());
    }
    let is_said = said
        .iter()
        .any(|line| line.contains("dormouse could not be started; the others run"));
    assert!(is_said, "{said:?}");
    let listed = home.run(&["assistant", "list"], "");
    let of = |key: &str| {
        listed
            .out
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap()
            .to_owned()
    };
    assert!(
        of("dormouse").contains("it cannot wake: "),
        "{}",
        listed.out
    );
    assert!(!of("rat").contains("cannot wake"), "{}", listed.out);
    let id = nix::unistd::Pid::from_raw(running.id().try_into().unwrap());
    nix::sys::signal::kill(id, Signal::SIGTERM).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(143));
    home.leave_its_log();
}
