//! `dormouse memory compact`: leaves earlier turns out of prompts while nobody waits, and lets a model sum them up.

use dormouse_engine::{CompactError, Compacting, ConsolidationEnd, FactsBefore};
use dormouse_host::upkeep;
use serde::Serialize;

use super::{args::Compact, consolidate::consolidator};
use crate::{
    command::{CommandError, CommandFailure, MemoryFile, Missing},
    exit::Exit,
    grammar::counted,
};

/// The most requests for facts.
const MOST_REQUESTS: u64 = 100;

impl CommandFailure for CompactError {
    fn exit(&self) -> Exit {
        match self {
            Self::Off => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}

#[derive(Serialize)]
struct CompactedLine<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    came_of_it: &'a Compacting,
}

/// Leaves earlier turns out of prompts, or prints which turns that would be.
pub(super) async fn compact(file: &MemoryFile, asked: &Compact) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let (by, _accounts) = consolidator(file, MOST_REQUESTS, &asked.provider)?;
    let mut memory = file.open_to_change(Missing::Fail).await?;
    let (kind, came_of_it) = match asked.dry_run {
        true => (
            "compaction_forecast",
            upkeep::forecast_compaction(by, memory.log(), &file.key()).await?,
        ),
        false => ("compacted", upkeep::compact(by, &mut memory).await?),
    };
    let line = CompactedLine {
        r#type: kind,
        came_of_it: &came_of_it,
    };
    printing.print(&line, || text(&came_of_it, asked.dry_run))?;
    Ok(match came_of_it.failed {
        0 => Exit::Success,
        _ => Exit::Failure,
    })
}

fn text(came_of_it: &Compacting, is_forecast: bool) -> Vec<String> {
    let Compacting {
        before,
        after,
        window,
        level,
        masked,
        dropped,
        facts,
        summaries,
        failed,
        end,
    } = came_of_it;
    let mut lines = vec![format!(
        "instructions, tools and earlier turns take {before} of {window} tokens ({})",
        level.as_str()
    )];
    let turns = |number: usize| counted(number as u64, "turn", "turns");
    let will = if is_forecast { "would be" } else { "are" };
    if (*masked, *dropped) == (0, 0) {
        lines.push("nothing has to be left out".to_owned());
    } else {
        lines.push(format!(
            "the results of {} {will} one line each, {} {will} left out: {after} tokens without summaries",
            turns(*masked),
            turns(*dropped)
        ));
    }
    match facts {
        None => {}
        Some(FactsBefore::Added(facts) | FactsBefore::Partly(facts)) => {
            lines.push(format!("{} made before", counted(*facts, "fact", "facts")));
        }
        Some(_) => lines
            .push("no facts could be extracted before that; the next run tries again".to_owned()),
    }
    if summaries + failed > 0 {
        let made = counted(*summaries, "summary", "summaries");
        lines.push(format!(
            "{made} made, {failed} failed; what failed is tried again"
        ));
    }
    lines.extend(end.as_ref().map(|end| {
        let why = match end {
            ConsolidationEnd::Stopped => "the assistant is stopped",
            _ => "its budget is spent",
        };
        format!("no more summaries are made now, because {why}; the next run makes them")
    }));
    lines
}
