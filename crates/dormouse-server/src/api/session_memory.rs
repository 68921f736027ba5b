//! What an assistant keeps for itself: facts and patterns that each prompt shows, and guidelines.

use axum::{Json, extract::State, http::StatusCode};
use dormouse_contracts::Author;
use dormouse_engine::{Event, SelfNote, SelfNoteError, SelfNoteId, SelfNoteKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{Changed, json, operator_note};
use crate::{
    extract::{Asked, ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// The most characters of a note, as in the description of the API.
const LONGEST: usize = 200;

/// A note.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NoteView {
    /// Its number.
    note: u32,
    /// The event that has it.
    event: u64,
    at: String,
    /// `fact`, `pattern` or `guideline`.
    #[schema(value_type = String)]
    kind: Value,
    text: String,
    /// How far it is believed, 0 to 1.
    trust: f64,
    /// Who noted it; absent if the assistant did.
    by: Option<String>,
}

/// The notes of an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NoteList {
    notes: Vec<NoteView>,
}

/// The kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoteKind {
    /// Something to know in every turn.
    Fact,
    /// Something that comes back.
    Pattern,
    /// How the assistant is to behave.
    Guideline,
}

/// Which notes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListNotes {
    /// Only those of this kind.
    #[param(inline)]
    kind: Option<NoteKind>,
}

/// A note that is to be kept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewNote {
    kind: NoteKind,
    /// The words. Everybody may learn of them.
    #[schema(min_length = 1, max_length = 200)]
    text: String,
}

/// List what an assistant keeps for itself.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/session-memory/", tag = "session-memory",
    params(("key" = String, Path, description = "Its key"), ListNotes),
    responses((status = OK, body = NoteList)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ListNotes>,
) -> Result<Json<NoteList>, Problem> {
    caller.may(Right::Read, &key)?;
    let kind = asked.kind.map(SelfNoteKind::from);
    let notes = service.state(&key).await?.self_notes;
    let wanted = notes
        .iter()
        .filter(|it| kind.is_none_or(|kind| it.kind == kind));
    Ok(Json(NoteList {
        notes: wanted.map(view).collect(),
    }))
}

/// Keep something that each prompt shows from now on.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/session-memory/", tag = "session-memory",
    params(("key" = String, Path, description = "Its key")), request_body = NewNote,
    responses((status = CREATED, body = Changed)))]
pub(crate) async fn add(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(new): JsonBody<NewNote>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    caller.may(Right::Operate, &key)?;
    let event = service
        .change(&key, |state| {
            let note = (new.kind.into(), operator_note("text", &new.text, LONGEST)?);
            let noted = state.keep_note(&key, note, caller.author())?;
            Ok(vec![Event::SelfNoted(noted)])
        })
        .await?;
    Ok((StatusCode::CREATED, Json(event.into())))
}

/// Drop a note, also one that the assistant set itself.
#[utoipa::path(delete, path = "/api/ai/assistants/{key}/session-memory/{id}/", tag = "session-memory",
    params(("key" = String, Path, description = "Its key"), ("id" = u32, Path, description = "The number of the note")),
    responses((status = OK, body = Changed)))]
pub(crate) async fn remove(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(id): ItemId<u32>,
) -> Result<Json<Changed>, Problem> {
    caller.may(Right::Operate, &key)?;
    let event = service
        .change(&key, |state| {
            let dropped = state
                .self_notes
                .drop_note(SelfNoteId(id), caller.author())?;
            Ok(vec![Event::SelfNoteDropped(dropped)])
        })
        .await?;
    Ok(Json(event.into()))
}

impl From<NoteKind> for SelfNoteKind {
    fn from(kind: NoteKind) -> Self {
        match kind {
            NoteKind::Fact => Self::Fact,
            NoteKind::Pattern => Self::Pattern,
            NoteKind::Guideline => Self::Guideline,
        }
    }
}

impl From<SelfNoteError> for Problem {
    fn from(error: SelfNoteError) -> Self {
        let code = match error {
            SelfNoteError::Unknown(_) => ProblemCode::UnknownItem,
            SelfNoteError::Known(_) | SelfNoteError::TooMany { .. } => ProblemCode::Conflict,
            _ => ProblemCode::InvalidValue,
        };
        code.because(error.to_string())
    }
}

fn view(note: &SelfNote) -> NoteView {
    NoteView {
        note: note.id.0,
        event: note.seq.0,
        at: note.at.to_string(),
        kind: json(&note.kind),
        text: note.note.text.clone(),
        trust: note.note.trust.score().into(),
        by: match &note.author {
            Author::Tool(_) => None,
            author => Some(author.to_string()),
        },
    }
}
