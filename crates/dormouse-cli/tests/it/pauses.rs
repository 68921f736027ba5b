//! A provider that requests a pause: where it applies, who sees it, and who can end it.

use std::io::{BufRead, BufReader, Read, Write};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::{
    program::{Home, Run, watch},
    server::{Mood, Server},
};

fn visit(home: &Home, server: &Server, input: &str) -> Run {
    home.run(&["play", "--base-url", &server.url], input)
}

/// A visit in which a message is said, and a command is given once the pause was printed.
fn visit_and_then(home: &Home, server: &Server, command: &str) -> Run {
    let mut child = home.spawn(&["play", "--base-url", &server.url]);
    let watched = watch(&child);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"Hello!\n").unwrap();
    let mut pipe = BufReader::new(child.stdout.take().unwrap());
    let mut out = String::new();
    while !out.contains("It is not called again") {
        assert!(pipe.read_line(&mut out).unwrap() > 0, "{out}");
    }
    stdin.write_all(command.as_bytes()).unwrap();
    drop(stdin);
    pipe.read_to_string(&mut out).unwrap();
    let code = child.wait().unwrap().code();
    drop(watched);
    let err = String::new();
    Run { code, out, err }
}

#[test]
fn a_pause_applies_only_to_the_provider_that_requested_it() {
    let home = Home::new();
    let server = Server::start(Mood::Pausing);
    let run = visit(&home, &server, "Hello!\n");
    assert_eq!(run.code, Some(0), "{}", run.out);

    let other = Server::start(Mood::Fine);
    let run = visit(&home, &other, "");
    assert!(run.out.contains("Good day."), "{}", run.out);

    let run = visit(&home, &server, "Hello again!\n");
    assert_eq!(server.asked().len(), 1, "it is left alone: {}", run.out);
    assert!(!run.out.contains("Dormouse says"), "{}", run.out);

    let run = home.play("");
    assert_eq!((run.code, run.answers().len()), (Some(0), 1), "{}", run.out);
}

#[test]
fn every_status_command_shows_a_pause_with_its_end_and_provider() {
    let home = Home::new();
    let server = Server::start(Mood::Pausing);
    let run = visit_and_then(&home, &server, "/status\n");
    let asked = format!("requested by local:default@{}", server.url);
    let end = run
        .out
        .split_once("until ")
        .map(|(_, end)| end.chars().take(5).collect::<String>())
        .expect(&run.out);
    let shown = format!("until {end}");
    for line in [
        "gave no answer",
        "waiting until",
        "1 message waits and is kept",
    ] {
        let line = run.out.lines().find(|it| it.contains(line));
        let line = line.expect(&run.out);
        assert!(line.contains(&shown) && line.contains(&asked), "{line}");
    }
    for command in [
        &["doctor"][..],
        &["provider", "list"],
        &["provider", "show", "--base-url", &server.url],
        &["log", "show"],
    ] {
        let run = home.run(command, "");
        let line = run.out.lines().find(|line| line.contains(&asked));
        let line = line.expect(&run.out);
        assert!(line.contains(&shown), "{command:?}: {line}");
    }
}

#[test]
fn somebody_at_the_command_line_can_end_a_pause() {
    let home = Home::new();
    let server = Server::start(Mood::PausingOnce);
    visit(&home, &server, "Hello!\n");
    let run = home.run(&["provider", "retry"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains(&server.url), "{}", run.out);

    let run = visit(&home, &server, "");
    assert!(run.out.contains("Good day."), "{}", run.out);

    let run = home.run(&["provider", "retry"], "");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("no pause to end"), "{}", run.out);
}

#[test]
fn a_player_can_end_a_pause() {
    let home = Home::new();
    let server = Server::start(Mood::PausingOnce);
    let run = visit_and_then(&home, &server, "/retry\n");
    assert!(run.out.contains("Good day."), "{}", run.out);
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn leaving_during_a_pause_prints_its_end_and_how_to_end_it() {
    let home = Home::new();
    let server = Server::start(Mood::Pausing);
    let asked = format!("requested by local:default@{}", server.url);
    let run = visit_and_then(&home, &server, "/quit\n");
    let end = run.out.lines().last().unwrap();
    for part in [asked.as_str(), "provider retry", "1 message waits"] {
        assert!(end.contains(part), "{part}: {end}");
    }
    assert!(!end.contains("at the next start;"), "{end}");

    let config = format!("[provider]\nbase_url = \"{}\"\n", server.url);
    home.write("dormouse.toml", &config);
    let run = home.play("/quit\n");
    let end = run.items().pop().unwrap();
    assert_eq!(end["reason"], "paused", "{end}");
    assert_eq!(end["asked_by"], format!("local:default@{}", server.url));
    assert!(end["until"].is_string(), "{end}");
}

#[test]
fn a_signal_during_a_pause_prints_its_end() {
    let home = Home::new();
    let server = Server::start(Mood::Pausing);
    let mut child = home.spawn(&["play", "--json", "--base-url", &server.url]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"Hello!\n").unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    assert!(lines.any(|line| line.contains("\"tick_ended\"")));
    kill(
        Pid::from_raw(child.id().try_into().unwrap()),
        Signal::SIGTERM,
    )
    .unwrap();
    let end: Value = serde_json::from_str(&lines.last().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(end["reason"], "interrupted", "{end}");
    assert_eq!(end["asked_by"], format!("local:default@{}", server.url));
}
