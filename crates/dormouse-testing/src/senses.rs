//! The senses of a world in memory.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use dormouse_contracts::{
    Audience, BoxFuture, Delivery, EntityId, PERCEPTIONS_PAGE, Perception, Presence, SenseError,
    SenseErrorKind, Senses, WorldId,
};

use crate::{fault::Fault, perception::Perceive};

/// The feeds of a world in memory, which delivers what a test says and fails when a test says so.
///
/// A clone is another handle to the same feeds.
///
/// ```
/// use dormouse_contracts::{EntityId, Senses};
/// use dormouse_testing::{FakeSenses, Perceive};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (senses, me) = (FakeSenses::new(), EntityId::try_new("assistant:dormouse")?);
/// senses.enter(&me);
/// senses.deliver(&me, Perceive::whisper("Alice", "Are you awake?"));
/// let heard = senses.await_perceptions(&me, 0).await?;
/// assert_eq!(heard[0].words.as_claimed(), "Are you awake?");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct FakeSenses {
    id: WorldId,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    feeds: BTreeMap<EntityId, Feed>,
    failing: Fault<SenseErrorKind>,
    waiting: Vec<Waker>,
}

#[derive(Debug, Default)]
struct Feed {
    made: u64,
    acknowledged: u64,
    kept: Vec<Perception>,
}

impl Default for FakeSenses {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeSenses {
    /// A world without observers. Its id is that of the perceptions that [`Perceive`] builds.
    #[must_use]
    pub fn new() -> Self {
        let id = Perceive::emit("x").build().attested.delivery.world;
        Self {
            id,
            state: Arc::default(),
        }
    }

    /// Lets an observer enter. Does nothing if it is there already.
    pub fn enter(&self, observer: &EntityId) {
        let mut state = self.state();
        state.feeds.entry(observer.clone()).or_default();
    }

    /// Delivers a perception to an observer that is there, with the next number.
    ///
    /// # Panics
    ///
    /// If the observer is not there.
    pub fn deliver(&self, observer: &EntityId, perceive: Perceive) -> Delivery {
        let mut state = self.state();
        let feed = state.feeds.get_mut(observer).unwrap();
        feed.made += 1;
        let perception = perceive.number(feed.made).build();
        let delivery = perception.attested.delivery.clone();
        feed.kept.push(perception);
        let waiting = std::mem::take(&mut state.waiting);
        // A waker may poll at once, so the lock is released first.
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        delivery
    }

    /// Makes the next `count` calls fail with `kind`.
    pub fn fail_next(&self, count: usize, kind: SenseErrorKind) {
        self.state().failing = Fault::next(count, kind);
    }

    /// The number up to which an observer has acknowledged.
    #[must_use]
    pub fn acknowledged(&self, observer: &EntityId) -> u64 {
        let state = self.state();
        state.feeds.get(observer).map_or(0, |it| it.acknowledged)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(
        &self,
        observer: &EntityId,
        ask: impl FnOnce(&mut Feed) -> T,
    ) -> Result<T, SenseError> {
        let mut state = self.state();
        let failed = |kind| SenseError::new(kind, Some("the test says so".into()));
        state.failing.strike().map_err(failed)?;
        let feed = state.feeds.get_mut(observer);
        let absent = || SenseError::new(SenseErrorKind::NotPresent, None);
        feed.map(ask).ok_or_else(absent)
    }

    fn page(
        &self,
        observer: &EntityId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Perception>, SenseError> {
        self.ask(observer, |feed| {
            let new = |it: &&Perception| it.attested.delivery.number > after;
            let page = limit.min(PERCEPTIONS_PAGE);
            feed.kept.iter().filter(new).take(page).cloned().collect()
        })
    }

    fn poll_page(
        &self,
        cx: &Context<'_>,
        observer: &EntityId,
        after: u64,
    ) -> Poll<Result<Vec<Perception>, SenseError>> {
        // The waker is stored before the feed is read, so that no delivery in between is missed.
        self.state().waiting.push(cx.waker().clone());
        match self.page(observer, after, PERCEPTIONS_PAGE) {
            Ok(page) if page.is_empty() => Poll::Pending,
            answer => Poll::Ready(answer),
        }
    }
}

impl Senses for FakeSenses {
    fn id(&self) -> &WorldId {
        &self.id
    }

    fn perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move { self.page(observer, after, limit) })
    }

    fn await_perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(poll_fn(move |cx| self.poll_page(cx, observer, after)))
    }

    fn acknowledge<'a>(
        &'a self,
        observer: &'a EntityId,
        up_to: u64,
    ) -> BoxFuture<'a, Result<(), SenseError>> {
        Box::pin(async move {
            self.ask(observer, |feed| {
                feed.acknowledged = up_to.min(feed.made).max(feed.acknowledged);
                let done = feed.acknowledged;
                feed.kept.retain(|it| it.attested.delivery.number > done);
            })
        })
    }

    fn last_delivery<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<u64, SenseError>> {
        Box::pin(async move { self.ask(observer, |feed| feed.made) })
    }

    fn presence<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<Presence, SenseError>> {
        Box::pin(async move {
            self.ask(observer, |_| ())?;
            let everybody = self.state().feeds.keys().cloned().collect::<Vec<_>>();
            Ok(Presence {
                place: None,
                audience: Audience::of(everybody),
            })
        })
    }
}
