//! Ending from outside, and a provider that cannot be reached.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::Child,
    sync::mpsc,
    time::Duration,
};

use tokio::time::Instant;

use crate::program::{Home, assert_quick, watch};

/// Asks a process to end.
#[cfg(unix)]
fn signal(child: &Child, signal: nix::sys::signal::Signal) {
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(id, signal).unwrap();
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_program_gracefully_and_keeps_accepted_lines() {
    use nix::sys::signal::Signal;
    for (number, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let home = Home::new();
        let mut child = home.spawn(&["play", "--json"]);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut stdin = child.stdin.take().unwrap();
        stdin
            .write_all(b"remember that Alice prefers tea\n")
            .unwrap();
        let mut line = String::new();
        while !line.contains("\"tick_ended\"") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended by itself");
        }
        signal(&child, number);
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(
            rest.lines()
                .last()
                .unwrap()
                .contains("\"reason\":\"interrupted\""),
            "{rest}"
        );
        assert!(
            home.play("what does Alice prefer?")
                .answers()
                .last()
                .unwrap()
                .contains("tea")
        );
    }
}

#[cfg(unix)]
#[test]
fn assistants_live_without_a_visitor_until_a_signal_puts_them_away() {
    use nix::sys::signal::Signal;
    let home = Home::new();
    assert_eq!(home.play("remember that Alice prefers tea").code, Some(0));
    let mut child = home.spawn(&["run"]);
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    assert!(
        line.contains("1 assistant lives in ") && line.contains("the model is offline"),
        "{line}"
    );
    let visited = home.play("hello");
    assert_eq!(visited.code, Some(0), "{}", visited.err);
    signal(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let asked = home.play("what does Alice prefer?");
    assert!(asked.answers().last().unwrap().contains("tea"));
}

#[test]
fn a_closed_output_ends_the_program_quietly() {
    let home = Home::new();
    let mut child = home.spawn(&["play", "--json"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"Hello!\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(home.run(&["log", "verify"], "").code, Some(0));
}

#[cfg(unix)]
#[test]
fn a_blocked_output_does_not_keep_the_program_from_ending() {
    assert_quick(time_to_end_with_a_stalled_reader);
}

/// How long the program takes to end after SIGTERM while nobody reads a full pipe.
#[cfg(unix)]
fn time_to_end_with_a_stalled_reader() -> Duration {
    let home = Home::new();
    let mut child = home.spawn(&["play"]);
    let mut stdin = child.stdin.take().unwrap();
    let line = line_with_a_long_answer();
    let (stalled, full) = mpsc::channel();
    let writing = std::thread::spawn(move || {
        stdin.write_all(line.repeat(250).as_bytes())?;
        stalled.send(()).unwrap();
        stdin.write_all(line.repeat(2_000).as_bytes())
    });
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    full.recv().unwrap();
    let asked = Instant::now();
    let watched = watch(&child);
    signal(&child, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let took = asked.elapsed();
    drop(watched);
    assert!(writing.join().unwrap().is_err());
    took
}

/// A line whose answer is about as long as the line. A few hundred of them produce more output than a pipe holds.
#[cfg(unix)]
fn line_with_a_long_answer() -> String {
    format!("/help{}\n", " ".repeat(1_000))
}

#[cfg(unix)]
#[test]
fn lines_that_a_stalled_reader_missed_are_printed_at_the_next_start() {
    let home = Home::new();
    let mut child = home.spawn(&["play", "--json"]);
    let watched = watch(&child);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"hello\n").unwrap();
    let mut pipe = BufReader::new(child.stdout.take().unwrap());
    let mut out = String::new();
    while deliveries(&out).is_empty() {
        assert!(pipe.read_line(&mut out).unwrap() > 0, "it ended by itself");
    }
    // At most 90 of these lines wait to be carried out. The output of the others fills the pipe before the signal.
    let line = line_with_a_long_answer();
    let input = [line.repeat(75), "hello\n".to_owned(), line.repeat(105)].concat();
    stdin.write_all(input.as_bytes()).unwrap();
    signal(&child, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    drop(watched);
    pipe.read_to_string(&mut out).unwrap();
    drop(stdin);
    let seen = deliveries(&out);
    let seen_later = deliveries(&home.play("").out);
    let next = seen.last().unwrap() + 1;
    assert!(
        seen_later.contains(&next),
        "up to {next}, then from {:?}",
        seen_later.first()
    );
}

/// The delivery numbers of the player's perceptions. The last line may be cut off.
#[cfg(unix)]
fn deliveries(out: &str) -> Vec<u64> {
    let items = out
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let delivery = |item: serde_json::Value| match item.get("type")?.as_str()? {
        "world" => item.get("delivery")?.as_u64(),
        _ => None,
    };
    items.filter_map(delivery).collect()
}
