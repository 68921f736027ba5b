//! A warning that repeats a thousand times is printed a few times and counted.

use std::io::{BufRead, BufReader, Read, Write};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::program::Home;

/// How many messages may wait for an answer.
const INBOX: usize = 1_000;

fn lines(count: usize) -> String {
    "hello\n".repeat(count)
}

#[test]
fn a_flood_of_warnings_is_a_few_lines_and_their_number() {
    let home = Home::new();
    let config = home.write("dormouse.toml", "[assistant]\nenabled = false\n");
    let full = home.play(lines(INBOX));
    assert_eq!(full.items().pop().unwrap()["waiting"], INBOX);
    std::fs::remove_file(config).unwrap();

    // Each answer makes room for one message, and the next message finds no room.
    let mut child = home.spawn(&["play", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines(200).as_bytes()).unwrap();
    let out = BufReader::new(child.stdout.take().unwrap()).lines();
    let answered = out.map_while(Result::ok);
    let answered = answered.filter(|line| line.contains("\"kind\":\"tick_ended\""));
    assert_eq!(answered.take(120).count(), 120);
    kill(
        Pid::from_raw(child.id().try_into().unwrap()),
        Signal::SIGTERM,
    )
    .unwrap();
    let mut output = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut output)
        .unwrap();
    drop(stdin);
    child.wait().unwrap();
    let warned = output.lines().filter(|line| line.contains("WARN"));
    let warned: Vec<_> = warned.collect();
    // Four lines a minute, and a slow machine takes some minutes for the answers.
    assert!(
        (2..30).contains(&warned.len()) && output.contains(" more like this"),
        "{output}"
    );
}
