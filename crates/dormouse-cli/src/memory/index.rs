//! `dormouse memory rebuild` and `migrate`: the search index and the vectors, which are derived from the records.

use std::sync::Arc;

use dormouse_contracts::Embedder;
use dormouse_host::OPENER;
use dormouse_memory::{
    EncoderState, Fallback, Memory, MigrateError, Migration, MigrationPlan, ProbeReport, Scores,
    SwitchPolicy,
};
use serde::Serialize;

use super::{args::Migrate, search::because};
use crate::{
    command::{
        ByEncoder, CommandError, CommandFailure, MemoryFile, Printing, memory_exit, progress,
        show_progress,
    },
    exit::Exit,
    grammar::counted,
    provider,
    recall::RecallError,
};

/// How many records are embedded between two reports of progress.
const STEP: usize = 256;

/// The vectors could not be rebuilt or migrated.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    /// Some vectors may be finished.
    #[error(
        "some vectors could not be made, because {}; the others are kept, and the same command continues from there",
        because(.0)
    )]
    Vectors(Fallback),
    /// The encoder was not changed.
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    /// `none` was given.
    #[error("--embedder is \"none\"; expected the encoder to change to")]
    NoEmbedder,
}

impl CommandFailure for IndexError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoEmbedder
            | Self::Migrate(MigrateError::SameEncoder(_) | MigrateError::NoFormer) => Exit::Usage,
            Self::Migrate(MigrateError::Memory(error)) => memory_exit(error),
            Self::Vectors(_) | Self::Migrate(_) => Exit::Failure,
        }
    }
}

#[derive(Serialize)]
struct Rebuilt {
    r#type: &'static str,
    records: u64,
    embedded: u64,
    fed: u64,
}

/// Rebuilds what is derived from the records.
pub(super) async fn rebuild(
    file: &MemoryFile,
    by: &ByEncoder,
    printing: Printing,
) -> Result<Exit, CommandError> {
    let memory = file.open_to_rebuild(by).await?;
    let mut rebuilt = Rebuilt {
        r#type: "rebuilt",
        records: memory.stats().await?.in_use,
        embedded: 0,
        fed: 0,
    };
    let state = memory.encoder_state().await?;
    let with_encoder = state != EncoderState::None;
    if matches!(state, EncoderState::Other { .. }) {
        // Emptying the index for a different encoder would leave it useless for both.
        return Err(IndexError::Vectors(Fallback::EncoderChanged).into());
    }
    if with_encoder {
        // This comes first, because a collection of another dimension accepts no vectors.
        if let Some(cause) = memory.empty_index().await? {
            return Err(IndexError::Vectors(cause).into());
        }
        embed(&memory, &mut rebuilt).await?;
    }
    memory.checkpoint().await?;
    printing.print(&rebuilt, || {
        let embedded = rebuilt.embedded;
        let records = counted(rebuilt.records, "record", "records");
        match with_encoder {
            false => format!("search index of {records} rebuilt"),
            true => {
                format!(
                    "search index and vectors of {records} rebuilt; {embedded} of them embedded"
                )
            }
        }
    })?;
    Ok(Exit::Success)
}

async fn embed(memory: &Memory, rebuilt: &mut Rebuilt) -> Result<(), CommandError> {
    loop {
        let indexed = memory.index_pending(STEP).await?;
        if let Some(fallback) = indexed.interrupted_by {
            return Err(IndexError::Vectors(fallback).into());
        }
        rebuilt.embedded += indexed.embedded;
        rebuilt.fed += indexed.indexed;
        progress(&format!("{} records embedded", rebuilt.embedded));
        if indexed.waiting == 0 {
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

/// Changes to another encoder, or back.
pub(super) async fn migrate(file: &MemoryFile, asked: Migrate) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let Some(requested) = &asked.embedder else {
        let memory = file.open().await?;
        let space = memory.roll_back().await.map_err(IndexError::Migrate)?;
        let line = Migrated {
            r#type: "migrated",
            encoder: space.encoder.model.as_str(),
            migration: None,
        };
        printing.print(&line, || format!("recall uses {} again", line.encoder))?;
        return Ok(Exit::Success);
    };
    let environment = provider::environment();
    let open = |requested| {
        let opened = OPENER.open_requested(requested, &environment);
        opened.map_err(RecallError::from)
    };
    let new = open(requested)?.ok_or(IndexError::NoEmbedder)?;
    let former = match &asked.former {
        Some(former) => open(former)?,
        None => None,
    };
    let migration = migrated(file, &asked, Arc::clone(&new), former).await?;
    let info = new.info();
    let line = Migrated {
        r#type: "migrated",
        encoder: info.model.as_str(),
        migration: Some(&migration),
    };
    printing.print(&line, || compared(line.encoder, &migration))?;
    Ok(if migration.switched || asked.compare {
        Exit::Success
    } else {
        Exit::Failure
    })
}

async fn migrated(
    file: &MemoryFile,
    asked: &Migrate,
    new: Arc<dyn Embedder>,
    former: Option<Arc<dyn Embedder>>,
) -> Result<Migration, CommandError> {
    let memory = file.open_to_migrate(Arc::clone(&new)).await?;
    let plan = MigrationPlan {
        former,
        switch: match (asked.force, asked.compare) {
            (true, _) => SwitchPolicy::Always,
            (false, true) => SwitchPolicy::Never,
            (false, false) => SwitchPolicy::default(),
        },
        ..MigrationPlan::default()
    };
    let migrated = memory.migrate(new, plan, show_progress).await;
    Ok(migrated.map_err(IndexError::Migrate)?)
}

fn compared(encoder: &str, migration: &Migration) -> Vec<String> {
    let ProbeReport {
        probes,
        words,
        before,
        after,
    } = &migration.probes;
    let mut lines = vec![
        format!("{probes} probes; found among the first ten results:"),
        format!("with words alone: {:.1} %", words * 100.0),
    ];
    if let Some(before) = before {
        lines.push(format!("with the former encoder: {}", scores(before)));
    }
    lines.push(format!("with {encoder}: {}", scores(after)));
    lines.push(if migration.switched {
        format!("recall now uses {encoder}; `dormouse memory migrate --back` changes back")
    } else {
        "recall is unchanged; --force changes the encoder anyway".to_owned()
    });
    lines
}

fn scores(scores: &Scores) -> String {
    format!(
        "{:.1} %, with vectors alone {:.1} %",
        scores.together * 100.0,
        scores.vectors * 100.0
    )
}
