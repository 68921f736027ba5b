//! Looking after a memory: its health, what is derived from it, and its encoder.

use std::sync::Arc;

use dormouse::SystemClock;
use dormouse_contracts::{Clock, Embedder};
use dormouse_memory::{
    EncoderState, Fallback, Memory, Migration, MigrationPlan, ProbeReport, Scores, SwitchPolicy,
    hygiene::{HygieneFinding, HygienePolicy, HygieneReport, survey},
};
use serde::Serialize;

use super::{By, CommandError, Form, Migrate, Place, Teller, opening};
use crate::{encoder, exit::Exit, grammar::counted, provider};

/// How many records are embedded between two reports of progress.
const STEP: usize = 256;

#[derive(Serialize)]
struct Health<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    report: &'a HygieneReport,
    /// The changes that folded what was said twice.
    folded: Vec<u64>,
}

/// Prints how healthy the memory is, and folds what is said twice where that is asked for.
pub(super) async fn hygiene(place: &Place, fold: Fold, form: Form) -> Result<Exit, CommandError> {
    let memory = place.open(None).await?;
    let report = survey(&memory, HygienePolicy::default(), SystemClock.now()).await?;
    let mut folded = Vec::new();
    if fold == Fold::Apply {
        for proposal in &report.proposals {
            folded.push(proposal.apply(&memory).await?);
        }
    }
    let health = Health {
        r#type: "hygiene",
        report: &report,
        folded,
    };
    Teller::new(form.json).tell(&health, || told(&health, fold))?;
    Ok(Exit::Success)
}

/// Whether what is said twice is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Apply,
    Propose,
}

fn told(health: &Health<'_>, fold: Fold) -> String {
    let report = health.report;
    let mut lines = vec![format!("{} records in use", report.in_use)];
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
            format!(
                "{could} records folded; `dormouse memory undo` takes back change {}",
                changes.join(", ")
            )
        }
    });
    if report.proposals_left_out > 0 {
        lines.push(format!(
            "{} more proposals: look again once these are applied",
            report.proposals_left_out
        ));
    }
    lines.join("\n")
}

fn found(name: &str, finding: &HygieneFinding) -> String {
    let examples: Vec<String> = finding
        .examples
        .iter()
        .map(|example| match example.other {
            Some(other) => format!("{} ({other})", example.record),
            None => example.record.to_string(),
        })
        .collect();
    let rate = f64::from(finding.rate) * 100.0;
    format!(
        "{name}: {} ({rate:.1} %) {}",
        finding.count,
        examples.join(", ")
    )
    .trim_end()
    .to_owned()
}

#[derive(Serialize)]
struct Rebuilt {
    r#type: &'static str,
    records: u64,
    embedded: u64,
    fed: u64,
}

/// Makes anew what is derived from the records.
pub(super) async fn rebuild(place: &Place, by: &By, form: Form) -> Result<Exit, CommandError> {
    let builder = place.builder_by(by)?.rebuild().on_progress(opening::tell);
    let memory = place.open_with(builder).await?;
    let mut rebuilt = Rebuilt {
        r#type: "rebuilt",
        records: memory.stats().await?.in_use,
        embedded: 0,
        fed: 0,
    };
    let state = memory.encoder_state().await?;
    let with_encoder = state != EncoderState::None;
    if matches!(state, EncoderState::Other { .. }) {
        // Emptied for another encoder, the index would serve neither.
        return Err(CommandError::Vectors(Fallback::EncoderChanged));
    }
    if with_encoder {
        // First, since an index with a collection of another dimension takes nothing.
        if let Some(trouble) = memory.empty_index().await? {
            return Err(CommandError::Vectors(trouble));
        }
        embed(&memory, &mut rebuilt).await?;
    }
    memory.checkpoint().await?;
    Teller::new(form.json).tell(&rebuilt, || {
        let Rebuilt { records, embedded, .. } = rebuilt;
        match with_encoder {
            false => format!("search index of {records} records made anew"),
            true => format!(
                "search index and vectors of {records} records made anew; {embedded} of them embedded"
            ),
        }
    })?;
    Ok(Exit::Success)
}

async fn embed(memory: &Memory, rebuilt: &mut Rebuilt) -> Result<(), CommandError> {
    loop {
        let tended = memory.tend(STEP).await?;
        if let Some(trouble) = tended.trouble {
            return Err(CommandError::Vectors(trouble));
        }
        rebuilt.embedded += tended.embedded;
        rebuilt.fed += tended.fed;
        opening::tell_line(&format!("{} records embedded", rebuilt.embedded));
        if tended.waiting == 0 {
            return Ok(());
        }
    }
}

#[derive(Serialize)]
struct Migrated<'a> {
    r#type: &'static str,
    encoder: &'a str,
    #[serde(flatten)]
    migration: Option<&'a Migration>,
}

/// Goes over to another encoder, or back.
pub(super) async fn migrate(place: &Place, asked: Migrate) -> Result<Exit, CommandError> {
    let teller = Teller::new(asked.form.json);
    let Some(wish) = &asked.embedder else {
        let memory = place.open(None).await?;
        let space = memory.roll_back().await?;
        let line = Migrated {
            r#type: "migrated",
            encoder: space.encoder.model.as_str(),
            migration: None,
        };
        teller.tell(&line, || format!("recall goes by {} again", line.encoder))?;
        return Ok(Exit::Success);
    };
    let environment = provider::environment();
    let new = encoder::open(wish, &environment)?.ok_or(CommandError::NoEmbedder)?;
    let former = match &asked.former {
        Some(former) => encoder::open(former, &environment)?,
        None => None,
    };
    let migration = migrated(place, &asked, Arc::clone(&new), former).await?;
    let info = new.info();
    let line = Migrated {
        r#type: "migrated",
        encoder: info.model.as_str(),
        migration: Some(&migration),
    };
    teller.tell(&line, || compared(line.encoder, &migration))?;
    Ok(if migration.switched || asked.compare {
        Exit::Success
    } else {
        Exit::Failure
    })
}

async fn migrated(
    place: &Place,
    asked: &Migrate,
    new: Arc<dyn Embedder>,
    former: Option<Arc<dyn Embedder>>,
) -> Result<Migration, CommandError> {
    let memory = place.open_to_migrate(Arc::clone(&new)).await?;
    let plan = MigrationPlan {
        former,
        switch: match (asked.force, asked.compare) {
            (true, _) => SwitchPolicy::Always,
            (false, true) => SwitchPolicy::Never,
            (false, false) => SwitchPolicy::default(),
        },
        ..MigrationPlan::default()
    };
    Ok(memory.migrate(new, plan, opening::tell).await?)
}

fn compared(encoder: &str, migration: &Migration) -> String {
    let ProbeReport {
        probes,
        words,
        before,
        after,
    } = &migration.probes;
    let mut lines = vec![
        format!("{probes} probes; found among the first ten:"),
        format!("by words alone {:.1} %", words * 100.0),
    ];
    if let Some(before) = before {
        lines.push(format!("with the former encoder {}", scores(before)));
    }
    lines.push(format!("with {encoder} {}", scores(after)));
    lines.push(if migration.switched {
        format!("recall goes by {encoder} now; `dormouse memory migrate --back` takes it back")
    } else {
        "recall goes on as before; --force goes over all the same".to_owned()
    });
    lines.join("\n")
}

fn scores(scores: &Scores) -> String {
    format!(
        "{:.1} %, by vectors alone {:.1} %",
        scores.together * 100.0,
        scores.vectors * 100.0
    )
}
