//! The feed of one observer: what it perceived, in order, until it says that it is done with it.

use std::ops::Bound;

use dormouse_contracts::{EntityId, Perception, WorldError, WorldErrorKind};
use tokio::sync::watch;

use crate::{
    Sandbox,
    keeper::View,
    records::{FEEDS, StoreError},
    request::KeeperGone,
};

/// The most perceptions one call answers.
pub const FEED_PAGE: usize = 256;

/// Why a feed cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// Only those who joined have a feed; residents have none.
    #[error("{observer} has not joined this world")]
    NotJoined {
        /// Whose feed was asked for.
        observer: EntityId,
    },
    /// The world could not be asked.
    #[error("the feed could not be read")]
    World(#[source] WorldError),
}

impl Sandbox {
    /// Answers what `observer` perceived after number `after`, oldest first: at most `limit` and at most
    /// [`FEED_PAGE`], so fewer than there are. What it has acknowledged is left out.
    ///
    /// Reads only; dropping the future does nothing.
    ///
    /// # Errors
    ///
    /// - [`FeedError::NotJoined`]: there is no such feed.
    /// - [`FeedError::World`]: the file could not be read; nothing is lost, trying again may succeed.
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

    /// Waits until `observer` has perceived something after number `after`, and answers it as
    /// [`Sandbox::perceptions`] does. Waits for as long as it takes. Dropping the future does nothing.
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
                    Some(KeeperGone.into()),
                ))
            })?;
        }
    }

    /// Lets the world forget what `observer` perceived up to this number. A number past the last one counts as
    /// the last. The entries leave the file with the next change to the world, or when its last handle is
    /// dropped; a crash before that brings them back, with the numbers they had, which harms nobody who remembers the last number it took in. A feed that
    /// is never acknowledged is kept whole, however long it gets: the world drops nothing it has not been told to.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::perceptions`].
    pub async fn acknowledge(&self, observer: &EntityId, up_to: u64) -> Result<(), FeedError> {
        let asked = observer.clone();
        let done = move |view: View<'_>| {
            let head = head(&view, &asked);
            view.readers.acknowledge(&asked, up_to.min(head));
            Ok(())
        };
        self.ask_feed(observer, done).await
    }

    /// Answers the number of the last delivery made to `observer`, acknowledged ones included; 0 if there was none.
    /// Numbers only grow, so whoever remembers a greater one knows that the file was put back to an earlier moment.
    ///
    /// Reads only; dropping the future does nothing.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::perceptions`]; [`FeedError::NotJoined`] also tells that a world is new to this observer.
    pub async fn last_delivery(&self, observer: &EntityId) -> Result<u64, FeedError> {
        let asked = observer.clone();
        self.ask_feed(observer, move |view| Ok(head(&view, &asked)))
            .await
    }

    async fn follow(&self, observer: &EntityId) -> Result<watch::Receiver<u64>, FeedError> {
        let asked = observer.clone();
        let follow = move |view: View<'_>| {
            let head = head(&view, &asked);
            Ok(view.readers.follow(&asked, head))
        };
        self.ask_feed(observer, follow).await
    }

    /// Asks about the feed of somebody who has one.
    async fn ask_feed<T: Send + 'static>(
        &self,
        observer: &EntityId,
        ask: impl FnOnce(View<'_>) -> Result<T, StoreError> + Send + 'static,
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

/// The number of the last delivery made to somebody.
fn head(view: &View<'_>, observer: &EntityId) -> u64 {
    (view.world.roster.find(observer)).map_or(0, |one| one.delivered)
}

fn read(
    view: &View<'_>,
    observer: &EntityId,
    after: u64,
    limit: usize,
) -> Result<Vec<Perception>, StoreError> {
    let after = after.max(view.readers.done_by(observer));
    let reading = view.world.database.begin_read()?;
    let feeds = reading.open_table(FEEDS)?;
    let (first, last) = ((observer.as_str(), after), (observer.as_str(), u64::MAX));
    feeds
        .range::<(&str, u64)>((Bound::Excluded(first), Bound::Included(last)))?
        .take(limit)
        .map(|entry| Ok(serde_json::from_str(entry?.1.value())?))
        .collect()
}
