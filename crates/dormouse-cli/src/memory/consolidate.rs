//! `dormouse memory consolidate`: facts from what was heard, and traits from what was noticed, made by a model.

use std::{fmt::Write as _, sync::Arc};

use dormouse_engine::{Consolidated, ConsolidationEnd, ConsolidationForecast, Consolidator};
use dormouse_host::{SystemClock, SystemRandom, upkeep::UpkeepModel};
use dormouse_providers::Accounts;
use serde::Serialize;

use super::args::Consolidate;
use crate::{
    command::{CommandError, CommandFailure, MemoryFile, Missing, author},
    exit::Exit,
    grammar::counted,
    provider::{self, ProviderFlags},
};

/// The consolidation failed, completely or in part.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConsolidateFailure {
    #[error(
        "the model failed: {0}; what was done so far is kept, and the same command continues from there"
    )]
    Model(String),
}

impl CommandFailure for ConsolidateFailure {
    fn exit(&self) -> Exit {
        match self {
            Self::Model(_) => Exit::Failure,
        }
    }
}

#[derive(Serialize)]
struct ForecastLine {
    r#type: &'static str,
    #[serde(flatten)]
    forecast: ConsolidationForecast,
}

#[derive(Serialize)]
struct ConsolidatedLine<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    came_of_it: &'a Consolidated,
    cost: String,
}

/// Consolidates the memory, or prints what that would take.
pub(super) async fn consolidate(
    file: &MemoryFile,
    asked: &Consolidate,
) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let (by, accounts) = consolidator(file, asked.requests, &asked.provider)?;
    if asked.dry_run {
        let memory = file.view(printing).await?;
        let forecast = by.forecast(&memory).await?;
        let line = ForecastLine {
            r#type: "consolidation_forecast",
            forecast,
        };
        printing.print(&line, || expected(&forecast))?;
        return Ok(memory.exit());
    }
    let mut memory = file.open_to_change(Missing::Fail).await?;
    let came_of_it = by.run(&mut memory).await?;
    let line = ConsolidatedLine {
        r#type: "consolidated",
        came_of_it: &came_of_it,
        cost: cost(&accounts),
    };
    printing.print(&line, || text(&line))?;
    match came_of_it.end {
        ConsolidationEnd::ModelFailed { reason, .. } => {
            Err(ConsolidateFailure::Model(reason).into())
        }
        ConsolidationEnd::Stopped => Ok(Exit::Stopped),
        _ if !came_of_it.skipped.is_empty() => Ok(Exit::Failure),
        _ => Ok(Exit::Success),
    }
}

/// The consolidator with the chosen model, and the accounts of its costs.
pub(crate) fn consolidator(
    file: &MemoryFile,
    requests: u64,
    flags: &ProviderFlags,
) -> Result<(Consolidator, Accounts), CommandError> {
    let config = file.config();
    let environment = provider::environment();
    let chosen = provider::select(&flags.selection(), &config.provider, &environment)?;
    let network = provider::network(&config.provider)?;
    let models = provider::assemble(
        &chosen,
        &config.provider,
        &config.prices,
        &network,
        |_switch| {},
    )?;
    let accounts = models.accounts.clone();
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom::default()));
    let model = UpkeepModel::of(models, clock, random);
    let by = model.consolidator((&file.key(), config), requests, author());
    Ok((by, accounts))
}

fn expected(forecast: &ConsolidationForecast) -> Vec<String> {
    let ConsolidationForecast {
        requests,
        prompt_tokens,
        records,
        people,
    } = *forecast;
    let requests = counted(requests, "request", "requests");
    let records = counted(records, "record has", "records have");
    let people = counted(people, "person or thing", "people and things");
    vec![
        format!(
            "{requests}, with {prompt_tokens} tokens in their prompts; doubtful facts need further requests"
        ),
        format!("{records} not been read yet; the observations of {people} are due"),
        "no model was asked, and nothing was changed".to_owned(),
    ]
}

fn text(line: &ConsolidatedLine<'_>) -> Vec<String> {
    let Consolidated {
        requests,
        resumed,
        prompt_tokens,
        completion_tokens,
        records,
        added,
        superseded,
        linked,
        ignored,
        unusable,
        people,
        skipped,
        events,
        end,
    } = line.came_of_it;
    let is_idle = (records, requests, resumed) == (&0, &0, &0) && skipped.is_empty();
    if is_idle && *end == ConsolidationEnd::Done {
        return vec!["there is nothing new to consolidate; no model was asked".to_owned()];
    }
    let of_facts = [
        (superseded, "in place of a record"),
        (linked, "linked with one"),
        (ignored, "not kept"),
        (unusable, "unusable"),
    ];
    let mut read = format!(
        "{} read: {} added",
        counted(*records, "record", "records"),
        counted(*added, "fact", "facts"),
    );
    for (number, what) in of_facts.into_iter().filter(|(number, _)| **number > 0) {
        let _written = write!(read, ", {number} {what}");
    }
    let mut lines = vec![read];
    if !people.is_empty() {
        let people: Vec<_> = people.iter().map(ToString::to_string).collect();
        lines.push(format!("observations consolidated: {}", people.join(", ")));
    }
    if !skipped.is_empty() {
        lines.push(format!(
            "skipped, because the model gave no usable reply three times: {}; the next run tries them again",
            skipped.join(", ")
        ));
    }
    if !events.is_empty() {
        let events: Vec<_> = events.iter().map(ToString::to_string).collect();
        lines.push(format!(
            "`dormouse memory undo` undoes event {}",
            events.join(", ")
        ));
    }
    if *end == ConsolidationEnd::Stopped {
        lines.push("the emergency stop is on, so no model was asked".to_owned());
    }
    if *end == ConsolidationEnd::BudgetSpent {
        lines.push(
            "the budget is spent for now; later the same command continues from there".to_owned(),
        );
    }
    if *end == ConsolidationEnd::MaxRequests {
        lines.push(
            "the maximum number of requests was made; the same command continues from there"
                .to_owned(),
        );
    }
    let resumed = match resumed {
        0 => String::new(),
        resumed => format!(
            " and {} of an earlier run",
            counted(*resumed, "recorded reply", "recorded replies")
        ),
    };
    lines.push(format!(
        "{}{resumed}, with {prompt_tokens} tokens of prompts and {completion_tokens} tokens of replies: {}",
        counted(*requests, "request", "requests"),
        line.cost
    ));
    lines
}

pub(crate) fn cost(accounts: &Accounts) -> String {
    accounts.ledger().sum(|_| true).to_string()
}
