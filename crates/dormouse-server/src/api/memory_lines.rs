//! What an assistant remembers, as a file of JSON lines, out of the service and into it.

use axum::{
    Json,
    extract::{Request, State},
    response::Response,
};
use dormouse_contracts::Trust;
use dormouse_engine::LoggedMemory;
use dormouse_host::{MemoryImport, OpenLog};
use dormouse_memory::{ExportError, ImportClaims, ImportLines, LINE_LIMIT};
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    extract::{Asked, Key, is_declared},
    file_body::{BYTES, LINES, download},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// How many refused lines an answer lists.
const LISTED: usize = 100;

/// Lines are read together up to this size, in bytes.
const BATCH_BYTES: usize = 1 << 20;

/// Export what an assistant remembers: one JSON object for each record that is in use.
///
/// Importing the file adds what is missing.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/memory/export/", tag = "memory",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, content_type = LINES, body = String)))]
pub(crate) async fn export(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Response, Problem> {
    caller.may(Right::Read, &key)?;
    let place = service.place_for_stream()?;
    let resident = service.remembering(&key).await?;
    let begun = (resident, None, place);
    let parts = stream::try_unfold(begun, |(resident, after, place)| async move {
        let page = resident.memory().export_page(after).await?;
        let page = page.map(|page| (page.lines, (resident, Some(page.last), place)));
        Ok::<_, ExportError>(page)
    });
    download(&format!("{key}.memory.jsonl"), parts)
}

/// What a file may claim.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportLinesQuery {
    /// How far a line is believed at most, 0 to 1; 0.4 if absent, or 1 for a file of one's own.
    #[param(value_type = Option<f64>, minimum = 0, maximum = 1)]
    trust: Option<Trust>,
    /// Whether the file was exported from an assistant of the same operator: then it may say who said something, where and how.
    #[serde(default)]
    own: bool,
    /// Whether everyone may learn what a line without an audience says.
    #[serde(default)]
    public: bool,
}

impl ImportLinesQuery {
    fn claims(&self) -> ImportClaims {
        match (self.own, self.trust) {
            (true, trust) => ImportClaims::Own {
                at_most: trust.unwrap_or(Trust::FULL),
            },
            (false, Some(at_most)) => ImportClaims::Foreign { at_most },
            (false, None) => ImportClaims::default(),
        }
    }
}

/// What came of an import.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportedLines {
    /// Lines that were read.
    lines: u64,
    /// New records.
    added: u64,
    /// Records that were there already.
    known: u64,
    /// Lines that were refused.
    refused: u64,
    /// The first of them.
    refusals: Vec<RefusedLine>,
    /// The events that added records. Each can be undone.
    events: Vec<u64>,
}

/// A line that was refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RefusedLine {
    /// Its number, from 1.
    line: u64,
    reason: String,
}

/// Import records, one JSON object a line.
///
/// Lines that are not records are refused, and the others are imported. After a failure, importing the same file again adds the
/// rest.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/memory/import/", tag = "memory",
    params(("key" = String, Path, description = "Its key"), ImportLinesQuery),
    request_body(content((String = "application/x-ndjson"), (String = "application/octet-stream"))),
    responses((status = OK, body = ImportedLines)))]
pub(crate) async fn import(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ImportLinesQuery>,
    request: Request,
) -> Result<Json<ImportedLines>, Problem> {
    caller.may(Right::Operate, &key)?;
    is_declared(request.headers(), &[LINES, BYTES])?;
    let place = service.place_for_stream()?;
    let mut reading = Reading {
        memory: service.memory(&key).await?,
        import: MemoryImport::new(caller.author(), asked.public),
        claims: asked.claims(),
        read: 0,
        refusals: Vec::new(),
    };
    let mut parts = Box::pin(service.limits.parts(request));
    let mut waiting = Vec::new();
    while let Some(part) = parts.next().await {
        waiting.extend_from_slice(&part?);
        if waiting.len() >= BATCH_BYTES {
            let end = waiting.iter().rposition(|byte| *byte == b'\n');
            if end.is_none() && waiting.len() > LINE_LIMIT {
                let line = reading.read + 1;
                let why = format!("line {line}: expected at most {LINE_LIMIT} bytes");
                return Err(ProblemCode::InvalidValue.because(why));
            }
            let lines: Vec<_> = waiting.drain(..end.map_or(0, |end| end + 1)).collect();
            reading.take(&lines).await?;
        }
    }
    reading.take(&waiting).await?;
    drop(place);
    Ok(Json(reading.into()))
}

/// A file that is being imported.
struct Reading {
    memory: LoggedMemory<OpenLog>,
    import: MemoryImport,
    claims: ImportClaims,
    /// How many lines were read.
    read: u64,
    refusals: Vec<RefusedLine>,
}

impl Reading {
    /// Imports whole lines.
    async fn take(&mut self, lines: &[u8]) -> Result<(), Problem> {
        let mut lines = ImportLines::new(lines, self.claims).after(self.read);
        loop {
            let batch = lines.next_batch();
            let batch = batch.map_err(|error| Problem::internal(&error))?;
            let ended = batch.ended;
            let refused = Box::pin(self.import.take(&mut self.memory, batch)).await?;
            let room = LISTED.saturating_sub(self.refusals.len());
            let refused = refused.into_iter().take(room);
            self.refusals
                .extend(refused.map(|(line, error)| RefusedLine {
                    line,
                    reason: error.to_string(),
                }));
            if ended {
                self.read = lines.read();
                return Ok(());
            }
        }
    }
}

impl From<Reading> for ImportedLines {
    fn from(reading: Reading) -> Self {
        let imported = reading.import.imported;
        Self {
            lines: imported.lines,
            added: imported.added,
            known: imported.known,
            refused: imported.refused,
            refusals: reading.refusals,
            events: reading.import.events,
        }
    }
}
