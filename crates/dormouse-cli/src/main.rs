//! The program `dormouse`: runs a resident assistant that one can talk to, and inspects its log and its memory.
//!
//! Row 6, the composition root: the only crate that reads the environment, the clock and the command line, and the
//! only one that knows which log, which world and which model the ports are given. It decides nothing that the
//! engine decides. [`args`] is the command line, [`play`] the visit, [`log`] and [`doctor`] look without changing
//! anything, [`memory`] and [`entity`] look into what is remembered and change it, [`provider`] tries models, and [`eval`]
//! measures recall.
//!
//! Stability: commands, flags, exit codes and JSON lines are kept once released; text for people is not.

mod args;
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
mod eval;
mod exit;
mod finding;
mod grammar;
mod input;
mod item;
mod json;
mod log;
mod memory;
mod moment;
mod neutralise;
mod plain;
mod play;
mod provider;
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

use crate::{
    args::{Command, CommandLine},
    diagnostics::Diagnostics,
    exit::{Exit, Report},
};

fn main() -> ExitCode {
    keep_the_database_quiet();
    let CommandLine { places, command } = CommandLine::parse();
    let diagnostics = Diagnostics::start();
    let ended = match command {
        Command::Play(play) => {
            play::run(&places, &play, &diagnostics).map_err(|e| failed(e.exit(), &e))
        }
        Command::Record(record) => {
            play::record(&places, &record, &diagnostics).map_err(|e| failed(e.exit(), &e))
        }
        Command::Log(command) => log::run(&places, command).map_err(|e| failed(e.exit(), &e)),
        Command::Provider(command) => {
            provider::run(&places, &command).map_err(|e| failed(e.exit(), &e))
        }
        Command::Doctor(doctor) => {
            doctor::run(&places, &doctor).map_err(|e| failed(Exit::Failure, &e))
        }
        Command::Emergency(command) => {
            emergency::run(&places, command).map_err(|e| failed(e.exit(), &e))
        }
        Command::Memory(command) => memory::run(&places, command).map_err(|e| failed(e.exit(), &e)),
        Command::Entity(command) => entity::run(&places, command).map_err(|e| failed(e.exit(), &e)),
        Command::Eval(command) => eval::run(command).map_err(|e| failed(e.exit(), &e)),
    };
    ended.unwrap_or_else(|exit| exit).into()
}

/// A damaged file can make the database panic. Whoever opened it turns that into an error, and the error is what is
/// told; the panic's own words would only stand before it.
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

/// Whether an error is only that whoever read the output has left.
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
fn failed(exit: Exit, error: &(dyn Error + 'static)) -> Exit {
    if reader_has_left(error) {
        return Exit::Success;
    }
    // If standard error is closed there is nobody to tell; the exit code tells all the same.
    drop(writeln!(io::stderr(), "dormouse: {}", Report(error)));
    exit
}
