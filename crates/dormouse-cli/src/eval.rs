//! `dormouse eval`: measuring what a memory recalls, on conversations of which it is known what answers which question.
//!
//! Each conversation is put into a memory of its own by the same calls that any user makes, and asked by the same.
//! Nothing is written but what `--receipts` asks for.

mod args;
mod contender;
mod dataset;
mod error;
mod measuring;
mod metrics;
mod receipts;
mod report;
mod table;

use std::io::{self, IsTerminal, Write};

pub(crate) use args::Eval;
use args::Recall;
use contender::Ranking;
pub(crate) use error::EvalError;
use measuring::{Asking, Step};
use receipts::Receipts;
use report::Report;

use crate::{encoder, exit::Exit, json, neutralise::neutralise, provider::Environment};

/// Measures.
pub(crate) fn run(command: Eval) -> Result<Exit, EvalError> {
    let Eval::Recall(asked) = command;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(EvalError::System)?;
    let report = runtime.block_on(measure(&asked))?;
    let text = if asked.json {
        json::line(&report)?
    } else {
        report.to_string()
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(EvalError::Output)?;
    Ok(Exit::Success)
}

async fn measure(asked: &Recall) -> Result<Report, EvalError> {
    let encoder = encoder::open(&asked.embedder, &Environment::of_process())?;
    let dataset = dataset::read(&asked.file, asked.format.map(Into::into))?;
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
    if encoder.is_some() {
        rankings.push(Ranking::WordsAndVectors);
    }
    let asking = Asking {
        dataset: &dataset,
        limit,
        encoder,
    };
    for ranking in rankings {
        let block = asking.measure(ranking, &mut receipts, &mut tell).await?;
        report.rankings.push(block);
    }
    // The length of its vectors may be known only now.
    report.encoder = asking.encoder.as_ref().map(|encoder| encoder.info());
    receipts.finish()?;
    Ok(report)
}

/// Tells somebody at a terminal how far it has come.
fn tell(step: Step<'_>) {
    let mut err = io::stderr();
    if !err.is_terminal() {
        return;
    }
    let line = match step {
        Step::Embedded(name, texts) => format!("{}: {texts} texts embedded", neutralise(name)),
        Step::Asked(name) => format!("{}: asked", neutralise(name)),
    };
    // If standard error is closed there is nobody to tell.
    drop(write!(err, "\r\u{1b}[K{line}\r"));
}
