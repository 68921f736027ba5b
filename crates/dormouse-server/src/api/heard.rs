//! What an assistant says that the holder of a token perceives.

use std::{collections::BTreeMap, time::Duration};

use axum::{Json, extract::State};
use dormouse_contracts::{
    AssistantId, EffectKey, EntityId, Outcome, ReadEvents, Seq, SpeechKind, StoredEvent,
};
use dormouse_engine::{ActSpeech, EffectIntended, Event};
use dormouse_host::{Tail, player_named};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    select,
    time::{Instant, sleep_until},
};
use utoipa::{IntoParams, ToSchema};

use super::{assistants::limit, json};
use crate::{
    extract::{Asked, Key, place_if_any},
    guard::Caller,
    problem::{Problem, ProblemCode},
    service::{Service, Shared, over},
    tokens::{Right, StoredToken},
};

/// How many utterances a page has: at most, and by default.
const PAGE: (u32, u32) = (100, 20);

/// How many events are read at a time.
const EVENTS: usize = 256;
/// How many events are read for one page, at most.
const MOST_EVENTS: u64 = 4_096;

/// The longest wait that can be asked for.
const MOST_SECONDS: u32 = 600;

/// Something that an assistant said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Spoken {
    pub(crate) words: String,
    /// `aloud`, `whisper`, `page` or `channel`.
    #[schema(value_type = String)]
    how: Value,
}

/// Something that an assistant said, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Utterance {
    /// Its event in the log.
    event: u64,
    at: String,
    pub(crate) words: String,
    /// `aloud`, `whisper`, `page` or `channel`.
    #[schema(value_type = String)]
    how: Value,
}

/// What an assistant said lately.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UtterancePage {
    pub(crate) said: Vec<Utterance>,
    /// What to send as `after` for what it says next.
    pub(crate) next: u64,
}

/// Since when.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListUtterances {
    /// Only what it said after this event. Without it, the newest utterances in the last 4,096 events.
    #[serde(default, deserialize_with = "place_if_any")]
    pub(crate) after: Option<u64>,
    /// How many at most: 1 to 100.
    #[param(minimum = 1, maximum = 100)]
    pub(crate) limit: Option<u32>,
    /// If it said nothing: how long to wait until it says something, in seconds. The service limits this as it limits
    /// the wait for an answer.
    #[param(maximum = 600)]
    pub(crate) wait_seconds: Option<u32>,
}

/// How long a caller asks to wait.
pub(in crate::api) fn bounded_wait(seconds: Option<u32>) -> Result<Option<Duration>, Problem> {
    match seconds {
        Some(seconds) if seconds > MOST_SECONDS => {
            let why = format!("wait_seconds is {seconds}; expected at most {MOST_SECONDS}");
            Err(ProblemCode::InvalidValue.because(why))
        }
        seconds => Ok(seconds.map(|it| Duration::from_secs(it.into()))),
    }
}

/// List what an assistant said that the holder of the token perceives: to them alone, or where they were.
///
/// The assistant is woken only if the request waits.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/interact/", tag = "interact",
    params(("key" = String, Path, description = "Its key"), ListUtterances),
    responses((status = OK, body = UtterancePage)))]
pub(crate) async fn list(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
    Asked(asked): Asked<ListUtterances>,
) -> Result<Json<UtterancePage>, Problem> {
    caller.may(Right::Talk, &key)?;
    let limit = limit(asked.limit, PAGE)?;
    let wait = bounded_wait(asked.wait_seconds)?;
    let end = service.exists(&key)?.0;
    let mut hearing = Hearing::of(&caller.token)?;
    if let Some(after) = asked.after.filter(|after| *after > end) {
        let why = format!("the log ends at event {end}: nothing follows event {after}");
        return Err(ProblemCode::InvalidRequest.because(why));
    }
    let after = asked.after.unwrap_or(end.saturating_sub(MOST_EVENTS));
    let mut said = Vec::new();
    let mut next = Seq(after);
    let last = Seq(next.0 + MOST_EVENTS);
    // Without `after` the newest are wanted, and otherwise the next ones.
    while next < last && (asked.after.is_none() || said.len() < limit) {
        let page = service.host.log().read(&key, next, EVENTS).await?;
        if page.is_empty() {
            break;
        }
        for stored in &page {
            next = stored.seq;
            said.extend(hearing.hear(stored)?);
            if asked.after.is_some() && said.len() == limit {
                break;
            }
        }
    }
    said.drain(..said.len().saturating_sub(limit));
    if said.is_empty()
        && let Some(wait) = wait.filter(|wait| !wait.is_zero())
    {
        let wait = wait.min(service.limits.answer_wait);
        let first = wait_for_words(&service, &key, &mut hearing, &mut next, wait).await?;
        said.extend(first);
    }
    // An act that is under way is looked at again when it has an outcome.
    let next = hearing.oldest().map_or(next.0, |oldest| oldest.0 - 1);
    Ok(Json(UtterancePage { said, next }))
}

