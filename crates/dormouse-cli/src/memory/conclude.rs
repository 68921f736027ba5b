//! `dormouse journal reflect --conclude`: a model draws conclusions from the journal.

use dormouse_contracts::AssistantId;
use dormouse_engine::{ConsolidationEnd, JournalWork};
use dormouse_host::upkeep::{self, EntryScoring};
use serde::Serialize;

use super::consolidate::{ConsolidateFailure, consolidator, cost};
use crate::{
    command::{CommandError, CommandFailure, MemoryFile, Missing, Places, Printing},
    exit::Exit,
    grammar::counted,
    provider::ProviderFlags,
};

/// The most requests of one reflection, failures included.
const REQUESTS: u64 = 20;

/// The command names another assistant than the configured one.
#[derive(Debug, thiserror::Error)]
#[error(
    "a command that asks a model works only on the configured assistant, which is {here}; for {asked}, set assistant.key or DORMOUSE_ASSISTANT__KEY"
)]
struct AnotherAssistant {
    here: AssistantId,
    asked: AssistantId,
}

impl CommandFailure for AnotherAssistant {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// Returns the key of the configured assistant. Refuses any other assistant, because the configured models belong to
/// that one.
pub(crate) fn configured_only(
    file: &MemoryFile,
    asked: Option<AssistantId>,
) -> Result<AssistantId, CommandError> {
    let here = file.key();
    match asked.filter(|asked| *asked != here) {
        Some(asked) => Err(AnotherAssistant { here, asked }.into()),
        None => Ok(here),
    }
}

#[derive(Serialize)]
struct ReflectedLine<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    work: &'a JournalWork,
    cost: String,
}

/// Lets the model score a few entries, if requested, and draw conclusions from the entries since the last reflection.
pub(crate) async fn conclude(
    places: &Places,
    asked: Option<AssistantId>,
    (score, flags): (bool, &ProviderFlags),
    printing: Printing,
) -> Result<Exit, CommandError> {
    let file = MemoryFile::locate(places)?;
    configured_only(&file, asked)?;
    let (by, accounts) = consolidator(&file, REQUESTS, flags)?;
    let mut memory = file.open_to_change(Missing::Fail).await?;
    let scores = match score {
        true => EntryScoring::First,
        false => EntryScoring::Not,
    };
    let work = upkeep::conclude(&by, &mut memory, scores).await?;
    let line = ReflectedLine {
        r#type: "journal_reflection",
        work: &work,
        cost: cost(&accounts),
    };
    printing.print(&line, || text(&line))?;
    match work.end {
        ConsolidationEnd::ModelFailed { reason, .. } => {
            Err(ConsolidateFailure::Model(reason).into())
        }
        ConsolidationEnd::Stopped => Ok(Exit::Stopped),
        _ => Ok(Exit::Success),
    }
}

fn text(line: &ReflectedLine<'_>) -> Vec<String> {
    let work = line.work;
    let mut lines = Vec::new();
    if work.scored > 0 {
        let scored = counted(work.scored, "entry has", "entries have");
        lines.push(format!("{scored} an importance from the model"));
    }
    lines.push(match work.reflected {
        true => format!(
            "it reflected: {} written, {} not kept",
            counted(work.insights, "insight", "insights"),
            work.refused
        ),
        false => "it drew no conclusions".to_owned(),
    });
    let requests = counted(work.requests, "request", "requests");
    lines.push(format!("{requests}; {}", line.cost));
    lines
}
