//! A game as a world that assistants live in.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock, Weak},
};

use dormouse_contracts::{
    AdmitError, AssistantId, BoxFuture, Effect, EffectInquiry, EffectKey, EntityId, Habitat,
    Inquire, Landmarks, Observe, Outcome, Perception, Perform, Presence, Query, Rejection,
    SenseError, Senses, ToolName, ToolReach, ToolSource, ToolSpec, WorldError, WorldErrorKind,
    WorldId,
};
use serde_json::Value;
use tokio::{sync::oneshot, task::JoinSet};

use crate::{
    file::BridgeFile,
    game::{Game, Performed},
    queue::DeliveryQueue,
    receipts::{Begun, Receipts},
};

/// A [`Game`] with a [`DeliveryQueue`] and [`Receipts`], which is a world that assistants live in.
///
/// Each act is carried out at most once. The bridge records it as begun, lets the game carry it out, and then records
/// its outcome together with the perceptions of it. Acts under different keys run at the same time. Assistants enter
/// when they wake; other observers enter by [`DeliveryQueue::enter`].
pub struct Bridge<G> {
    inner: Arc<Inner<G>>,
    tools: RwLock<Vec<ToolSpec>>,
    /// The acts under way. They go on when their callers stop waiting.
    tasks: Mutex<JoinSet<()>>,
}

struct Inner<G> {
    game: G,
    queue: DeliveryQueue,
    receipts: Receipts,
    /// One lock for each key in use.
    keys: Mutex<HashMap<EffectKey, Weak<tokio::sync::Mutex<()>>>>,
}

impl<G> fmt::Debug for Bridge<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("queue", &self.inner.queue)
            .finish_non_exhaustive()
    }
}

impl<G> Bridge<G> {
    /// The game, with the tools that it offers to assistants.
    #[must_use]
    pub fn new(game: G, tools: Vec<ToolSpec>, file: &BridgeFile) -> Self {
        let inner = Inner {
            game,
            queue: file.queue(),
            receipts: file.receipts(),
            keys: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
            tools: RwLock::new(tools),
            tasks: Mutex::default(),
        }
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.inner.game
    }

    /// Offers these tools from now on, in place of those before. An assistant that is awake keeps its list until it wakes
    /// again; calls of tools that are gone are refused.
    pub fn offer(&self, tools: Vec<ToolSpec>) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    /// The file of deliveries and receipts.
    #[must_use]
    pub fn file(&self) -> &BridgeFile {
        self.inner.receipts.file()
    }

    /// Where the game reports what happens.
    #[must_use]
    pub fn queue(&self) -> &DeliveryQueue {
        &self.inner.queue
    }
}

impl<G> Inner<G> {
    /// The lock of a key. It is removed once nobody holds it.
    fn key(&self, key: &EffectKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, held| held.strong_count() > 0);
        if let Some(held) = keys.get(key).and_then(Weak::upgrade) {
            return held;
        }
        let held = Arc::default();
        keys.insert(key.clone(), Arc::downgrade(&held));
        held
    }
}

