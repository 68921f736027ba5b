//! Requests of assistants to a world outside of this process, until the world has answered.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dormouse_bridge::{Game, Performed};
use dormouse_contracts::{
    AssistantId, Effect, EffectInquiry, EffectKey, EntityId, Outcome, Query, Rejection, ToolName,
    ToolSpec, WorldError, WorldErrorKind,
};
use serde_json::Value;
use tokio::{
    sync::{oneshot, watch},
    time::timeout,
};

/// What a world is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// To carry out an act.
    Perform,
    /// Whether it has carried out an act.
    BecameOf,
    /// A question, which changes nothing.
    Observe,
}

/// Something that an assistant wants of its world.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldRequest {
    /// Larger than the number of every earlier request.
    pub number: u64,
    /// The key of the act, or a name for the question. The world answers under it.
    pub id: String,
    /// What is asked.
    pub kind: RequestKind,
    /// Who asks.
    pub assistant: AssistantId,
    /// The act or the question; absent if the world is asked what became of an act.
    pub call: Option<Effect>,
    /// Whether it was handed out before, so the world may have carried it out already.
    pub is_again: bool,
}

/// The answer to a request that is open.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    Decided(Outcome),
    NeverSeen,
    Unknown,
}

/// The requests that are open, in memory: after a restart assistants ask again.
pub(super) struct Outbox {
    open: Mutex<Open>,
    /// The number of the newest request.
    newest: watch::Sender<u64>,
}

#[derive(Default)]
struct Open {
    last: u64,
    requests: BTreeMap<u64, Waiting>,
    /// How long each tool may take.
    patience: BTreeMap<ToolName, Duration>,
}

struct Waiting {
    request: WorldRequest,
    verdict: Option<oneshot::Sender<Verdict>>,
}

/// Why a request was not answered.
enum Silence {
    /// The world has not read the request.
    NotRead,
    /// The world has read it.
    NotAnswered,
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("newest", &*self.newest.borrow())
            .finish_non_exhaustive()
    }
}

impl Outbox {
    /// An outbox whose requests have larger numbers than `after`.
    pub(super) fn new(after: u64) -> Self {
        Self {
            open: Mutex::new(Open {
                last: after,
                ..Open::default()
            }),
            newest: watch::Sender::new(after),
        }
    }

    /// Notes how long the calls of these tools may take.
    pub(super) fn note_patience(&self, tools: &[ToolSpec]) {
        let patience = tools.iter().map(|tool| (tool.name.clone(), tool.timeout));
        self.lock().patience = patience.collect();
    }

    pub(super) fn open_after(
        &self,
        after: u64,
        is_wanted: impl Fn(&AssistantId) -> bool,
    ) -> Vec<WorldRequest> {
        let mut open = self.lock();
        // A number that was never given out is from before the clock was set back. Then every request counts as newer.
        let after = if after > open.last { 0 } else { after };
        let newer = open.requests.range_mut(after.saturating_add(1)..);
        let wanted = newer.filter(|(_, it)| is_wanted(&it.request.assistant));
        let hand_out = |(_, waiting): (&u64, &mut Waiting)| {
            let request = waiting.request.clone();
            waiting.request.is_again = true;
            request
        };
        wanted.map(hand_out).collect()
    }

    pub(super) async fn await_after(
        &self,
        after: u64,
        is_wanted: impl Fn(&AssistantId) -> bool,
    ) -> Vec<WorldRequest> {
        // Subscribes before it reads the requests, so that no request in between is missed.
        let mut newest = self.newest.subscribe();
        loop {
            let found = self.open_after(after, &is_wanted);
            // The sender is a part of `self`, so waiting for a change does not fail.
            if !found.is_empty() || newest.changed().await.is_err() {
                return found;
            }
        }
    }

    /// The assistant and the kind of the request with this id, if it is open.
    pub(super) fn asker(&self, id: &str) -> Option<(AssistantId, RequestKind)> {
        let open = self.lock();
        let mut requests = open.requests.values().map(|it| &it.request);
        let found = requests.find(|request| request.id == id)?;
        Some((found.assistant.clone(), found.kind))
    }

    /// Answers what is open under this id.
    pub(super) fn settle(&self, id: &str, verdict: Verdict) {
        let mut open = self.lock();
        let mut waiting = open.requests.values_mut();
        if let Some(found) = waiting.find(|it| it.request.id == id)
            && let Some(sender) = found.verdict.take()
        {
            // The assistant may have stopped waiting.
            drop(sender.send(verdict));
        }
    }

