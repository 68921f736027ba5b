//! What assistants want of the world, and what became of it.

use std::convert::Infallible;

use axum::{
    Json,
    extract::State,
    http::HeaderMap,
    response::{Response, sse},
};
use dormouse_contracts::{AssistantId, EffectKey, Outcome, Receipt, Rejection};
use dormouse_host::http_world::{AnswerError, RequestKind, WorldAnswer, WorldRequest};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json as json_of};
use tokio::{
    select,
    sync::{OwnedSemaphorePermit, watch},
    time::{sleep, timeout},
};
use utoipa::{IntoParams, ToSchema};

use super::{
    super::{events::stream_of, heard::bounded_wait, json},
    door,
    happened::{AttestedFacts, AudienceFact, Claimed, Reporter, audience, is_by},
};
use crate::{
    extract::{Asked, JsonBody, place_if_any},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Shared, TOKEN_INTERVAL, over},
    tokens::{Fact, Right},
};

/// The most reports that come with one answer.
const MOST_REPORTS: usize = 64;

/// Which requests are asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RequestsAfter {
    /// Only requests with larger numbers; absent for all that are open.
    #[serde(default, deserialize_with = "place_if_any")]
    after: Option<u64>,
    /// How long to wait for one, in seconds; absent for as long as the service allows, 0 for not at all.
    #[param(maximum = 600)]
    wait_seconds: Option<u32>,
}

/// What assistants want of the world.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Requests {
    /// Oldest first. A request is repeated without `after` until it is answered.
    effects: Vec<RequestView>,
    /// What to send as `after` to get only newer ones.
    last: u64,
}

/// Something that an assistant wants of the world.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RequestView {
    /// Its number.
    number: u64,
    /// Its id, to answer it. An act keeps its id for ever: carry out each id once.
    id: String,
    /// `perform`: carry out this act; `became_of`: say whether the act with this id was carried out; `observe`: answer this
    /// question.
    ask: &'static str,
    /// The key of the assistant that asks.
    assistant: String,
    /// The tool; absent with `became_of`.
    tool: Option<String>,
    /// Its arguments, which fit the schema of the tool.
    #[schema(value_type = Option<Value>)]
    arguments: Option<Map<String, Value>>,
    /// The delivery that the act answers.
    reply_to: Option<u64>,
    /// Who may perceive the words of the act; absent if anybody may. Reject the act if anybody else would.
    #[schema(value_type = Option<Value>)]
    within: Option<Value>,
    /// Whether it was handed out before, so the world may have carried it out already.
    again: bool,
}

/// What became of a request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReceiptBody {
    /// The id of the request.
    #[schema(min_length = 1)]
    id: String,
    outcome: OutcomeWord,
    /// With `done`: what happened, or the answer to the question; the model reads it.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    detail: Value,
    /// With `rejected`: why, for the model to read.
    reason: Option<String>,
    /// Who perceived the words of the act, except for the assistant; absent if it has no words or the world does not know.
    heard_by: Option<AudienceFact>,
    /// What the assistant itself perceives of it: stored together with the outcome, or not at all. At most 64.
    #[serde(default)]
    #[schema(max_items = 64)]
    perceptions: Vec<Perceived>,
}

/// Something that is perceived of an act by the assistant that acted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Perceived {
    attested: AttestedFacts,
    claimed: Claimed,
}

/// What became of a request, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutcomeWord {
    /// It was carried out, or the question was answered.
    Done,
    /// It was not and will not be carried out.
    Rejected,
    /// It is unknown whether it was carried out. It will not be repeated.
    Unknown,
    /// It was certainly never carried out. It may be requested again.
    NeverSeen,
}

impl OutcomeWord {
    /// Whether it is known what became of the request.
    fn is_definite(self) -> bool {
        matches!(self, Self::Done | Self::Rejected)
    }
}

/// What the service knows of the request now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptStored {
    id: String,
    /// `done` or `rejected`: the first definite answer, which counts. `open`: nothing definite is known.
    outcome: &'static str,
}

