//! The program `dormouse`: runs a resident assistant that one can talk to, and inspects its log.
//!
//! Row 6, the composition root: the only crate that reads the environment, the clock and the command line, and the
//! only one that knows which log, which world and which model the ports are given. It decides nothing that the
//! engine decides. [`args`] is the command line, [`play`] the visit, [`log`] and [`doctor`] look without changing
//! anything.
//!
//! Stability: commands, flags, exit codes and JSON lines are kept once released; text for people is not.

mod args;
mod compose;
mod config;
mod data;
mod describe;
mod diagnostics;
mod doctor;
mod emergency;
mod exit;
mod grammar;
mod input;
mod item;
mod json;
mod kinship;
mod log;
mod neutralise;
mod plain;
mod play;
mod provider;
mod screen;

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use crate::{
    args::{Command, CommandLine},
    diagnostics::Diagnostics,
    exit::{Exit, Report},
};

fn main() -> ExitCode {
    let CommandLine { places, command } = CommandLine::parse();
    let diagnostics = Diagnostics::start();
    let ended = match command {
        Command::Play(play) => {
            play::run(&places, &play, &diagnostics).map_err(|e| failed(e.exit(), &e))
        }
        Command::Log(command) => log::run(&places, command).map_err(|e| match e.is_quiet() {
            true => e.exit(),
            false => failed(e.exit(), &e),
        }),
        Command::Doctor(doctor) => {
            doctor::run(&places, &doctor).map_err(|e| failed(Exit::Failure, &e))
        }
        Command::Emergency(command) => {
            emergency::run(&places, command).map_err(|e| failed(e.exit(), &e))
        }
    };
    ended.unwrap_or_else(|exit| exit).into()
}

/// Says why the program failed, on standard error.
fn failed(exit: Exit, error: &dyn Error) -> Exit {
    // If standard error is closed there is nobody to tell; the exit code tells all the same.
    drop(writeln!(io::stderr(), "dormouse: {}", Report(error)));
    exit
}