impl<G: Game> Inner<G> {
    async fn perform(&self, actor: &EntityId, effect: &Effect) -> Result<Outcome, WorldError> {
        let key = self.key(&effect.key);
        let _alone = key.lock().await;
        match self.receipts.begin(effect).await? {
            Begun::Known(outcome) => return Ok(outcome),
            Begun::New => {}
            Begun::Open => match self.settle(&effect.key).await? {
                EffectInquiry::Done(receipt) => return Ok(Outcome::Done(receipt)),
                EffectInquiry::Rejected(rejection) => return Ok(Outcome::Rejected(rejection)),
                EffectInquiry::CannotTell => return Err(unanswered()),
                EffectInquiry::NeverSeen => {}
            },
        }
        let Performed { outcome, reports } = match self.game.perform(actor, effect).await {
            Ok(performed) => performed,
            Err(error) if error.kind() == WorldErrorKind::NotReached => {
                self.receipts.cancel(&effect.key).await?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        match outcome {
            Outcome::Unknown => Err(unanswered()),
            decided => self.receipts.finish(&effect.key, decided, reports).await,
        }
    }

    /// Asks the game what became of an act that was begun and has no outcome. A definite answer is stored.
    async fn settle(&self, key: &EffectKey) -> Result<EffectInquiry, WorldError> {
        let outcome = match self.game.became_of(key).await? {
            EffectInquiry::Done(receipt) => Outcome::Done(receipt),
            EffectInquiry::Rejected(rejection) => Outcome::Rejected(rejection),
            unsettled => return Ok(unsettled),
        };
        let stored = self.receipts.finish(key, outcome, Vec::new()).await?;
        Ok(Some(stored).into())
    }
}

impl<G> Bridge<G> {
    /// Why a call of this tool is refused; `None` if the game has such a tool with this reach.
    fn refusal(&self, name: &ToolName, reach: ToolReach) -> Option<Rejection> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let is_known = tools
            .iter()
            .any(|tool| tool.name == *name && tool.reach == reach);
        (!is_known).then(|| {
            Rejection::new(format!(
                "the tool \"{name}\" cannot be used in this way in this game"
            ))
        })
    }
}

fn unanswered() -> WorldError {
    WorldError::new(WorldErrorKind::Unanswered, None)
}

impl<G: Game> Perform for Bridge<G> {
    /// The act goes on if the future is dropped, so that its outcome can be asked for. It is cancelled if the bridge is
    /// dropped.
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            let actor = match self.character(&effect.actor) {
                Ok(actor) => actor,
                Err(error) => return Ok(Outcome::Rejected(Rejection::new(error.to_string()))),
            };
            if let Some(rejection) = self.refusal(&effect.tool, ToolReach::Effect) {
                return Ok(Outcome::Rejected(rejection));
            }
            let (inner, effect) = (Arc::clone(&self.inner), effect.clone());
            let (reply, answer) = oneshot::channel();
            {
                let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
                // Removes the tasks that have ended; their callers have the answers.
                while tasks.try_join_next().is_some() {}
                tasks.spawn(async move {
                    // The caller may have stopped waiting.
                    drop(reply.send(inner.perform(&actor, &effect).await));
                });
            }
            answer.await.unwrap_or_else(|_ended| Err(unanswered()))
        })
    }
}

impl<G: Game> Inquire for Bridge<G> {
    /// Waits for the act if it is under way.
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            let held = self.inner.key(&effect.key);
            let _alone = held.lock().await;
            match self.inner.receipts.inquire(effect).await? {
                EffectInquiry::CannotTell => self.inner.settle(&effect.key).await,
                known => Ok(known),
            }
        })
    }
}

impl<G: Game> Observe for Bridge<G> {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move {
            match self.refusal(&query.tool, ToolReach::Query) {
                Some(rejection) => Ok(Err(rejection)),
                None => self.inner.game.observe(query).await,
            }
        })
    }
}

impl<G: Game> Senses for Bridge<G> {
    fn id(&self) -> &WorldId {
        self.inner.queue.id()
    }

    fn perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        self.inner.queue.perceptions(observer, after, limit)
    }

    fn await_perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        self.inner.queue.await_perceptions(observer, after)
    }

    fn acknowledge<'a>(
        &'a self,
        observer: &'a EntityId,
        up_to: u64,
    ) -> BoxFuture<'a, Result<(), SenseError>> {
        self.inner.queue.acknowledge(observer, up_to)
    }

    fn last_delivery<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<u64, SenseError>> {
        self.inner.queue.last_delivery(observer)
    }

    fn presence<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<Presence, SenseError>> {
        Box::pin(async move {
            self.inner.queue.presence(observer).await?;
            Ok(self.inner.game.presence(observer).await)
        })
    }
}

impl<G: Game> ToolSource for Bridge<G> {
    fn specs(&self) -> Vec<ToolSpec> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.clone()
    }
}

impl<G: Game> Habitat for Bridge<G> {
    fn admit<'a>(
        &'a self,
        assistant: &'a AssistantId,
        _name: &'a str,
    ) -> BoxFuture<'a, Result<(), AdmitError>> {
        Box::pin(async move {
            let character = self.character(assistant)?;
            let admitted = self.inner.game.admits(&character);
            admitted.map_err(AdmitError::Refused)?;
            let entered = self.inner.queue.let_in(&character).await;
            entered.map_err(|error| AdmitError::World(error.into()))
        })
    }

    fn landmarks(&self) -> Landmarks {
        self.inner.game.landmarks()
    }

    fn has_acted<'a>(
        &'a self,
        assistant: &'a AssistantId,
    ) -> BoxFuture<'a, Result<bool, WorldError>> {
        Box::pin(self.inner.receipts.has_acted(assistant))
    }
}
