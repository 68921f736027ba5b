//! Two assistants with a model that always answers, in one `dormouse run`, and what ends their conversation.

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

/// How many messages were not answered because no person says anything.
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

/// Waits until Mole has been held back so often. Each look is a command of its own.
fn until_held_back(home: &Home, times: usize) {
    let is_over = (0..1_000).any(|_| held_back(home, "mole") >= times);
    assert!(is_over, "they talk without end");
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
    visit(&home, "What does Mole think?\n");
    until_held_back(&home, 1);
    assert_eq!((turns(&home, "dormouse"), turns(&home, "mole")), (3, 2));
    running.end(Signal::SIGTERM);

    // A restart changes nothing, and an arrival is no word of a person.
    let running = Running::start(&home);
    let status = visit(&home, "/status\n").of_type("notice");
    assert!(
        status[0]["text"].as_str().unwrap().contains(
            "answers no other assistant until a person says something (2 messages of theirs answered since; \
             limits.max_exchanges)"
        ),
        "{status:?}"
    );
    assert_eq!((turns(&home, "dormouse"), turns(&home, "mole")), (3, 2));
    assert_eq!(held_back(&home, "dormouse"), 0);

    // Both hear it, and talk on.
    visit(&home, "And what does it think now?\n");
    until_held_back(&home, 2);
    assert_eq!((turns(&home, "dormouse"), turns(&home, "mole")), (6, 4));
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
