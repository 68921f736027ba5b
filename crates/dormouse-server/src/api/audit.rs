//! The log of an assistant.

use axum::{Json, extract::State};
use dormouse_contracts::{ReadEvents, Seq, StoredEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{assistants::limit, json};
use crate::{
    extract::{Asked, Key, place},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::Shared,
    tokens::Right,
};

/// How many events a page has: at most, and by default.
const PAGE: (u32, u32) = (1_000, 100);

/// An event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventView {
    /// Its sequence number in the log.
    event: u64,
    at: String,
    /// The name of its kind.
    kind: String,
    /// Its data, as they are in the log.
    #[schema(value_type = Value)]
    data: Value,
}

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventPage {
    events: Vec<EventView>,
    /// What to send as `after` for the next page; unchanged if there are no more events yet.
    next: u64,
    /// The last event of the log.
    last: u64,
}

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListEvents {
    /// Only those after this sequence number.
    #[serde(default, deserialize_with = "place")]
    after: u64,
    /// How many at most: 1 to 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Read the log of an assistant, oldest first.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/audit/", tag = "audit",
    params(("key" = String, Path, description = "Its key"), ListEvents),
    responses((status = OK, body = EventPage)))]
pub(crate) async fn events(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ListEvents>,
) -> Result<Json<EventPage>, Problem> {
    caller.may(Right::Read, &key)?;
    let limit = limit(asked.limit, PAGE)?;
    let last = service.exists(&key)?;
    let read = service
        .host
        .log()
        .read(&key, Seq(asked.after), limit)
        .await?;
    let next = read.last().map_or(asked.after, |event| event.seq.0);
    Ok(Json(EventPage {
        events: read.iter().map(view).collect(),
        next,
        last: last.0.max(next),
    }))
}

/// The state of an assistant after an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StateView {
    /// The event.
    event: u64,
    /// Everything that follows from the log up to there, as in a snapshot. Its parts may change with the program.
    #[schema(value_type = Value)]
    state: Value,
}

/// When.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AtEvent {
    /// After this event; the last one if absent.
    at: Option<u64>,
}

/// Show the state of an assistant after an event: the log is folded up to there, and nothing is carried out.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/audit/state/", tag = "audit",
    params(("key" = String, Path, description = "Its key"), AtEvent),
    responses((status = OK, body = StateView)))]
pub(crate) async fn state(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<AtEvent>,
) -> Result<Json<StateView>, Problem> {
    caller.may(Right::Read, &key)?;
    let last = service.exists(&key)?;
    let at = asked.at.map_or(last, Seq);
    if at > last {
        let why = format!("there is no event {at}; the log ends at event {last}");
        return Err(ProblemCode::UnknownItem.because(why));
    }
    let state = service.host.state_at(&key, at).await?;
    Ok(Json(StateView {
        event: state.seq.0,
        state: json(&*state),
    }))
}

/// An event as it is stored. Data that are not JSON become a text.
pub(super) fn view(event: &StoredEvent) -> EventView {
    let data = serde_json::from_slice(&event.payload)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&event.payload).into_owned()));
    EventView {
        event: event.seq.0,
        at: event.at.to_string(),
        kind: event.kind.clone(),
        data,
    }
}
