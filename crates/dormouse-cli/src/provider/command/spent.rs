//! `dormouse provider spent`: what models cost, according to the logs.

use dormouse_host::spending;
use dormouse_providers::{LedgerKey, Tally};
use serde::Serialize;

use super::context::Context;
use crate::{
    command::{CommandError, Printing, block_on, say, view_log},
    exit::Exit,
    grammar::counted,
    provider::price_table,
};

/// The usage of one model for one purpose.
#[derive(Serialize)]
struct SpentLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    #[serde(flatten)]
    key: &'a LedgerKey,
    replies: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    dollars: Option<f64>,
    /// Whether the amount is complete.
    complete: bool,
}

/// Prints a line for each assistant, model and purpose, and the sum.
pub(super) fn run(context: &Context) -> Result<Exit, CommandError> {
    let prices = price_table(&context.config.prices)?;
    let printing = context.printing;
    let log = view_log(&context.data.log(), printing)?;
    let mut total = Tally::default();
    for (assistant, _) in log.assistants()? {
        let ledger = block_on(spending(&log, &assistant, &prices))??;
        for (key, tally) in ledger.lines() {
            let line = SpentLine {
                r#type: "spent",
                assistant: assistant.as_str(),
                key,
                replies: tally.requests,
                prompt_tokens: tally.prompt_tokens,
                completion_tokens: tally.completion_tokens,
                dollars: (tally.unknown < tally.requests).then(|| tally.known.dollars()),
                complete: tally.is_complete(),
            };
            printing.print(&line, || {
                let LedgerKey {
                    provider,
                    model,
                    purpose,
                } = key;
                format!(
                    "{assistant}: {model} of {provider} for {purpose}: {}",
                    shown(tally)
                )
            })?;
        }
        total = total.plus(ledger.total());
    }
    if printing == Printing::Text {
        say(&match total.requests {
            0 => "no model with a server has answered yet".to_owned(),
            _ => format!("in total: {}", shown(&total)),
        })?;
    }
    Ok(Exit::Success)
}

fn shown(tally: &Tally) -> String {
    format!(
        "{}, {} tokens of prompts and {} of replies: {tally}",
        counted(tally.requests, "reply", "replies"),
        tally.prompt_tokens,
        tally.completion_tokens,
    )
}
