//! New events, as server-sent events. The id of each is its sequence number in the log, from which a reader can resume.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue},
    response::{
        IntoResponse, Response,
        sse::{self, KeepAlive, Sse},
    },
};
use dormouse_contracts::Seq;
use dormouse_engine::Recorded;
use dormouse_host::{Resident, Tail};
use futures_util::{Stream, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    select,
    sync::{OwnedSemaphorePermit, watch},
};
use utoipa::IntoParams;

use crate::{
    extract::{Asked, Key, place_if_any},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Shared, over},
    tokens::Right,
};

/// After this time without an event a comment is sent, so that no proxy considers the stream dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Where a stream of events begins.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamFrom {
    /// Only events after this sequence number. Without it and without `last-event-id`, only new events.
    #[serde(default, deserialize_with = "place_if_any")]
    after: Option<u64>,
}

/// Read events as they are written.
///
/// The assistant is kept awake meanwhile.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/events/", tag = "live",
    params(
        ("key" = String, Path, description = "Its key"),
        StreamFrom,
        ("last-event-id" = Option<u64>, Header, description = "The last event that was read; comes before `after`"),
    ),
    responses((status = OK, content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<StreamFrom>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.may(Right::Read, &key)?;
    let resumes = headers.get("last-event-id").map(|id| {
        let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
        let why = "last-event-id is not the number of an event";
        id.ok_or_else(|| ProblemCode::InvalidRequest.because(why))
    });
    let after = resumes.transpose()?.or(asked.after);
    let place = service.place_for_stream()?;
    let last = service.exists(&key)?;
    if after.is_some_and(|after| after > last.0) {
        let why = format!(
            "the log ends at event {last}: nothing follows event {}",
            after.unwrap_or_default()
        );
        return Err(ProblemCode::InvalidRequest.because(why));
    }
    let resident = service.awake(&key).await?;
    let handle = resident.handle();
    let after = after.map_or(handle.status().seq, Seq);
    let follow = Follow {
        events: Tail::new(service.host.log(), &key, handle, after),
        ending: service.ending.clone(),
        caller,
        _place: place,
        _resident: resident,
        service,
    };
    let events = stream::unfold(Some(follow), |follow| async move { follow?.next().await });
    Ok(stream_of(events))
}

/// Sends events as they come.
pub(crate) fn stream_of(
    events: impl Stream<Item = Result<sse::Event, Infallible>> + Send + 'static,
) -> Response {
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    // Some proxies would otherwise buffer the stream until it ends.
    let name = HeaderName::from_static("x-accel-buffering");
    let no = HeaderValue::from_static("no");
    response.headers_mut().insert(name, no);
    response
}

/// A reader of events. The next event is read from the log only when the connection has room for it, so nothing is
/// buffered for a slow reader.
struct Follow {
    events: Tail,
    ending: watch::Receiver<bool>,
    caller: Caller,
    service: Shared,
    _place: OwnedSemaphorePermit,
    /// Keeps the assistant awake.
    _resident: Resident,
}

type Sent = (Result<sse::Event, Infallible>, Option<Follow>);

impl Follow {
    /// The next event; `None` if the stream is over.
    async fn next(mut self) -> Option<Sent> {
        let next = select! {
            biased;
            () = over(&mut self.ending) => return None,
            next = self.events.next() => next,
        };
        // The token may have been revoked, or have ended, since the stream was opened.
        if !self.service.still_holds(&self.caller.token) {
            return Some((Ok(last("token_ended")), None));
        }
        match next {
            Ok(Some(recorded)) => Some((Ok(event(&recorded)), Some(self))),
            // The assistant was put away or archived. If it may be woken, a client that connects again wakes it.
            Ok(None) => Some((Ok(last("put_away")), None)),
            Err(error) => {
                drop(Problem::internal(&error));
                Some((Ok(last("failed")), None))
            }
        }
    }
}

fn event(recorded: &Recorded) -> sse::Event {
    let Recorded { seq, at, event } = recorded;
    let encoded = event.encode(*at).ok();
    let data = encoded
        .as_ref()
        .and_then(|it| serde_json::from_slice(&it.payload).ok());
    let kind = encoded.map_or("", |it| it.kind);
    let data: Value = data.unwrap_or_default();
    let line = json!({ "event": seq.0, "at": at.to_string(), "kind": kind, "data": data });
    sse::Event::default()
        .id(seq.0.to_string())
        .event("log")
        .data(line.to_string())
}

/// Says why the stream ends.
fn last(why: &str) -> sse::Event {
    sse::Event::default()
        .event("end")
        .data(json!({ "why": why }).to_string())
}