/// Waits until the assistant says something.
async fn wait_for_words(
    service: &Service,
    key: &AssistantId,
    hearing: &mut Hearing,
    next: &mut Seq,
    wait: Duration,
) -> Result<Option<Utterance>, Problem> {
    let deadline = Instant::now() + wait;
    let resident = service.awake(key).await?;
    let mut ending = service.ending.clone();
    let mut events = Tail::new(service.host.log(), key, resident.handle(), *next);
    loop {
        let recorded = select! {
            biased;
            recorded = events.next() => recorded?,
            () = sleep_until(deadline) => None,
            () = over(&mut ending) => None,
        };
        let Some(recorded) = recorded else {
            return Ok(None);
        };
        *next = recorded.seq;
        if let Some(spoken) = hearing.apply(recorded.seq, &recorded.event) {
            return Ok(Some(utterance(
                recorded.seq,
                &recorded.at.to_string(),
                spoken,
            )));
        }
    }
}

fn utterance(seq: Seq, at: &str, spoken: Spoken) -> Utterance {
    Utterance {
        event: seq.0,
        at: at.to_owned(),
        words: spoken.words,
        how: spoken.how,
    }
}

/// Follows what an assistant says, as one person perceives it.
pub(crate) struct Hearing {
    listener: EntityId,
    name: String,
    /// Acts under way that say something to the listener, each with its event.
    under_way: BTreeMap<EffectKey, (Seq, Spoken)>,
}

impl Hearing {
    /// The hearing of the holder of the token.
    pub(crate) fn of(token: &StoredToken) -> Result<Self, Problem> {
        let listener = player_named(&token.name)?.id;
        Ok(Self::by(listener, token.name.clone()))
    }

    pub(super) fn by(listener: EntityId, name: String) -> Self {
        Self {
            listener,
            name,
            under_way: BTreeMap::new(),
        }
    }

    /// What the listener perceives because of this event: an act counts when the world has carried it out.
    pub(crate) fn apply(&mut self, seq: Seq, event: &Event) -> Option<Spoken> {
        match event {
            Event::EffectIntended(it) => {
                if let Some(spoken) = self.spoken(it) {
                    self.under_way.insert(it.key.clone(), (seq, spoken));
                }
                None
            }
            Event::EffectSettled(it) => {
                let (_, spoken) = self.under_way.remove(&it.key)?;
                matches!(it.outcome, Outcome::Done(_)).then_some(spoken)
            }
            _ => None,
        }
    }

    fn hear(&mut self, stored: &StoredEvent) -> Result<Option<Utterance>, Problem> {
        let event = Event::decode(stored).map_err(|error| Problem::internal(&error))?;
        let spoken = self.apply(stored.seq, &event);
        Ok(spoken.map(|spoken| utterance(stored.seq, &stored.at.to_string(), spoken)))
    }

    /// The first act that has no outcome yet.
    pub(crate) fn oldest(&self) -> Option<Seq> {
        self.under_way.values().map(|(seq, _)| *seq).min()
    }

    /// What an act says, if the listener perceives it.
    fn spoken(&self, act: &EffectIntended) -> Option<Spoken> {
        let ActSpeech::Speaks(speech) = &act.speech else {
            return None;
        };
        let text = |name: &str| act.arguments.get(name).and_then(Value::as_str);
        let is_private = matches!(speech.kind, SpeechKind::Page | SpeechKind::Whisper);
        let to = speech.to.as_deref().and_then(text);
        let is_to_listener = to.is_some_and(|to| to.eq_ignore_ascii_case(&self.name));
        let is_party = match is_private {
            true => is_to_listener,
            false => (act.audience.as_ref())
                .is_some_and(|them| them.includes(&self.listener) == Some(true)),
        };
        let words = text(&speech.words)?;
        is_party.then(|| Spoken {
            words: words.to_owned(),
            how: json(&speech.kind),
        })
    }
}
