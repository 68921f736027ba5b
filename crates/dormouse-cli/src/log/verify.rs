//! Comparing every event with its checksum.

use std::path::Path;

use dormouse_store::AssistantReport;
use serde::Serialize;

use crate::{
    command::{CommandError, Printing, say, view_log},
    exit::Exit,
};

/// The check of one assistant's events, as JSON.
#[derive(Serialize)]
#[serde(tag = "type", rename = "verified")]
struct Verified {
    assistant: String,
    intact: u64,
    damage: Option<String>,
    snapshots_intact: u64,
    snapshots_damaged: u64,
}

impl From<&AssistantReport> for Verified {
    fn from(report: &AssistantReport) -> Self {
        Self {
            assistant: report.assistant.to_string(),
            intact: report.intact,
            damage: report.damage.as_ref().map(ToString::to_string),
            snapshots_intact: report.snapshots_intact,
            snapshots_damaged: report.snapshots_damaged,
        }
    }
}

/// Prints what is intact, assistant by assistant.
pub(super) fn run(path: &Path, printing: Printing) -> Result<Exit, CommandError> {
    let report = view_log(path, printing)?.verify()?;
    for assistant in &report.assistants {
        printing.print(&Verified::from(assistant), || assistant.to_string())?;
    }
    if report.assistants.is_empty() && printing == Printing::Text {
        say("the log is intact, and empty")?;
    }
    Ok(if report.is_intact() {
        Exit::Success
    } else {
        Exit::Damaged
    })
}
