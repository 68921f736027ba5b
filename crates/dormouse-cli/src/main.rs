//! The program `dormouse`: runs a resident assistant, and inspects its log and its memory.
//!
//! Layer 7: it reads the environment, the terminal and the command line, and prints. `dormouse-host` wires everything
//! else.
//!
//! [`args`] is the command line, and each command is a module: [`play`] is the visit; [`log`], [`doctor`], [`provider`] and
//! [`tools`] inspect; [`memory`], [`entity`], [`settings`] and [`emergency`] also change data; [`forget`] removes words from
//! every file. [`command`] holds what all commands share.
//!
//! Stability: commands, flags, exit codes and JSON lines are kept once released; text for people is not.

mod approvals;
mod args;
mod assistant;
mod backup;
mod budget;
mod command;
mod commitment;
#[cfg(unix)]
mod control;
mod data;
mod delegation;
mod describe;
mod diagnostics;
mod dialects;
mod doctor;
mod documented;
mod emergency;
mod entity;
mod evennia;
mod exec;
mod exit;
mod export;
mod finding;
mod forget;
mod goal;
mod grammar;
mod history;
mod input;
mod item;
mod journal;
mod json;
mod line_kind;
mod lines;
mod log;
mod mcp;
mod mcp_tools;
mod memory;
mod neutralise;
mod otel;
mod plain;
mod play;
mod project;
mod prompt;
mod provider;
mod recall;
mod record;
mod run;
mod screen;
mod self_note;
mod settings;
mod shell;
mod signals;
mod sleep;
mod token;
mod tools;

use std::{
    error::Error,
    io::{self, Write},
    panic,
    process::ExitCode,
};

use dormouse_engine::ApprovalAnswer;
use dormouse_host::config;
#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};

use crate::{
    args::{Command, CommandLine},
    command::Places,
    diagnostics::Diagnostics,
    exit::{Exit, Report, in_short},
};

fn main() -> ExitCode {
    survive_the_limit_on_file_sizes();
    keep_the_database_quiet();
    let line = CommandLine::read(std::env::args_os()).unwrap_or_else(|error| refuse(&error));
    let diagnostics = Diagnostics::start();
    let exit = begin(line, &diagnostics).unwrap_or_else(|failure| {
        if let Some(text) = &failure.report {
            diagnostics.report(text);
        }
        failure.exit
    });
    diagnostics.finish();
    exit.into()
}

/// Says what is wrong with the command line, or prints the help that it asks for, and ends the program.
fn refuse(error: &clap::Error) -> ! {
    let text = error.to_string();
    let short = in_short(&text);
    // Only what clap prints itself has colours.
    if short == text {
        error.exit();
    }
    drop(io::stderr().write_all(short.as_bytes()));
    std::process::exit(error.exit_code())
}

/// Carries out the command, in this process or in the program that has the data open.
fn begin(line: CommandLine, diagnostics: &Diagnostics) -> Result<Exit, Failure> {
    if let Ok(data) = data::locate(line.places.data.as_deref()) {
        // Finish a forgetting that was interrupted before anything else reads the data.
        forget::finish_pending(&data).map_err(|e| Failure::of(e.exit(), &e))?;
        #[cfg(unix)]
        if let control::Reached::Done(exit) =
            control::reach(&data, &line, diagnostics).map_err(|e| Failure::of(e.exit(), &e))?
        {
            return Ok(exit);
        }
    }
    let CommandLine { places, command } = line;
    match command {
        Command::Play(play) => {
            play::run(&places, &play, diagnostics).map_err(|e| Failure::of(e.exit(), &e))
        }
        Command::Run(run) => {
            run::run(&places, &run, None, diagnostics).map_err(|e| Failure::of(e.exit(), &e))
        }
        Command::Serve(serve) => run::run(&places, &serve.run, Some(&serve), diagnostics)
            .map_err(|e| Failure::of(e.exit(), &e)),
        Command::Record(record) => {
            play::record(&places, &record, diagnostics).map_err(|e| Failure::of(e.exit(), &e))
        }
        command => carry_out(&places, command),
    }
}

/// Carries out a command that needs no terminal.
fn carry_out(places: &Places, command: Command) -> Result<Exit, Failure> {
    let ended = match command {
        Command::Log(command) => log::run(places, command),
        Command::Interact(command) => return carry_out(places, command.command()),
        Command::Audit(command) => return carry_out(places, command.command()),
        Command::Provider(command) => provider::command::run(places, command),
        Command::Doctor(doctor) => {
            return doctor::run(places, &doctor).map_err(|e| Failure::of(e.exit(), &e));
        }
        Command::Assistant(command) => assistant::run(places, command),
        Command::Config(command) => settings::run(places, command),
        Command::Exec(command) => exec::run(places, command),
        Command::Prompt(prompt) => prompt::run(places, prompt),
        Command::Tools(command) => tools::run(places, command),
        Command::Init => settings::init(places),
        Command::Emergency(command) => emergency::run(places, command),
        Command::Goal(command) => goal::run(places, *command),
        Command::Approvals(command) => approvals::list(places, command),
        Command::Approve(command) => approvals::answer(places, command, ApprovalAnswer::Allowed),
        Command::Deny(command) => approvals::answer(places, command, ApprovalAnswer::Denied),
        Command::Budget(command) => budget::run(places, command),
        Command::History(command) => history::run(places, command),
        Command::Memory(command) => memory::run(places, command),
        Command::Mcp(command) => mcp::run(places, command),
        Command::Forget(command) => forget::run(places, &command),
        Command::Export(command) => export::run(places, &command),
        Command::Entity(command) => entity::run(places, command),
        Command::Commitment(command) => commitment::run(places, command),
        Command::Delegation(command) => delegation::run(places, command),
        Command::Sleep(command) => sleep::sleep(places, *command),
        Command::Wake(command) => sleep::wake(places, command),
        Command::Night(command) => sleep::night(places, *command),
        Command::Project(command) => project::run(places, *command),
        Command::Note(command) => self_note::run(places, command),
        Command::Journal(command) => journal::run(places, *command),
        Command::Token(command) => token::run(places, command),
        Command::Evennia(command) => evennia::run(places, command),
        Command::Backup(command) => backup::run(places, &command),
        Command::Otel(command) => otel::run(places, &command),
        Command::Completions(command) => shell::complete(&command),
        Command::Manual(command) => shell::write_manual(&command),
        Command::Play(_) | Command::Run(_) | Command::Serve(_) | Command::Record(_) => {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this command needs a terminal of its own",
            )
            .into())
        }
    };
    ended.map_err(|e| Failure::of(e.exit(), &e))
}

/// A write beyond `ulimit -f` raises a signal whose default is to end the process. If the signal is blocked, the write
/// fails with `EFBIG`, which is handled like a full disk. Threads inherit the blocking; child processes do not.
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

/// A damaged file can make the database panic. The code that opened it turns the panic into an error, which is
/// reported. So the message of the panic is suppressed.
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

/// How a command failed.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    /// Why, for standard error; `None` if it does not count as a failure.
    report: Option<String>,
}

impl Failure {
    fn of(exit: Exit, error: &(dyn Error + 'static)) -> Self {
        if reader_has_left(error) {
            let (exit, report) = (Exit::Success, None);
            return Self { exit, report };
        }
        let report = Some(format!("dormouse: {}", Report(error)));
        Self { exit, report }
    }
}
