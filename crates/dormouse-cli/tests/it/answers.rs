//! Every message gets an answer or a notice, and no message blocks the others.

use std::{
    io::{BufRead, BufReader, Write},
    sync::mpsc,
    time::Duration,
};

use serde_json::json;

use crate::{
    program::{Home, Run, watch},
    server::{Request, Server, calls, events, http, says},
};

const SORRY: &str = "Sorry, I could not find an answer to that.";

/// A home whose assistant gives up soon, so that a test need not wait.
fn impatient() -> Home {
    let home = Home::new();
    home.write(
        "dormouse.toml",
        "[limits]\ntick_rate = 1\nmax_consecutive_errors = 2\n",
    );
    home
}

/// A server that answers the word POISON with `poison`, and anything else correctly.
fn poisoned(poison: impl Fn() -> String + Send + 'static) -> Server {
    Server::scripted(move |request| {
        if request.message().contains("POISON") {
            poison()
        } else {
            calls("say", &json!({"message": "Good day."}))
        }
    })
}

fn visit(answer: impl Fn(&Request) -> String + Send + 'static) -> Run {
    let server = Server::scripted(answer);
    Home::new().run(&["play", "--json", "--base-url", &server.url], "Hello!\n")
}

fn kinds(run: &Run) -> Vec<String> {
    let events = run.of_type("event").into_iter();
    let kinds = events.map(|event| event.get("kind").unwrap().as_str().unwrap().to_owned());
    kinds.collect()
}

#[test]
fn a_message_that_a_content_filter_blocks_is_given_up_and_the_next_is_answered() {
    let home = impatient();
    let server = poisoned(|| events(vec![json!({"content": ""})], "content_filter"));
    let play = ["play", "--json", "--base-url", &server.url];
    let run = home.run(&play, "POISON\nHello!\n");
    assert_eq!(run.code, Some(0), "{}", run.out);
    let mut answers = run.answers();
    answers.sort();
    assert_eq!(answers, ["Good day.", SORRY]);
    assert!(kinds(&run).contains(&"unanswered".to_owned()));
    assert!(!kinds(&run).contains(&"emergency_stop_triggered".to_owned()));

    let status = home.run(&["play"], "/status\n");
    assert!(
        status.out.contains("1 message ended without an answer"),
        "{}",
        status.out
    );
}

#[test]
fn a_message_that_the_server_always_fails_for_keeps_no_other_waiting() {
    for poison in [
        || http("500 Internal Server Error", "application/json", "{}"),
        || http("200 OK", "text/html", "<html>Welcome!</html>"),
    ] {
        let (home, server) = (impatient(), poisoned(poison));
        let mut child = home.spawn(&["play", "--json", "--base-url", &server.url]);
        let watched = watch(&child);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"POISON\nHello!\n").unwrap();
        // The failing message is tried for minutes. The test checks who gets an answer meanwhile.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut before = Vec::new();
        let answered = lines.any(|line| {
            before.push(line.unwrap());
            let line = before.last().unwrap();
            line.contains(r#""type":"world""#) && line.contains("Good day.")
        });
        child.kill().unwrap();
        child.wait().unwrap();
        drop(watched);
        let before = before.join("\n");
        assert!(answered, "{before}");
        assert!(!before.contains("emergency_stop_triggered"), "{before}");
    }
}

#[test]
fn a_message_that_always_fails_is_given_up_and_reported_to_its_sender_and_the_operator() {
    let home = Home::new();
    // Two failed calls are enough. A third would wait for the circuit, half a minute and longer.
    let settings = "[limits]\ntick_rate = 1\nmax_consecutive_errors = 2\ngive_up_after = 1\n\
                    [provider]\nretry_for = 1\n";
    home.write("dormouse.toml", settings);
    // It takes so long that a call makes at most two attempts, and the circuit stays closed.
    let server = poisoned(|| {
        let (_open, timer) = mpsc::channel::<()>();
        let _timed_out = timer.recv_timeout(Duration::from_millis(600));
        http("500 Internal Server Error", "application/json", "{}")
    });
    let mut child = home.spawn(&["play", "--as", "Alice", "--base-url", &server.url]);
    let watched = watch(&child);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"POISON\n").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = String::new();
    let heard = lines.any(|line| {
        seen += &format!("{}\n", line.unwrap());
        seen.contains(SORRY) && seen.contains("has no answer")
    });
    child.kill().unwrap();
    child.wait().unwrap();
    drop(watched);
    assert!(heard, "{seen}");
    let why = "Dormouse has no answer to the message of Alice (event ";
    let why = seen.lines().find(|line| line.contains(why)).expect(&seen);
    assert!(
        why.contains("and nothing else was asked meanwhile"),
        "{why}"
    );
}

