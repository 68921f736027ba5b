//! A slow model: who is informed, and when the call is given up.

use std::io::{BufRead, BufReader, Write};

use crate::{
    program::Home,
    server::{Mood, Server},
};

/// The lines of a visit up to the first that holds `end`, which says something and waits.
fn lines_until(home: &Home, server: &Server, end: &str) -> Vec<String> {
    let mut child = home.spawn(&["play", "--base-url", &server.url]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"Hello!\n").unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = Vec::new();
    for line in out.lines() {
        lines.push(line.unwrap());
        if lines.last().is_some_and(|line| line.contains(end)) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    lines
}

#[test]
fn a_hanging_server_is_reported_to_the_player_and_given_up_at_the_first_byte_deadline() {
    let home = Home::new();
    let settings = "[limits]\nslow_after = 1\n[provider]\nfirst_byte_timeout = 3\n";
    home.write("dormouse.toml", settings);
    let server = Server::start(Mood::Hanging);
    let lines = lines_until(&home, &server, "gave no answer");
    let slow = lines.iter().position(|line| line.contains("takes longer"));
    let slow = slow.expect("the delay is reported");
    assert!(lines[slow].contains(&server.url), "{lines:?}");
    let failed = lines.last().unwrap();
    assert!(
        failed.contains("did not begin to answer within 3s"),
        "{failed}"
    );
    assert!(
        slow + 1 < lines.len(),
        "reported before the answer: {lines:?}"
    );
}

#[test]
fn a_configured_notice_asks_waiting_players_for_patience() {
    let home = Home::new();
    let settings = "[assistant]\nwait_notice = \"Let me think about that.\"\n\
                    [limits]\nslow_after = 1\n[provider]\nfirst_byte_timeout = 3\n";
    home.write("dormouse.toml", settings);
    let server = Server::start(Mood::Hanging);
    let lines = lines_until(&home, &server, "gave no answer");
    let asked = "Dormouse says, \"Let me think about that.\"";
    let times = lines.iter().filter(|line| line.contains(asked)).count();
    assert_eq!(times, 1, "{lines:?}");
}

#[test]
fn a_quick_answer_is_not_called_slow() {
    let home = Home::new();
    let server = Server::start(Mood::Fine);
    let run = home.run(&["play", "--base-url", &server.url], "Hello!\n");
    assert!(run.out.contains("Good day."), "{}", run.out);
    assert!(!run.out.contains("takes longer"), "{}", run.out);
}

#[test]
fn an_unreadable_reply_is_reported_at_once() {
    let home = Home::new();
    let server = Server::start(Mood::BlankOnce);
    let run = home.run(&["play", "--base-url", &server.url], "Hello!\n");
    let reported = run.out.find("could not be read").expect(&run.out);
    let answered = run.out.find("Good day.").expect(&run.out);
    assert!(reported < answered, "{}", run.out);
}