/// Read what assistants want of the world, or wait until they want something.
///
/// The token sees the requests of the assistants for which it has the right `world`. A request is open for as long as its tool
/// may take; after that the assistant asks again later.
#[utoipa::path(get, path = "/api/ai/world/effects/", tag = "world", params(RequestsAfter),
    responses((status = OK, body = Requests)))]
pub(crate) async fn requests(
    State(service): State<Shared>,
    caller: Caller,
    Asked(asked): Asked<RequestsAfter>,
) -> Result<Json<Requests>, Problem> {
    is_world(&caller)?;
    let world = door(&service)?;
    let longest = service.limits.answer_wait;
    let wait = bounded_wait(asked.wait_seconds)?;
    let after = asked.after.unwrap_or_default();
    let is_its = |key: &AssistantId| caller.token.allows(Right::World, key);
    let mut ending = service.ending.clone();
    let mut found = world.requests(after, is_its);
    if found.is_empty() {
        found = select! {
            found = world.await_requests(after, is_its) => found,
            () = sleep(wait.unwrap_or(longest).min(longest)) => Vec::new(),
            () = over(&mut ending) => Vec::new(),
        };
    }
    let last = found.last().map_or(after, |last| last.number);
    let effects = found.into_iter().map(RequestView::from).collect();
    Ok(Json(Requests { effects, last }))
}

/// Read what assistants want of the world as a stream.
///
/// The `id` of each event is the number of the request, from which a reader can resume.
#[utoipa::path(get, path = "/api/ai/world/effects/stream/", tag = "world",
    params(("last-event-id" = Option<u64>, Header, description = "Only requests with larger numbers; absent for all that are open")),
    responses((status = OK, content_type = "text/event-stream", body = String)))]
pub(crate) async fn stream(
    State(service): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    is_world(&caller)?;
    door(&service)?;
    let after = headers.get("last-event-id").map(|id| {
        let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
        let why = "last-event-id is not the number of a request";
        id.ok_or_else(|| ProblemCode::InvalidRequest.because(why))
    });
    let after = after.transpose()?.unwrap_or_default();
    let place = service.place_for_stream()?;
    let reader = Reader {
        ending: service.ending.clone(),
        after,
        ready: Vec::new(),
        caller,
        service,
        _place: place,
    };
    let events = stream::unfold(Some(reader), |reader| async move { reader?.next().await });
    Ok(stream_of(events))
}

/// A reader of requests. The next ones are taken only when the connection has room for them.
struct Reader {
    ending: watch::Receiver<bool>,
    after: u64,
    /// Taken and not sent yet, the newest first.
    ready: Vec<WorldRequest>,
    caller: Caller,
    service: Shared,
    _place: OwnedSemaphorePermit,
}

type Sent = (Result<sse::Event, Infallible>, Option<Reader>);

impl Reader {
    /// The next request; `None` if the stream is over.
    async fn next(mut self) -> Option<Sent> {
        let world = door(&self.service).ok()?;
        while self.ready.is_empty() {
            let token = self.caller.token.clone();
            let is_its = |key: &AssistantId| token.allows(Right::World, key);
            let wanted = world.await_requests(self.after, is_its);
            self.ready = select! {
                biased;
                () = over(&mut self.ending) => return None,
                found = timeout(TOKEN_INTERVAL, wanted) => found.unwrap_or_default(),
            };
            self.ready.reverse();
            // The token may have been revoked, or have ended, since the stream was opened.
            if !self.service.still_holds(&self.caller.token) {
                let why = json_of!({ "why": "token_ended" }).to_string();
                let end = sse::Event::default().event("end").data(why);
                return Some((Ok(end), None));
            }
        }
        let request = self.ready.pop()?;
        self.after = request.number;
        let id = request.number.to_string();
        let data = json(&RequestView::from(request)).to_string();
        let event = sse::Event::default().id(id).event("effect").data(data);
        Some((Ok(event), Some(self)))
    }
}

/// Say what became of a request.
///
/// 2xx means that it is on disk. The first definite answer counts; later ones change nothing.
#[utoipa::path(post, path = "/api/ai/world/receipts/", tag = "world", request_body = ReceiptBody,
    responses((status = OK, body = ReceiptStored)))]