    /// Puts a request to the world, and waits for its answer.
    async fn ask(
        &self,
        kind: RequestKind,
        id: Option<&EffectKey>,
        assistant: AssistantId,
        call: Option<Effect>,
    ) -> Result<Verdict, Silence> {
        let (sender, receiver) = oneshot::channel();
        let (number, patience) = {
            let mut open = self.lock();
            open.last += 1;
            let number = open.last;
            let tool = call.as_ref().and_then(|call| open.patience.get(&call.tool));
            let patience = tool.copied().unwrap_or(ToolSpec::DEFAULT_TIMEOUT);
            let id = id.map_or_else(|| format!("question-{number}"), ToString::to_string);
            let request = WorldRequest {
                number,
                id,
                kind,
                assistant,
                call,
                is_again: false,
            };
            let verdict = Some(sender);
            open.requests.insert(number, Waiting { request, verdict });
            (number, patience)
        };
        let place = Place {
            outbox: self,
            number,
        };
        self.newest.send_replace(number);
        match timeout(patience, receiver).await {
            Ok(Ok(verdict)) => Ok(verdict),
            Ok(Err(_)) | Err(_) => Err(place.silence()),
        }
    }

    /// No change under the lock can be left half done, so a poisoned lock does not matter.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is open for as long as somebody waits for its answer.
struct Place<'a> {
    outbox: &'a Outbox,
    number: u64,
}

impl Place<'_> {
    fn silence(&self) -> Silence {
        // Removed under the same lock: what counts as not read must not be read afterwards.
        let waiting = self.outbox.lock().requests.remove(&self.number);
        match waiting.is_some_and(|it| it.request.is_again) {
            true => Silence::NotAnswered,
            false => Silence::NotRead,
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.outbox.lock().requests.remove(&self.number);
    }
}

impl From<Silence> for WorldError {
    fn from(silence: Silence) -> Self {
        let (kind, why) = match silence {
            Silence::NotRead => (
                WorldErrorKind::NotReached,
                "the world has not read the request",
            ),
            Silence::NotAnswered => (
                WorldErrorKind::Unanswered,
                "the world has read the request and has not answered it",
            ),
        };
        Self::new(kind, Some(why.into()))
    }
}

impl Game for Outbox {
    async fn perform(&self, _: &EntityId, effect: &Effect) -> Result<Performed, WorldError> {
        let (key, assistant) = (&effect.key, effect.actor.clone());
        let call = Some(effect.clone());
        let asked = self.ask(RequestKind::Perform, Some(key), assistant, call);
        let outcome = match asked.await? {
            Verdict::Decided(outcome) => outcome,
            Verdict::Unknown => Outcome::Unknown,
            Verdict::NeverSeen => {
                let why = "the world says that it has not seen the act";
                return Err(WorldError::new(
                    WorldErrorKind::NotReached,
                    Some(why.into()),
                ));
            }
        };
        // The perceptions of the act were stored together with the answer.
        let reports = Vec::new();
        Ok(Performed { outcome, reports })
    }

    async fn became_of(&self, key: &EffectKey) -> Result<EffectInquiry, WorldError> {
        let Some(assistant) = key.actor() else {
            return Ok(EffectInquiry::CannotTell);
        };
        let asked = self.ask(RequestKind::BecameOf, Some(key), assistant, None);
        Ok(match asked.await? {
            Verdict::Decided(outcome) => Some(outcome).into(),
            Verdict::NeverSeen => EffectInquiry::NeverSeen,
            Verdict::Unknown => EffectInquiry::CannotTell,
        })
    }

    async fn observe(&self, query: &Query) -> Result<Result<Value, Rejection>, WorldError> {
        let Query {
            actor,
            tool,
            arguments,
        } = query.clone();
        // A question is sent in the form of an act; its key is not used.
        let key = EffectKey::try_new("question");
        let call = key.ok().map(|key| Effect {
            key,
            actor,
            tool,
            arguments,
            reply_to: None,
            within: None,
        });
        let asked = self.ask(RequestKind::Observe, None, query.actor.clone(), call);
        match asked.await? {
            Verdict::Decided(Outcome::Done(receipt)) => Ok(Ok(receipt.detail)),
            Verdict::Decided(Outcome::Rejected(rejection)) => Ok(Err(rejection)),
            Verdict::Decided(Outcome::Unknown) | Verdict::Unknown | Verdict::NeverSeen => {
                Err(Silence::NotAnswered.into())
            }
        }
    }
}
