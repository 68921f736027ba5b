//! Visits that are recorded, and replayed without key and network.

use crate::{
    program::{Home, Run, finish},
    server::{Mood, Server},
};

const LINES: &str = "hello\nremember that Alice prefers tea\nwhat does Alice prefer?\n";

fn record(home: &Home, more: &[&str], lines: &str) -> String {
    let file = home.file("visit.json").to_str().unwrap().to_owned();
    let args = [&["record", &file, "--as", "Alice", "--json"], more].concat();
    let run = home.run(&args, lines);
    assert_eq!(run.code, Some(0), "{}", run.err);
    file
}

fn replay(home: &Home, file: &str) -> Run {
    let args = ["play", "--replay", file, "--as", "Alice", "--json"];
    home.run(&args, LINES)
}

/// Answers without the moment that a memory is quoted with.
fn answers(run: &Run) -> Vec<String> {
    let without_time = |text: &String| text.split(" at ").next().unwrap().to_owned();
    run.answers().iter().map(without_time).collect()
}

#[test]
fn a_visit_without_a_key_is_recorded_and_replayed() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    let file = record(&home, &[], LINES);
    let alone = Home::new().run(&["play", "--as", "Alice", "--json"], LINES);
    let elsewhere = Home::new();
    let args = ["play", "--replay", &file, "--as", "Alice", "--json"];
    let mut command = elsewhere.command(&args);
    // The replay sends no request, even if a provider is configured by now.
    command
        .env("OPENAI_API_KEY", "sk-very-secret")
        .env("OPENAI_BASE_URL", &server.url);
    let run = finish(command.spawn().unwrap(), LINES.as_bytes());
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.answers().len(), 3);
    assert_eq!(answers(&run), answers(&alone));
    assert_eq!(run.of_type("ready")[0]["provider"], "offline");
    assert!(server.asked().is_empty());
}

#[test]
fn a_visit_with_a_server_is_recorded_and_replayed() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    let file = record(&home, &["--base-url", &server.url], LINES);
    let asked = server.asked().len();
    let run = replay(&Home::new(), &file);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.answers(), ["Good day."; 3]);
    assert_eq!(server.asked().len(), asked, "the replay asks nobody");
}

#[test]
fn a_recording_without_requests_is_not_replayed_by_the_offline_model() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    let file = record(&home, &["--base-url", &server.url], "");
    let run = replay(&Home::new(), &file);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("holds no request"), "{}", run.err);
}

#[test]
fn a_visit_that_fails_before_anything_was_asked_leaves_no_recording() {
    let home = Home::new();
    home.leave_its_log();
    home.write("log.redb", "no log");
    let file = home.file("visit.json");
    for _ in 0..2 {
        let run = home.run(&["record", file.to_str().unwrap()], LINES);
        assert_eq!(run.code, Some(4), "{}", run.err);
        assert!(!file.exists(), "{}", run.err);
    }
}

#[test]
fn a_replay_names_the_recording_and_counts_no_request() {
    let (home, server) = (Home::new(), Server::start(Mood::Fine));
    let by_server: &[&str] = &["--base-url", &server.url];
    for more in [by_server, &[]] {
        let other = Home::new();
        let file = record(&other, more, LINES);
        let run = replay(&Home::new(), &file);
        let ready = &run.of_type("ready")[0];
        assert_eq!(
            ready["why"],
            format!("answers come from the recording {file}")
        );
        assert!(!run.out.contains("This visit took"), "{}", run.out);
    }
    let file = record(&home, by_server, LINES);
    let args = ["play", "--replay", &file, "--as", "Alice", "--json"];
    let run = Home::new().run(&args, "hello\n");
    let notices = run.of_type("notice");
    assert_eq!(
        notices.last().unwrap()["text"],
        "2 recorded exchanges were not asked for."
    );
}