pub(crate) async fn answer(
    State(service): State<Shared>,
    caller: Caller,
    JsonBody(body): JsonBody<ReceiptBody>,
) -> Result<Json<ReceiptStored>, Problem> {
    is_world(&caller)?;
    let world = door(&service)?;
    let invalid = |why: &str| Err(ProblemCode::InvalidValue.because(why));
    if body.perceptions.len() > MOST_REPORTS {
        return invalid("perceptions: expected at most 64");
    }
    if body.heard_by.is_some() && !caller.token.attests(Fact::Audience) {
        return Err(ProblemCode::Scope.because("the token may not attest the audience"));
    }
    let heard_by = body.heard_by.map(audience).transpose()?;
    let reason = body.reason.filter(|reason| !reason.trim().is_empty());
    let answer = match (body.outcome, reason) {
        (OutcomeWord::Done, None) => WorldAnswer::Done(Receipt {
            heard_by,
            ..Receipt::new(body.detail)
        }),
        (OutcomeWord::Rejected, Some(reason)) => WorldAnswer::Rejected(Rejection {
            heard_by,
            ..Rejection::new(reason)
        }),
        (OutcomeWord::Rejected, None) => return invalid("reason is missing: why is it rejected?"),
        (_, Some(_)) => return invalid("reason is only for the outcome rejected"),
        (OutcomeWord::Unknown, None) => WorldAnswer::Unknown,
        (OutcomeWord::NeverSeen, None) => WorldAnswer::NeverSeen,
    };
    let reporter = Reporter {
        caller: &caller,
        now: service.now(),
    };
    let mut reports = Vec::new();
    if !body.perceptions.is_empty() && !body.outcome.is_definite() {
        return invalid(
            "perceptions come only with done or rejected; report others at perceptions/",
        );
    }
    // The answer to a question is not stored, so perceptions that come with it would not be stored either.
    let act = EffectKey::try_new(&*body.id).ok();
    let asker = act.and_then(|act| act.actor());
    for perceived in body.perceptions {
        let Some(asker) = &asker else {
            return invalid(
                "perceptions come only with the receipt of an act; report others at perceptions/",
            );
        };
        let report = reporter.read(perceived.attested, perceived.claimed, world.id())?;
        is_by(&report, asker)?;
        reports.push(report);
    }
    let is_its = |key: &AssistantId| caller.token.allows(Right::World, key);
    let outcome = world.answer(&body.id, answer, reports, is_its).await?;
    let outcome = match outcome {
        Some(Outcome::Done(_)) => "done",
        Some(Outcome::Rejected(_)) => "rejected",
        Some(Outcome::Unknown) | None => "open",
    };
    Ok(Json(ReceiptStored {
        id: body.id,
        outcome,
    }))
}

/// Refuses a token that is not that of a world.
fn is_world(caller: &Caller) -> Result<(), Problem> {
    match caller.token.rights.contains(&Right::World) {
        true => Ok(()),
        false => Err(ProblemCode::Scope.because("the token lacks the right world")),
    }
}

impl From<WorldRequest> for RequestView {
    fn from(request: WorldRequest) -> Self {
        let call = request.call;
        let tool = call.as_ref().map(|call| call.tool.to_string());
        let reply_to = call.as_ref().and_then(|call| call.reply_to.as_ref());
        let reply_to = reply_to.map(|delivery| delivery.number);
        let within = call.as_ref().and_then(|call| call.within.as_ref());
        let within = within.map(json);
        Self {
            number: request.number,
            id: request.id,
            ask: match request.kind {
                RequestKind::Perform => "perform",
                RequestKind::BecameOf => "became_of",
                RequestKind::Observe => "observe",
            },
            assistant: request.assistant.to_string(),
            tool,
            reply_to,
            within,
            arguments: call.map(|call| call.arguments),
            again: request.is_again,
        }
    }
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::UnknownRequest(_) => ProblemCode::UnknownItem.because(error.to_string()),
            AnswerError::World(error) => {
                tracing::error!(cause = %dormouse_text::error_chain(&error), "an answer of the world may not be stored");
                ProblemCode::Storage.because("the answer may not be stored: send it again")
            }
            error => Self::internal(&error),
        }
    }
}
