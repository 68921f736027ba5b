//! The program `dormouse`: runs a resident assistant, and inspects its log and its memory.
//!
//! Row 6, the composition root: it reads the environment, the clock and the command line, and chooses the log, the
//! world and the models behind the engine's ports. It makes no decision that belongs to the engine.
//!
//! [`args`] is the command line, and each command is a module: [`play`] is the visit; [`log`], [`doctor`] and
//! [`provider`] inspect; [`memory`], [`entity`] and [`emergency`] also change; [`forget`] takes words out of every file. [`command`] is what all of them need.
//!
//! Stability: commands, flags, exit codes and JSON lines are kept once released; text for people is not.

mod args;
mod command;
mod compose;
mod config;
mod data;
mod describe;
mod diagnostics;
mod dialects;
mod doctor;
mod emergency;
mod encoder;
mod entity;
mod exit;
mod export;
mod finding;
mod forget;
mod grammar;
mod input;
mod item;
mod json;
mod line_kind;
mod lines;
mod log;
mod memory;
mod neutralise;
mod plain;
mod play;
mod provider;
mod recall;
mod record;
mod screen;
mod vectors;

use std::{
    error::Error,
    io::{self, Write},
    panic,
    process::ExitCode,
};

use clap::Parser;
#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};

use crate::{
    args::{Command, CommandLine},
    diagnostics::Diagnostics,
    exit::{Exit, Report},
};

fn main() -> ExitCode {
    survive_the_limit_on_file_sizes();
    keep_the_database_quiet();
    let CommandLine { places, command } = CommandLine::parse();
    let diagnostics = Diagnostics::start();
    let failed = |exit, error: &(dyn Error + 'static)| failed(&diagnostics, exit, error);
    // What was begun to be forgotten is gone before anything else is done.
    let pending = data::DataFolder::locate(places.data.as_deref());
    if let Ok(data) = pending
        && let Err(error) = forget::finish_pending(&data)
    {
        let exit = failed(error.exit(), &error);
        diagnostics.finish();
        return exit.into();
    }
    let ended = match command {
        Command::Play(play) => {
            play::run(&places, &play, &diagnostics).map_err(|e| failed(e.exit(), &e))
        }
        Command::Record(record) => {
            play::record(&places, &record, &diagnostics).map_err(|e| failed(e.exit(), &e))
        }
        Command::Log(command) => log::run(&places, command).map_err(|e| failed(e.exit(), &e)),
        Command::Provider(command) => {
            provider::command::run(&places, command).map_err(|e| failed(e.exit(), &e))
        }
        Command::Doctor(doctor) => doctor::run(&places, &doctor).map_err(|e| failed(e.exit(), &e)),
        Command::Emergency(command) => {
            emergency::run(&places, command).map_err(|e| failed(e.exit(), &e))
        }
        Command::Memory(command) => memory::run(&places, command).map_err(|e| failed(e.exit(), &e)),
        Command::Forget(command) => {
            forget::run(&places, &command).map_err(|e| failed(e.exit(), &e))
        }
        Command::Export(command) => {
            export::run(&places, &command).map_err(|e| failed(e.exit(), &e))
        }
        Command::Entity(command) => entity::run(&places, command).map_err(|e| failed(e.exit(), &e)),
    };
    diagnostics.finish();
    ended.unwrap_or_else(|exit| exit).into()
}

/// A write beyond `ulimit -f` raises a signal whose default is to end the process. Blocked, the write fails with
/// `EFBIG`, which is handled like a full disk. Threads inherit this; programs that are started do not.
#[cfg(unix)]
fn survive_the_limit_on_file_sizes() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    if let Err(error) = signals.thread_block() {
        drop(writeln!(
            io::stderr(),
            "dormouse: SIGXFSZ cannot be blocked: {error}"
        ));
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
fn survive_the_limit_on_file_sizes() {}

/// A damaged file can make the database panic. The code that opened it turns the panic into an error, which is reported;
/// the message of the panic itself is not needed.
fn keep_the_database_quiet() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        match panic
            .location()
            .filter(|place| place.file().contains("redb-"))
        {
            Some(place) => tracing::debug!(%place, "the database panicked"),
            None => usual(panic),
        }
    }));
}

/// Whether the error only means that the reader of the output has closed it.
fn reader_has_left(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Says why the program failed, on standard error.
fn failed(diagnostics: &Diagnostics, exit: Exit, error: &(dyn Error + 'static)) -> Exit {
    if reader_has_left(error) {
        return Exit::Success;
    }
    diagnostics.report(&format!("dormouse: {}", Report(error)));
    exit
}
