//! Comparing every event with its checksum.

use std::{
    io::{self, Write},
    path::Path,
};

use dormouse_store::AssistantReport;
use serde::Serialize;

use super::{LogError, look, print};
use crate::{exit::Exit, json};

/// What was found of one assistant, as JSON.
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
pub(super) fn run(path: &Path, json: bool) -> Result<Exit, LogError> {
    let report = look(path, json)?.verify()?;
    let mut out = io::stdout().lock();
    for assistant in &report.assistants {
        if json {
            out.write_all(json::line(&Verified::from(assistant))?.as_bytes())?;
        } else {
            print(&mut out, &assistant.to_string())?;
        }
    }
    if report.assistants.is_empty() && !json {
        print(&mut out, "the log is intact, and empty")?;
    }
    out.flush()?;
    Ok(if report.is_intact() {
        Exit::Success
    } else {
        Exit::Damaged
    })
}
