//! The feed of one observer: its perceptions in order, until it acknowledges them.

use std::ops::Bound;

use dormouse_contracts::{EntityId, Perception, WorldError, WorldErrorKind};
use tokio::sync::watch;

use crate::{
    records::{FEEDS, StoreError},
    request::ActorGone,
    sandbox::Sandbox,
    world::WorldView,
};

/// The most perceptions per call.
pub const FEED_PAGE: usize = 256;

/// Why a feed cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// Only characters that joined have a feed; non-player characters have none.
    #[error("{observer} has not joined this world")]
    NotJoined {
        /// The requested observer.
        observer: EntityId,
    },
    /// The world could not be reached.
    #[error("the feed could not be read")]
    World(#[source] WorldError),
}

impl Sandbox {
    /// Returns what `observer` perceived after number `after`, oldest first: at most `limit` and at most [`FEED_PAGE`]
    /// entries. Acknowledged entries are left out.
    ///
    /// Only reads; dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// - [`FeedError::NotJoined`]: the observer has no feed.
    /// - [`FeedError::World`]: the file could not be read; nothing is lost, and a retry may succeed.
    pub async fn perceptions(
        &self,
        observer: &EntityId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Perception>, FeedError> {
        let asked = observer.clone();
        let page = limit.min(FEED_PAGE);
        self.ask_feed(observer, move |view| read(&view, &asked, after, page))
            .await
    }

    /// Waits until `observer` perceives something after number `after`, and returns it like [`Sandbox::perceptions`].
    /// Waits without a time limit. Dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::perceptions`].
    pub async fn await_perceptions(
        &self,
        observer: &EntityId,
        after: u64,
    ) -> Result<Vec<Perception>, FeedError> {
        let mut head = self.follow(observer).await?;
        loop {
            head.borrow_and_update();
            let perceived = self.perceptions(observer, after, FEED_PAGE).await?;
            if !perceived.is_empty() {
                return Ok(perceived);
            }
            head.changed().await.map_err(|_closed| {
                FeedError::World(WorldError::new(
                    WorldErrorKind::NotReached,
                    Some(ActorGone.into()),
                ))
            })?;
        }
    }

    /// Acknowledges the perceptions of `observer` up to this number, so that the world may forget them. A number past
    /// the last entry counts as the last. The entries are removed from the file with the next change of the world, or
    /// when its last handle is dropped. After a crash before that they reappear with the same numbers, so remember the
    /// last number you processed. A feed that is never acknowledged is kept completely, at any length.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::perceptions`].
    pub async fn acknowledge(&self, observer: &EntityId, up_to: u64) -> Result<(), FeedError> {
        let asked = observer.clone();
        let done = move |view: WorldView<'_>| {
            let head = head(&view, &asked);
            view.readers.acknowledge(&asked, up_to.min(head));
            Ok(())
        };
        self.ask_feed(observer, done).await
    }

    /// Returns the number of the last delivery to `observer`, including acknowledged ones; 0 without any. Numbers only
    /// grow, so a caller that remembers a larger one knows that the file was restored from an earlier state.
    ///
    /// Only reads; dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::perceptions`]; [`FeedError::NotJoined`] also means that the observer is new to this world.
    pub async fn last_delivery(&self, observer: &EntityId) -> Result<u64, FeedError> {
        let asked = observer.clone();
        self.ask_feed(observer, move |view| Ok(head(&view, &asked)))
            .await
    }

    async fn follow(&self, observer: &EntityId) -> Result<watch::Receiver<u64>, FeedError> {
        let asked = observer.clone();
        let follow = move |view: WorldView<'_>| {
            let head = head(&view, &asked);
            Ok(view.readers.follow(&asked, head))
        };
        self.ask_feed(observer, follow).await
    }

    /// Asks about the feed of an observer that has joined.
    async fn ask_feed<T: Send + 'static>(
        &self,
        observer: &EntityId,
        ask: impl FnOnce(WorldView<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, FeedError> {
        let asked = observer.clone();
        let answer = self.ask(move |view| {
            let joined = view
                .world
                .roster
                .find(&asked)
                .is_some_and(|one| one.perceives());
            joined.then(|| ask(view)).transpose()
        });
        answer
            .await
            .map_err(FeedError::World)?
            .ok_or_else(|| FeedError::NotJoined {
                observer: observer.clone(),
            })
    }
}

/// The number of the last delivery to an observer.
fn head(view: &WorldView<'_>, observer: &EntityId) -> u64 {
    (view.world.roster.find(observer)).map_or(0, |one| one.delivered)
}

fn read(
    view: &WorldView<'_>,
    observer: &EntityId,
    after: u64,
    limit: usize,
) -> Result<Vec<Perception>, StoreError> {
    let after = after.max(view.readers.done_by(observer));
    let reading = view.database.begin_read()?;
    let feeds = reading.open_table(FEEDS)?;
    let (first, last) = ((observer.as_str(), after), (observer.as_str(), u64::MAX));
    feeds
        .range::<(&str, u64)>((Bound::Excluded(first), Bound::Included(last)))?
        .take(limit)
        .map(|entry| Ok(serde_json::from_str(entry?.1.value())?))
        .collect()
}
