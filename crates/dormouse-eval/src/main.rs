//! The program `dormouse-eval` measures what a memory recalls, how a journal scores importance, and what sleep does to both. The input is
//! conversations, with questions and the known evidence for each question.
//!
//! Layer 7. `recall` adds each conversation to a memory of its own, through the public API. `week` and `sleep` let a
//! real assistant overhear it, in a temporary folder that is removed again. Each question is asked of the memory. Only
//! `--receipts` writes a file that remains.
//!
//! Stability: the command line, the JSON lines and the receipts are stable after a release; the tables are not.

mod args;
mod changes;
mod comparison;
mod confidence;
mod contender;
mod dataset;
mod encoder;
mod error;
mod evidence;
mod importance;
mod life;
mod measuring;
mod metrics;
mod orders;
mod orders_learn;
mod receipts;
mod report;
mod scripted;
mod seeded;
mod sleeping;
mod table;
mod tool_life;
mod tool_report;
mod tool_set;
mod typos;
mod week;

use std::{
    env,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use clap::Parser;
use dormouse_providers::Environment;
use dormouse_text::{error_chain, escape_hidden, escape_hidden_json};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

use args::{
    Changes, Command, CommandLine, Importance, Orders, OrdersLearn, Recall, Sleep, ToolTasks, Week,
};
use changes::ChangesReport;
use confidence::ConfidenceReport;
use contender::Ranking;
use error::EvalError;
use importance::ImportanceReport;
use measuring::{Asking, Step};
use orders::OrdersReport;
use orders_learn::OrderWeights;
use receipts::Receipts;
use report::Report;
use sleeping::SleepReport;
use tool_report::ToolReport;
use week::WeekReport;

fn main() -> ExitCode {
    let command = CommandLine::parse().command;
    start_logging();
    let done = match &command {
        Command::Recall(asked) => recall(asked),
        Command::Importance(asked) => importance(asked),
        Command::Week(asked) => week(asked),
        Command::Sleep(asked) => sleep(asked),
        Command::Changes(asked) => changes(asked),
        Command::Orders(asked) => orders(asked),
        Command::OrdersLearn(asked) => orders_learn(asked),
        Command::Tools(asked) => tools(asked),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe, as `head` does when it has enough lines. That is not a failure.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let text = error_chain(&error);
            // If standard error is closed, the exit code still reports the failure.
            drop(writeln!(
                io::stderr(),
                "dormouse-eval: {}",
                printable(&text)
            ));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Logs warnings to standard error. `RUST_LOG` selects other levels.
fn start_logging() {
    let asked = std::env::var("RUST_LOG").ok();
    let filter: Option<Targets> = asked.and_then(|asked| asked.parse().ok());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false)
        .without_time();
    tracing_subscriber::registry()
        .with(filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN)))
        .with(lines)
        .init();
}

/// Renders an untrusted text as one paragraph. Lines after the first are indented, so that none of them looks like
/// output of this program.
fn printable(text: &str) -> String {
    escape_hidden(text).replace('\n', "\n    ")
}

fn runtime() -> Result<tokio::runtime::Runtime, EvalError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(EvalError::System)
}

fn recall(asked: &Recall) -> Result<(), EvalError> {
    if asked.confidence {
        let report = runtime()?.block_on(ConfidenceReport::of(asked))?;
        return print(&report.to_string());
    }
    let report = runtime()?.block_on(measure(asked))?;
    let text = if asked.json {
        format!("{}\n", escape_hidden_json(&serde_json::to_string(&report)?))
    } else {
        report.to_string()
    };
    print(&text)
}

fn importance(asked: &Importance) -> Result<(), EvalError> {
    let dataset = dataset::read(&asked.file, asked.format.map(Into::into))?;
    print(&ImportanceReport::of(&dataset).to_string())
}

fn week(asked: &Week) -> Result<(), EvalError> {
    let report = runtime()?.block_on(Box::pin(WeekReport::of(asked)))?;
    print(&report.to_string())?;
    match report.is_equal {
        Some(false) => Err(EvalError::Unequal { seed: asked.seed }),
        Some(true) | None => Ok(()),
    }
}

fn sleep(asked: &Sleep) -> Result<(), EvalError> {
    let report = runtime()?.block_on(Box::pin(SleepReport::of(asked)))?;
    print(&report.to_string())
}

fn changes(asked: &Changes) -> Result<(), EvalError> {
    let report = runtime()?.block_on(ChangesReport::of(asked))?;
    print(&report.to_string())
}

fn orders(asked: &Orders) -> Result<(), EvalError> {
    print(&OrdersReport::of(asked)?.to_string())
}

fn orders_learn(asked: &OrdersLearn) -> Result<(), EvalError> {
    print(&OrderWeights::learn(asked)?.to_string())
}

fn tools(asked: &ToolTasks) -> Result<(), EvalError> {
    let report = runtime()?.block_on(Box::pin(ToolReport::of(asked)))?;
    print(&report.to_string())
}

fn print(text: &str) -> Result<(), EvalError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(EvalError::Output)
}

async fn measure(asked: &Recall) -> Result<Report, EvalError> {
    let encoder = encoder::OPENER
        .open_requested(&asked.embedder, &Environment::of(|name| env::var_os(name)))?;
    let mut dataset = dataset::read(&asked.file, asked.format.map(Into::into))?;
    if let Some(percent) = asked.typos {
        typos::misspell(&mut dataset, f64::from(percent) / 100.0, asked.seed);
    }
    let mut receipts = match &asked.receipts {
        Some(path) => Receipts::into(path, &asked.file)?,
        None => Receipts::none(),
    };
    let limit = usize::from(asked.limit);
    let mut report = Report::of(&asked.file, &dataset, limit, None);
    let mut rankings = vec![Ranking::PlainBm25, Ranking::Words];
    if asked.links {
        rankings.push(Ranking::WordsAndLinks);
    }
    if asked.private {
        rankings.push(Ranking::WordsOfOne);
    }
    if encoder.is_some() {
        rankings.push(Ranking::WordsAndVectors);
    }
    let asking = Asking {
        dataset: &dataset,
        limit,
        encoder,
    };
    for ranking in rankings {
        let block = asking
            .measure(ranking, &mut receipts, &mut show_progress)
            .await?;
        report.rankings.push(block);
    }
    // A server encoder may know the length of its vectors only after the first request.
    report.encoder = asking.encoder.as_ref().map(|encoder| encoder.info());
    receipts.finish()?;
    Ok(report)
}

/// Shows progress on a terminal.
fn show_progress(step: Step<'_>) {
    let mut err = io::stderr();
    if !err.is_terminal() {
        return;
    }
    let line = match step {
        Step::Embedded(name, texts) => format!("{}: {texts} texts embedded", escape_hidden(name)),
        Step::Asked(name) => format!("{}: asked", escape_hidden(name)),
    };
    // If standard error is closed, nobody reads the progress, so the failed write does not matter.
    drop(write!(err, "\r\u{1b}[K{line}\r"));
}
