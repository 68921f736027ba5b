//! The feed of one observer: its perceptions in order, until it acknowledges them.

use std::ops::Bound;

use dormouse_contracts::{
    Audience, BoxFuture, EntityId, PERCEPTIONS_PAGE, Perception, Presence, SenseError,
    SenseErrorKind, Senses, WorldError, WorldId,
};
use tokio::sync::watch;

use crate::{
    decide::place,
    records::{FEEDS, StoreError},
    request::ActorGone,
    sandbox::Sandbox,
    world::{MemoryView, WorldView},
};

/// Only characters that joined have a feed; non-player characters have none.
#[derive(Debug, thiserror::Error)]
#[error("{0} has not joined this world")]
struct NotJoined(EntityId);

impl Senses for Sandbox {
    /// It is created with the world and stored in its file.
    fn id(&self) -> &WorldId {
        self.world_id()
    }

    fn perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move {
            let asked = observer.clone();
            let head = self.look_at_feed(observer, move |view| Ok(head(&view, &asked)));
            // A reader that has everything looks once more before it waits.
            if head.await? <= after {
                return Ok(Vec::new());
            }
            self.read_feed(observer, after, limit.min(PERCEPTIONS_PAGE))
                .await
        })
    }

    fn await_perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move {
            // Boxed: a long wait does not keep the memory that only the beginning needs.
            let mut head = Box::pin(self.follow(observer)).await?;
            loop {
                head.borrow_and_update();
                let perceived = self.perceptions(observer, after, PERCEPTIONS_PAGE).await?;
                if !perceived.is_empty() {
                    return Ok(perceived);
                }
                head.changed().await.map_err(|_closed| {
                    SenseError::new(SenseErrorKind::Unavailable, Some(ActorGone.into()))
                })?;
            }
        })
    }

    /// The entries are removed from the file with the next change of the world, or when its last handle is dropped. A feed
    /// that is never acknowledged is kept completely, at any length.
    fn acknowledge<'a>(
        &'a self,
        observer: &'a EntityId,
        up_to: u64,
    ) -> BoxFuture<'a, Result<(), SenseError>> {
        let asked = observer.clone();
        let done = move |view: MemoryView<'_>| {
            let head = head(&view, &asked);
            view.readers.acknowledge(&asked, up_to.min(head));
            Ok(())
        };
        Box::pin(self.look_at_feed(observer, done))
    }

    /// Answered in order: behind the answers to everything that was asked before.
    fn last_delivery<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<u64, SenseError>> {
        Box::pin(async move {
            let asked = observer.clone();
            let head = self.ask(move |view| {
                let view = view.memory;
                Ok(perceives(&view, &asked).then(|| head(&view, &asked)))
            });
            of_joined(observer, head.await)
        })
    }

    fn presence<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<Presence, SenseError>> {
        let asked = observer.clone();
        Box::pin(self.look_at_feed(observer, move |view| Ok(presence(&view, &asked))))
    }
}

impl Sandbox {
    async fn follow(&self, observer: &EntityId) -> Result<watch::Receiver<u64>, SenseError> {
        let asked = observer.clone();
        let follow = move |view: MemoryView<'_>| {
            let head = head(&view, &asked);
            Ok(view.readers.follow(&asked, head))
        };
        self.look_at_feed(observer, follow).await
    }

    /// Looks at the feed of an observer that has joined, as far as it is in memory.
    async fn look_at_feed<T: Send + 'static>(
        &self,
        observer: &EntityId,
        question: impl FnOnce(MemoryView<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, SenseError> {
        let asked = observer.clone();
        let answer = self.look(move |view| {
            let is_here = perceives(&view, &asked);
            is_here.then(|| question(view)).transpose()
        });
        of_joined(observer, answer.await)
    }

    /// Reads the feed of an observer that has joined, from the file.
    async fn read_feed(
        &self,
        observer: &EntityId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Perception>, SenseError> {
        let asked = observer.clone();
        let answer = self.ask(move |view| {
            let is_here = perceives(&view.memory, &asked);
            is_here
                .then(|| read(&view, &asked, after, limit))
                .transpose()
        });
        of_joined(observer, answer.await)
    }
}

fn perceives(view: &MemoryView<'_>, observer: &EntityId) -> bool {
    let found = view.world.roster.find(observer);
    found.is_some_and(|one| one.perceives())
}

/// The answer to an observer, if it has joined.
fn of_joined<T>(
    observer: &EntityId,
    answer: Result<Option<T>, WorldError>,
) -> Result<T, SenseError> {
    let unavailable =
        |error: WorldError| SenseError::new(SenseErrorKind::Unavailable, Some(error.into()));
    answer.map_err(unavailable)?.ok_or_else(|| {
        let cause = NotJoined(observer.clone());
        SenseError::new(SenseErrorKind::NotPresent, Some(cause.into()))
    })
}

/// The room of a character, and everybody there who perceives.
fn presence(view: &MemoryView<'_>, observer: &EntityId) -> Presence {
    let roster = &view.world.roster;
    let Some(present) = roster.find(observer) else {
        return Presence::default();
    };
    let others = roster.others_in(present.room, observer);
    let others = others
        .filter(|(_, other)| other.is_attending())
        .map(|(id, _)| id.clone());
    Presence {
        place: place(present.room),
        audience: Audience::of(others.chain([observer.clone()])),
    }
}

/// The number of the last delivery to an observer.
fn head(view: &MemoryView<'_>, observer: &EntityId) -> u64 {
    (view.world.roster.find(observer)).map_or(0, |one| one.delivered)
}

fn read(
    view: &WorldView<'_>,
    observer: &EntityId,
    after: u64,
    limit: usize,
) -> Result<Vec<Perception>, StoreError> {
    let after = after.max(view.memory.readers.done_by(observer));
    let reading = view.database.begin_read()?;
    let feeds = reading.open_table(FEEDS)?;
    let (first, last) = ((observer.as_str(), after), (observer.as_str(), u64::MAX));
    feeds
        .range::<(&str, u64)>((Bound::Excluded(first), Bound::Included(last)))?
        .take(limit)
        .map(|entry| Ok(serde_json::from_str(entry?.1.value())?))
        .collect()
}
