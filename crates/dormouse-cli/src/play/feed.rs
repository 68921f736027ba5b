//! Printing what the player's character perceives.

use dormouse_contracts::{EntityId, Perception, SenseError, Senses};
use dormouse_host::{PATIENCE, pause};
use dormouse_sandbox::Sandbox;
use tokio::{select, sync::watch, time::sleep};

use super::visited::Visited;
use crate::{
    item::{Item, Sight, World},
    screen::Screen,
};

/// The player's character no longer perceives anything.
#[derive(Debug, thiserror::Error)]
#[error("the player's senses could not be read")]
pub(crate) struct WatchError(#[from] SenseError);

/// The perceptions of the player. The world forgets each only after it was printed.
///
/// Perceptions that were not printed, because the program ended or nobody read the output, are printed at the next
/// start, before anything else. The world records what it may forget together with its next change, or when it is
/// closed. So after a kill the last lines are printed once more; they are marked as earlier than this visit.
#[derive(Debug)]
pub(crate) struct PlayerFeed {
    sandbox: Sandbox,
    observer: EntityId,
    screen: Screen,
    /// The last delivery before this visit.
    before: u64,
    /// The last delivery that was handed to the screen, or skipped.
    shown: watch::Sender<u64>,
    /// The last delivery that was queued at the screen.
    handed: u64,
    /// The last delivery that was printed.
    printed: watch::Sender<u64>,
}

impl PlayerFeed {
    /// The feed of the host's player. It must be opened before the player does anything.
    pub(crate) async fn open(
        visited: &Visited,
        screen: &Screen,
    ) -> Result<(Self, watch::Receiver<u64>), WatchError> {
        let before = visited.sandbox.last_delivery(&visited.player.id).await?;
        let (shown, seen) = watch::channel(0);
        let feed = Self {
            sandbox: visited.sandbox.clone(),
            observer: visited.player.id.clone(),
            screen: screen.clone(),
            before,
            shown,
            handed: 0,
            printed: watch::Sender::new(0),
        };
        Ok((feed, seen))
    }

    /// Prints until the world fails for good. Dropping the future loses nothing and prints nothing twice.
    pub(crate) async fn run(&mut self) -> WatchError {
        let mut failures = 0;
        loop {
            match self.show_next().await {
                Ok(Shown::All) => failures = 0,
                // Another task notices that nobody reads the output, and ends the visit.
                Ok(Shown::NobodyReads) => std::future::pending().await,
                Err(error) if failures >= PATIENCE => return error,
                Err(error) => {
                    tracing::warn!(%error, "the player's senses could not be read; trying again");
                    sleep(pause(failures)).await;
                    failures += 1;
                }
            }
        }
    }

    async fn show_next(&mut self) -> Result<Shown, WatchError> {
        let last = *self.shown.borrow();
        let perceived = self.sandbox.await_perceptions(&self.observer, last);
        let perceived = perceived.await?;
        let shown = self.show(&perceived).await;
        self.forget_printed().await?;
        Ok(shown)
    }

    /// Prints what is available, and does not wait for more.
    pub(crate) async fn drain(&mut self) -> Result<(), WatchError> {
        loop {
            let last = *self.shown.borrow();
            let perceived = self.sandbox.perceptions(&self.observer, last, usize::MAX);
            let perceived = perceived.await?;
            if perceived.is_empty() || self.show(&perceived).await == Shown::NobodyReads {
                return self.forget_printed().await;
            }
        }
    }

    /// Hands perceptions to the screen. Skips those whose words were forgotten.
    async fn show(&mut self, perceived: &[Perception]) -> Shown {
        for perception in perceived {
            let number = perception.attested.delivery.number;
            if perception.words.is_forgotten() {
                self.shown.send_replace(number);
                continue;
            }
            let Some(place) = self.screen.place().await else {
                return Shown::NobodyReads;
            };
            let mut sight = Sight::from(perception);
            sight.earlier = number <= self.before;
            let item = Item::World(World::Perceived(sight));
            place.send_noting(item, &self.printed, number);
            self.handed = number;
            self.shown.send_replace(number);
        }
        Shown::All
    }

    /// Lets the world forget what was handed to the screen, once it is printed. If nobody reads any more, the world
    /// forgets only what was printed before.
    async fn forget_printed(&self) -> Result<(), WatchError> {
        let last = *self.shown.borrow();
        let mut seen = self.printed.subscribe();
        select! {
            biased;
            // In both cases the number is checked below.
            _ = seen.wait_for(|printed| *printed >= self.handed) => {}
            () = self.screen.over() => {}
        }
        let printed = *self.printed.borrow();
        let printed = if printed >= self.handed {
            last
        } else {
            printed
        };
        if printed > 0 {
            self.sandbox.acknowledge(&self.observer, printed).await?;
        }
        Ok(())
    }
}

/// Whether everything was handed to the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    All,
    /// The rest is printed at the next start.
    NobodyReads,
}
