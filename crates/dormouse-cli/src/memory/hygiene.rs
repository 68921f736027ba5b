//! `dormouse memory hygiene`: duplicates, and records that are outdated, doubtful or secret.

use dormouse_contracts::Clock;
use dormouse_host::SystemClock;
use dormouse_memory::hygiene::{HygieneFinding, HygienePolicy, HygieneReport, survey};
use serde::Serialize;

use crate::{
    command::{CommandError, MemoryFile, Missing, Printing, author},
    exit::Exit,
    grammar::counted,
};

/// Whether duplicates are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Apply,
    Propose,
}

impl From<bool> for Fold {
    fn from(apply: bool) -> Self {
        if apply { Self::Apply } else { Self::Propose }
    }
}

#[derive(Serialize)]
struct Health<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    report: &'a HygieneReport,
    /// The events that folded duplicates.
    folded: Vec<u64>,
}

/// Prints the findings, and folds duplicates if requested.
pub(super) async fn hygiene(
    file: &MemoryFile,
    fold: Fold,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let (policy, now) = (HygienePolicy::default(), SystemClock.now());
    let mut folded = Vec::new();
    let mut exit = Exit::Success;
    let report = match fold {
        Fold::Propose => {
            let memory = file.view(printing).await?;
            exit = memory.exit();
            survey(&memory, policy, now).await?
        }
        Fold::Apply => {
            let mut logged = file.open_to_change(Missing::Fail).await?;
            let report = survey(logged.memory(), policy, now).await?;
            for proposal in &report.proposals {
                let (change, reason) = proposal.change();
                let (event, _) = logged.change(change, author(), reason).await?;
                folded.extend(event.map(|event| event.0));
            }
            report
        }
    };
    let health = Health {
        r#type: "hygiene",
        report: &report,
        folded,
    };
    printing.print(&health, || text(&health, fold))?;
    Ok(exit)
}

fn text(health: &Health<'_>, fold: Fold) -> Vec<String> {
    let report = health.report;
    let mut lines = vec![format!(
        "{} in use",
        counted(report.in_use, "record", "records")
    )];
    for (name, finding) in report.findings() {
        lines.push(found(name, finding));
    }
    let could: usize = report.proposals.iter().map(|p| p.records.len()).sum();
    lines.push(match (fold, could) {
        (_, 0) => "nothing to fold".to_owned(),
        (Fold::Propose, could) => {
            let records = counted(could as u64, "record", "records");
            format!(
                "{records} could be folded into others: `dormouse memory hygiene --apply` does it"
            )
        }
        (Fold::Apply, could) => {
            let changes: Vec<String> = health.folded.iter().map(ToString::to_string).collect();
            let records = counted(could as u64, "record", "records");
            let changes = changes.join(", ");
            format!("{records} folded; `dormouse memory undo` undoes event {changes}")
        }
    });
    if report.proposals_left_out > 0 {
        lines.push(format!(
            "{} more proposals: run this command again once these are applied",
            report.proposals_left_out
        ));
    }
    lines
}

fn found(name: &str, finding: &HygieneFinding) -> String {
    let examples: Vec<String> = finding
        .examples
        .iter()
        .map(|example| match example.other {
            Some(other) => format!("{} (as {other})", example.record),
            None => example.record.to_string(),
        })
        .collect();
    let rate = f64::from(finding.rate) * 100.0;
    let count = finding.count;
    match examples.is_empty() {
        true => format!("{name}: {count}"),
        false => format!("{name}: {count} ({rate:.1} %): {}", examples.join(", ")),
    }
}
