//! Ending from outside, and a provider that cannot be reached.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::Child,
};

use crate::program::Home;

/// Asks a process to end.
#[cfg(unix)]
fn signal(child: &Child, signal: nix::sys::signal::Signal) {
    let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(id, signal).unwrap();
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_gracefully_and_what_was_accepted_is_kept() {
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

#[test]
fn a_reader_who_goes_away_ends_it_quietly() {
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
fn a_reader_who_does_not_read_cannot_keep_it_from_ending() {
    let home = Home::new();
    let mut child = home.spawn(&["play"]);
    let mut stdin = child.stdin.take().unwrap();
    // Far more than a pipe holds; the last line is written when the program has long stopped reading.
    let writing = std::thread::spawn(move || stdin.write_all(&b"/help\n".repeat(20_000)));
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    signal(&child, nix::sys::signal::Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(writing.join().unwrap().is_err());
}
