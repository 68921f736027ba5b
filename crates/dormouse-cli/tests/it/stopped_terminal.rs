//! Ending at a terminal that accepts no more output: its window is stopped, or the connection to it hangs.

use std::{
    fs::File,
    io::{Read, Write},
    os::fd::OwnedFd,
    process::{Child, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::time::Instant;

use crate::program::{Home, assert_quick, watch};

/// Typed repeatedly until the terminal accepts no more output.
const COMMANDS: &[u8] = b"/help\r";
/// Typed repeatedly without an end of line, so that only the line editor writes. Each character goes to the start of
/// the line, so that the whole
/// line is written again.
const CHARACTERS: &[u8] = b"\x01abcdefgh";

#[test]
fn a_stopped_terminal_does_not_keep_the_program_from_ending() {
    let stopped = || StoppedTerminal::start(COMMANDS, Errors::Elsewhere);
    assert_quick(|| stopped().time_to_end(Signal::SIGTERM, 143));
}

#[test]
fn an_unread_echo_does_not_keep_the_program_from_ending() {
    let stopped = || StoppedTerminal::start(CHARACTERS, Errors::Elsewhere);
    assert_quick(|| stopped().time_to_end(Signal::SIGTERM, 143));
}

#[test]
fn unread_log_lines_do_not_keep_the_program_from_ending() {
    for typed in [COMMANDS, CHARACTERS] {
        StoppedTerminal::start(typed, Errors::AtTheTerminal).time_to_end(Signal::SIGTERM, 143);
    }
}

#[test]
fn an_interrupt_ends_the_program_at_a_stopped_terminal() {
    for typed in [COMMANDS, CHARACTERS] {
        StoppedTerminal::start(typed, Errors::Elsewhere).time_to_end(Signal::SIGINT, 130);
    }
}

/// Where standard error goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errors {
    Elsewhere,
    /// To the terminal, with much output.
    AtTheTerminal,
}

/// The program at a terminal whose output nobody reads.
struct StoppedTerminal {
    child: Child,
    _home: Home,
}

impl StoppedTerminal {
    fn start(typed: &'static [u8], errors: Errors) -> Self {
        let home = Home::new();
        let pair = nix::pty::openpty(None, None).unwrap();
        let child = start(&home, &pair.slave, errors);
        drop(pair.slave);
        let mut terminal = File::from(pair.master);
        read_until_prompt(&mut terminal);
        let (written, progress) = mpsc::channel();
        std::thread::spawn(move || {
            // Ends when the receiver is gone.
            while terminal.write_all(typed).is_ok() && written.send(()).is_ok() {}
        });
        while progress.recv_timeout(Duration::from_secs(1)) != Err(RecvTimeoutError::Timeout) {}
        Self { child, _home: home }
    }

    /// How long the program takes to end after the signal.
    fn time_to_end(mut self, signal: Signal, code: i32) -> Duration {
        let asked = Instant::now();
        let watched = watch(&self.child);
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
        let ended = self.child.wait().unwrap();
        drop(watched);
        assert_eq!(ended.code(), Some(code), "it did not end by itself");
        asked.elapsed()
    }
}

fn start(home: &Home, terminal: &OwnedFd, errors: Errors) -> Child {
    let end = || Stdio::from(terminal.try_clone().unwrap());
    let mut command = home.command(&["play"]);
    command.stdin(end()).stdout(end()).env("TERM", "xterm");
    if errors == Errors::AtTheTerminal {
        command.stderr(end()).env("RUST_LOG", "trace");
    }
    command.spawn().unwrap()
}

fn read_until_prompt(terminal: &mut File) {
    let mut shown = Vec::new();
    while !shown.windows(2).any(|pair| pair == b"> ") {
        let mut bytes = [0; 256];
        let count = terminal.read(&mut bytes).unwrap();
        shown.extend_from_slice(bytes.get(..count).unwrap());
    }
}
