//! Talking to an assistant: sends a message into the world, and finds its outcome in the log.

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use dormouse_contracts::{AssistantId, EntityId, ReadEvents, Senses, Seq, Words};
use dormouse_engine::{Event, Rest};
use dormouse_host::{Resident, Tail, admit_player, player_named};
use dormouse_sandbox::{Act, ActError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    select,
    time::{Instant, sleep_until, timeout_at},
};
use utoipa::ToSchema;

use super::{
    heard::{Hearing, Spoken, bounded_wait},
    json,
};
use crate::{
    extract::{ItemId, JsonBody, Key},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Service, Shared, over},
    tokens::{Right, StoredToken},
};

/// How many events are read at a time.
const PAGE: usize = 256;

/// How long to wait at least until the assistant has received a message. It takes milliseconds, unless too many messages wait.
const RECEIPT: Duration = Duration::from_secs(10);

/// The most bytes of a key of the caller's own.
const KEY: usize = 128;

/// What somebody says to an assistant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    /// The words, at most 65,536 bytes.
    pub(crate) words: String,
    /// How long to wait for the answer, in seconds; with 0 only until the assistant has received the words.
    #[schema(maximum = 600)]
    pub(crate) wait_seconds: Option<u32>,
    /// A key of the caller's own, at most 128 bytes. If a message is sent again under its key, only the first one is
    /// said, even after a restart of the service. The last thousand keys are remembered.
    #[schema(min_length = 1, max_length = 128)]
    pub(crate) key: Option<String>,
}

/// The outcome of a message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessageOutcome {
    /// The message's sequence number in the log, by which its outcome can be requested; absent if the assistant has not
    /// received it yet.
    pub(crate) message: Option<u64>,
    /// `waiting`, `answered`, `silent`, `unanswered`, `overheard` or `ignored`. A waiting message is kept, and handled
    /// exactly once. An overheard one gets no answer, because its sender asked too much; the assistant knows it.
    pub(crate) outcome: &'static str,
    /// Its answers that the sender of the message can perceive.
    pub(crate) answer: Vec<Spoken>,
    /// Why the message got no answer.
    #[schema(value_type = Option<Value>)]
    cause: Option<Value>,
}

/// Say something to an assistant in the name of the token's holder, as a page, and wait for the answer.
///
/// 2xx means that the message is on disk and will be handled exactly once, even after a crash. 200 contains the
/// outcome; 202 says where to ask for it later.
#[utoipa::path(post, path = "/api/ai/assistants/{key}/interact/", tag = "interact",
    params(("key" = String, Path, description = "Its key")), request_body = Message,
    responses((status = OK, body = MessageOutcome), (status = ACCEPTED, body = MessageOutcome)))]
pub(crate) async fn speak(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    JsonBody(message): JsonBody<Message>,
) -> Result<Response, Problem> {
    let outcome = say(&service, &caller, &key, message, &|_| {}).await?;
    Ok(respond(&key, outcome))
}

/// Says it, and waits for the outcome. `heard` is called with each answer as soon as it was given.
pub(crate) async fn say(
    service: &Service,
    caller: &Caller,
    key: &AssistantId,
    message: Message,
    heard: &(dyn Fn(&Spoken) + Send + Sync),
) -> Result<MessageOutcome, Problem> {
    caller.may(Right::Talk, key)?;
    let words = Words::try_new(message.words)
        .map_err(|error| ProblemCode::InvalidValue.because(error.to_string()))?;
    let wait = service.limits.answer_wait;
    let asked = bounded_wait(message.wait_seconds)?;
    let deadline = Instant::now() + asked.unwrap_or(wait).min(wait);
    let sandbox = service.host.world().sandbox()?;
    let resident = service.awake(key).await?;
    let before = resident.handle().status().seq;
    let player = admit_player(sandbox, &caller.token.name).await?.id;
    let to = resident.name().to_owned();
    let page = Act::Page { to, words };
    let (deliveries, after) = match own_key(key, message.key)? {
        None => (sandbox.act(&player, page).await?.deliveries, before),
        Some(own) => {
            let acted = sandbox.act_once(&player, &own, page).await?;
            // The first message with this key may have been taken in at any time.
            let after = if acted.is_repeated { Seq::ZERO } else { before };
            (acted.deliveries, after)
        }
    };
    // From here on the message is on disk in the world, and no failure loses it.
    // Even a caller that does not wait for the answer waits for the message's number: it needs the number to ask later.
    let receipt = deadline.max(Instant::now() + RECEIPT);
    let taken_in = timeout_at(receipt, resident.heard(&deliveries)).await;
    let place = match taken_in {
        Ok(Ok(())) => place_of(service, &resident, after, &deliveries).await?,
        // The assistant receives it later: too many messages wait, or it was put away.
        Ok(Err(_)) | Err(_) => return Ok(MessageOutcome::waiting(None)),
    };
    let place = match place {
        Some((place, true)) => place,
        Some((place, false)) => return Ok(MessageOutcome::overheard(place)),
        // The assistant received it and ignored it, or only counted it, so it is not in the log.
        None => return Ok(MessageOutcome::ignored()),
    };
    let course = Course::of(place, player.clone(), &caller.token);
    let outcome = await_outcome(service, &resident, course, deadline, heard).await?;
    if outcome.outcome != "waiting" {
        forget_delivered(service, &player).await;
    }
    Ok(outcome)
}

