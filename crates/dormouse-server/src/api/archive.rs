//! A whole life as a file, out of the service and into it.

use axum::{
    Json,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use dormouse_contracts::BoxError;
use dormouse_host::archive::{ImportedLife, LifeExportError, LifeImportError, LifeWish};
use futures_util::{TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    extract::{Asked, Key, is_declared},
    file_body::{BYTES, LINES, UploadError, download},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// Export the whole life of an assistant as a file: its log, with a checksum and the hash of its state.
///
/// The assistant is neither woken nor disturbed. A file without a last line was cut off.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/audit/archive/", tag = "audit",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, content_type = LINES, body = String)))]
pub(crate) async fn export(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Response, Problem> {
    caller.may(Right::Read, &key)?;
    service.exists(&key)?;
    let place = service.place_for_stream()?;
    let life = (service.host.export(&key)?, place);
    let parts = stream::try_unfold(life, |(mut life, place)| async move {
        let part = life.next().await?;
        Ok::<_, LifeExportError>(part.map(|part| (part, (life, place))))
    });
    download(&format!("{key}.life.jsonl"), parts)
}

/// What an imported life becomes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// The name of its character; that of the life if absent.
    name: Option<String>,
    /// Why, for the log.
    reason: Option<String>,
}

/// A life that was imported.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportedView {
    /// The key of the assistant that goes on with it.
    key: String,
    /// The key under which it was lived.
    original: String,
    /// How many events it has from the file.
    events: u64,
    /// The hash of the state that they fold to.
    state: String,
    /// Whether the file has the same hash. Another version of the program may compute another one; then only the checksum was
    /// compared.
    is_same_state: bool,
}

impl From<ImportedLife> for ImportedView {
    fn from(life: ImportedLife) -> Self {
        Self {
            key: life.key.to_string(),
            original: life.original.to_string(),
            events: life.events,
            state: life.state,
            is_same_state: life.is_same_state,
        }
    }
}

/// Create an assistant with this key that goes on with the life in a file.
///
/// The file is checked first: everything is imported, or nothing. The assistant is switched off at first, because it has the
/// promises and goals of the original.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/audit/archive/", tag = "audit",
    params(("key" = String, Path, description = "The key of the new assistant"), ImportQuery),
    request_body(content((String = "application/x-ndjson"), (String = "application/octet-stream"))),
    responses((status = CREATED, body = ImportedView)))]
pub(crate) async fn import(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ImportQuery>,
    request: Request,
) -> Result<Response, Problem> {
    caller.may(Right::Admin, &key)?;
    is_declared(request.headers(), &[LINES, BYTES])?;
    let place = service.place_for_stream()?;
    let parts = Box::pin(service.limits.parts(request).map_err(BoxError::from));
    let wish = LifeWish {
        key: Some(key.clone()),
        name: asked.name,
    };
    let decision = caller.decision(asked.reason, "imported");
    let imported = Box::pin(service.host.import(wish, decision, parts)).await?;
    drop(place);
    let location = [(header::LOCATION, format!("/api/ai/assistants/{key}/"))];
    let view = Json(ImportedView::from(imported));
    Ok((StatusCode::CREATED, location, view).into_response())
}

impl From<LifeExportError> for Problem {
    fn from(error: LifeExportError) -> Self {
        match error {
            LifeExportError::Unknown(_) => ProblemCode::UnknownAssistant.because(error.to_string()),
            error => Self::internal(&error),
        }
    }
}

impl From<LifeImportError> for Problem {
    fn from(error: LifeImportError) -> Self {
        match error {
            LifeImportError::Roster(error) => error.into(),
            LifeImportError::Read(error) => match error.downcast::<UploadError>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::internal(&*error),
            },
            error => ProblemCode::InvalidValue.because(dormouse_text::error_chain(&error)),
        }
    }
}