#[test]
fn a_sender_is_informed_once_of_an_outage_and_answered_afterwards() {
    let home = Home::new();
    let text = "[limits]\ntick_rate = 1\nmax_consecutive_errors = 2\ngive_up_after = 1\n\
                [provider]\nretry_for = 1\n";
    home.write("dormouse.toml", text);
    let dead = "http://127.0.0.1:9/v1";
    let run = home.run(&["play", "--json", "--base-url", dead], "Hello!\n");
    let notice = "I cannot think at the moment. I will answer as soon as I can.";
    assert_eq!(run.answers(), [notice], "{}", run.out);
    assert_eq!(run.end(), ("waiting".to_owned(), 1));
    let run = home.play("");
    assert_eq!(run.answers().len(), 1, "{}", run.out);
    assert_ne!(run.answers(), [notice]);
}

#[test]
fn a_dead_server_stops_nothing_and_the_end_of_input_ends_the_visit() {
    let home = impatient();
    let dead = "http://127.0.0.1:9/v1";
    let run = home.run(&["play", "--json", "--base-url", dead], "Hello!\n");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(run.end(), ("waiting".to_owned(), 1), "{}", run.out);
    let run = home.play("");
    assert_eq!(run.answers().len(), 1, "{}", run.out);
}

#[test]
fn a_long_answer_is_said_in_parts_and_a_longer_one_ends_with_a_notice() {
    let story = |length: usize| "The kettle sang and nobody listened. ".repeat(length / 37 + 1);
    for (length, parts) in [(5_000, 2), (40_000, 8), (200_000, 8)] {
        for as_call in [true, false] {
            let run = visit(move |_| match as_call {
                true => calls("say", &json!({"message": story(length)})),
                false => says(&story(length)),
            });
            assert_eq!(run.code, Some(0), "{}", run.err);
            let answers = run.answers();
            assert_eq!(answers.len(), parts, "{length} as a call: {as_call}");
            let is_cut = answers
                .last()
                .unwrap()
                .ends_with("(There is more, but it is too long to say.)");
            assert_eq!(is_cut, length > 32_000);
        }
    }
}

#[test]
fn listeners_of_a_truncated_answer_are_informed_that_it_goes_on() {
    // The world refuses the second part, because it has no visible character.
    let story = format!(
        "{}\n{}\nThe end.",
        "x".repeat(3_998),
        "\u{3164}".repeat(3_998)
    );
    for then in [None, Some("In short: it sang.")] {
        let story = story.clone();
        let run = visit(move |request| match (request.has_results(), then) {
            (false, _) => calls("say", &json!({ "message": story })),
            (true, Some(short)) => calls("say", &json!({ "message": short })),
            (true, None) => calls("noop", &json!({})),
        });
        assert_eq!(run.code, Some(0), "{}", run.err);
        let answers = run.answers();
        assert_eq!(answers.len(), 2, "{}", run.out);
        let last = then.unwrap_or("There is more, but I could not say it.");
        assert_eq!(answers[1], last);
        assert_eq!(
            kinds(&run).contains(&"unanswered".to_owned()),
            then.is_none()
        );
    }
}

#[test]
fn a_model_that_only_looks_around_is_offered_speech_in_the_end() {
    let run = visit(|request| {
        if request.offers("inspect_location") {
            calls("inspect_location", &json!({}))
        } else {
            calls("say", &json!({"message": "A tea-house."}))
        }
    });
    assert_eq!(run.answers(), ["A tea-house."]);

    let run = visit(|_| calls("inspect_location", &json!({})));
    assert_eq!(run.answers(), [SORRY]);
    assert!(kinds(&run).contains(&"unanswered".to_owned()));
}

#[test]
fn the_notice_for_an_unanswered_message_is_configurable() {
    for (apology, said) in [("I am at a loss.", vec!["I am at a loss."]), ("", vec![])] {
        let home = Home::new();
        let text = format!("[assistant]\napology = {apology:?}\n");
        home.write("dormouse.toml", &text);
        let server = Server::scripted(|_| calls("inspect_location", &json!({})));
        let run = home.run(&["play", "--json", "--base-url", &server.url], "Hello!\n");
        assert_eq!(run.answers(), said);
    }
}

#[test]
fn an_unanswered_message_is_printed_in_one_line() {
    let server = Server::scripted(|_| calls("inspect_location", &json!({})));
    let run = Home::new().run(
        &["play", "--as", "Alice", "--base-url", &server.url],
        "Hello!\n",
    );
    assert!(
        run.out
            .contains("Dormouse has no answer to the message of Alice (event "),
        "{}",
        run.out
    );
}

#[test]
fn a_call_wrapped_in_words_is_not_read_aloud() {
    let run = visit(|request| {
        if request.message().contains("among other words") {
            calls("say", &json!({"message": "Good day."}))
        } else {
            says("Sure! {\"tool\": \"say\", \"parameters\": {\"message\": \"Good day.\"}}")
        }
    });
    assert_eq!(run.answers(), ["Good day."]);
}