/// Show the outcome of a message that the holder of the token sent.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/interact/{id}/", tag = "interact",
    params(("key" = String, Path, description = "Its key"), ("id" = u64, Path, description = "The message's place in the log")),
    responses((status = OK, body = MessageOutcome)))]
pub(crate) async fn outcome(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    ItemId(place): ItemId<u64>,
) -> Result<Json<MessageOutcome>, Problem> {
    caller.may(Right::Talk, &key)?;
    service.exists(&key)?;
    let player = player_named(&caller.token.name)?.id;
    let unknown = || {
        let why = format!("event {place} is not a message of the token's holder");
        ProblemCode::UnknownItem.because(why)
    };
    let before = Seq(place.checked_sub(1).ok_or_else(unknown)?);
    let log = service.host.log();
    let first = log.read(&key, before, 1).await?;
    let first = first.first().filter(|it| it.seq == Seq(place));
    let said =
        Event::decode(first.ok_or_else(unknown)?).map_err(|error| Problem::internal(&error))?;
    match said {
        Event::Perceived(it) if it.perception.attested.sender.id() == Some(&player) => {
            if !it.calls_for_turn() {
                return Ok(Json(MessageOutcome::overheard(Seq(place))));
            }
        }
        _ => return Err(unknown()),
    }
    let mut course = Course::of(Seq(place), player, &caller.token);
    let mut after = Seq(place);
    while !course.is_over {
        let page = log.read(&key, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for stored in &page {
            let event = Event::decode(stored).map_err(|error| Problem::internal(&error))?;
            course.apply(stored.seq, &event);
        }
    }
    Ok(Json(course.outcome()))
}

/// The key of a message in the world. It contains the assistant, so each assistant has keys of its own.
fn own_key(assistant: &AssistantId, key: Option<String>) -> Result<Option<String>, Problem> {
    match key {
        Some(key) if key.is_empty() || key.len() > KEY => {
            let why = format!("key has {} bytes; expected 1 to {KEY}", key.len());
            Err(ProblemCode::InvalidValue.because(why))
        }
        key => Ok(key.map(|key| format!("{assistant}\n{key}"))),
    }
}

/// The place of the message in the log, and whether it has a turn. Everything that was taken in is on disk.
async fn place_of(
    service: &Service,
    resident: &Resident,
    before: Seq,
    deliveries: &[(EntityId, u64)],
) -> Result<Option<(Seq, bool)>, Problem> {
    let mut to_it = deliveries
        .iter()
        .filter(|(to, _)| to == resident.character());
    let Some((_, number)) = to_it.next() else {
        return Ok(None);
    };
    let (log, world) = (service.host.log(), service.host.world().sandbox()?.id());
    let mut after = before;
    loop {
        let page = log.read(resident.key(), after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        after = last.seq;
        for stored in &page {
            let event = Event::decode(stored).map_err(|error| Problem::internal(&error))?;
            if let Event::Perceived(it) = event {
                let has_turn = it.calls_for_turn();
                let delivery = it.perception.attested.delivery;
                if delivery.number == *number && delivery.world == *world {
                    return Ok(Some((stored.seq, has_turn)));
                }
            }
        }
    }
}

/// Waits until the message has been handled, cannot be handled for now, or the time is over.
async fn await_outcome(
    service: &Service,
    resident: &Resident,
    mut course: Course,
    deadline: Instant,
    heard: &(dyn Fn(&Spoken) + Send + Sync),
) -> Result<MessageOutcome, Problem> {
    let place = course.place;
    let mut ending = service.ending.clone();
    let mut events = Tail::new(service.host.log(), resident.key(), resident.handle(), place);
    let mut ends = std::pin::pin!(async {
        let rest = async {
            // If the assistant is settled, its last events will soon be in the log. Any other state may last.
            if resident.handle().at_rest().await == Rest::Settled {
                std::future::pending::<()>().await;
            }
        };
        select! {
            () = rest => {}
            () = sleep_until(deadline) => {}
            () = over(&mut ending) => {}
        }
    });
    while !course.is_over {
        let next = select! {
            biased;
            next = events.next() => next,
            () = &mut ends => break,
        };
        match next? {
            Some(recorded) => {
                if let Some(spoken) = course.apply(recorded.seq, &recorded.event) {
                    heard(spoken);
                }
            }
            None => break,
        }
    }
    Ok(course.outcome())
}

/// Lets the world delete what the token's holder perceived: the answers are in the log of the assistant.
async fn forget_delivered(service: &Service, player: &EntityId) {
    let Ok(world) = service.host.world().sandbox() else {
        return;
    };
    let forgotten = async {
        let last = world.last_delivery(player).await?;
        world.acknowledge(player, last).await
    };
    if let Err(error) = forgotten.await {
        tracing::debug!(%error, "the world keeps what a caller perceived a little longer");
    }
}

/// Follows a message to its outcome, through the events after it.
struct Course {
    place: Seq,
    hearing: Hearing,
    /// Whether the tick under way works on the message.
    is_current: bool,
    said: Vec<Spoken>,
    cause: Option<Value>,
    is_over: bool,
}

impl Course {
    fn of(place: Seq, asker: EntityId, token: &StoredToken) -> Self {
        Self {
            place,
            hearing: Hearing::by(asker, token.name.clone()),
            is_current: false,
            said: Vec::new(),
            cause: None,
            is_over: false,
        }
    }

    /// Returns what the asker hears because of this event.
    fn apply(&mut self, seq: Seq, event: &Event) -> Option<&Spoken> {
        match event {
            Event::TickStarted(it) => self.is_current = it.trigger == self.place,
            // What it says in other turns answers somebody else.
            Event::EffectIntended(_) if !self.is_current => {}
            Event::EffectIntended(_) | Event::EffectSettled(_) => {
                self.said.push(self.hearing.apply(seq, event)?);
                return self.said.last();
            }
            Event::Unanswered(it) if it.trigger == self.place => self.cause = Some(json(&it.cause)),
            Event::TickEnded(it) if self.is_current && it.resume_at.is_none() => {
                self.is_over = true;
            }
            _ => {}
        }
        None
    }

    fn outcome(self) -> MessageOutcome {
        let outcome = match (self.is_over, &self.cause, self.said.is_empty()) {
            (false, _, _) => "waiting",
            (true, Some(_), _) => "unanswered",
            (true, None, true) => "silent",
            (true, None, false) => "answered",
        };
        MessageOutcome {
            message: Some(self.place.0),
            outcome,
            answer: self.said,
            cause: self.cause,
        }
    }
}

impl MessageOutcome {
    fn waiting(message: Option<u64>) -> Self {
        Self {
            message,
            outcome: "waiting",
            answer: Vec::new(),
            cause: None,
        }
    }

    /// The sender asked more than the assistant answers; it knows the message.
    fn overheard(place: Seq) -> Self {
        Self {
            outcome: "overheard",
            ..Self::waiting(Some(place.0))
        }
    }

    fn ignored() -> Self {
        Self {
            outcome: "ignored",
            ..Self::waiting(None)
        }
    }
}

fn respond(key: &AssistantId, outcome: MessageOutcome) -> Response {
    let waits = outcome.outcome == "waiting";
    let status = match waits {
        true => StatusCode::ACCEPTED,
        false => StatusCode::OK,
    };
    let place = outcome.message;
    let location = place.map(|place| format!("/api/ai/assistants/{key}/interact/{place}/"));
    let mut response = (status, Json(outcome)).into_response();
    if waits && let Some(location) = location.and_then(|location| location.parse().ok()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

impl From<ActError> for Problem {
    fn from(error: ActError) -> Self {
        match error {
            ActError::Refused(refused) => ProblemCode::InvalidValue.because(refused.to_string()),
            error => {
                tracing::warn!(cause = %dormouse_text::error_chain(&error), "a message may not have reached the world");
                ProblemCode::Internal
                    .because("the world did not answer: whether it has the message is unknown")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::Timestamp;
    use dormouse_engine::{ContextType, StopReason, TickEnded, TickStarted};

    use super::*;

    fn course() -> Course {
        Course {
            place: Seq(7),
            hearing: Hearing::by(EntityId::try_new("player:ann").unwrap(), "Ann".to_owned()),
            is_current: false,
            said: Vec::new(),
            cause: None,
            is_over: false,
        }
    }

    fn tick(trigger: u64) -> Event {
        Event::TickStarted(TickStarted {
            tick: 1,
            context: ContextType::default(),
            trigger: Seq(trigger),
        })
    }

    #[test]
    fn only_the_end_of_its_own_turn_ends_a_message() {
        let mut course = course();
        let end = |at: Option<i64>| {
            let at = at.map(Timestamp::from_micros);
            Event::TickEnded(TickEnded::new(StopReason::Noop, at))
        };
        for event in [
            tick(5),
            end(None),
            tick(7),
            end(Some(1)),
            tick(9),
            end(None),
        ] {
            course.apply(Seq(8), &event);
            assert!(!course.is_over, "{event:?}");
        }
        course.apply(Seq(9), &tick(7));
        course.apply(Seq(10), &end(None));
        assert_eq!(course.outcome().outcome, "silent");
    }
}
