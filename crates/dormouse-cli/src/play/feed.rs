//! Telling the player what their character perceives.

use dormouse_contracts::{EntityId, Perception};
use dormouse_sandbox::{FeedError, Sandbox};
use tokio::{select, sync::watch, time::sleep};

use super::pump::{PATIENCE, pause};
use crate::{
    compose::Household,
    item::{Item, World},
    screen::Screen,
};

/// The player's character perceives nothing any more.
#[derive(Debug, thiserror::Error)]
#[error("the player's senses could not be read")]
pub(crate) struct WatchError(#[from] FeedError);

/// What the player perceives, printed once and forgotten by the world only after that.
///
/// What was not printed because the program ended, or because nobody read it, comes at the next start, first thing.
#[derive(Debug)]
pub(crate) struct PlayerFeed {
    sandbox: Sandbox,
    observer: EntityId,
    screen: Screen,
    /// The last delivery that was handed to the screen.
    told: watch::Sender<u64>,
    /// The last delivery that was printed.
    printed: watch::Sender<u64>,
}

impl PlayerFeed {
    /// The feed of the household's player.
    pub(crate) fn new(household: &Household, screen: &Screen) -> (Self, watch::Receiver<u64>) {
        let (told, seen) = watch::channel(0);
        let feed = Self {
            sandbox: household.sandbox.clone(),
            observer: household.player.id.clone(),
            screen: screen.clone(),
            told,
            printed: watch::Sender::new(0),
        };
        (feed, seen)
    }

    /// Tells until the world fails for good. Dropping the future loses nothing and tells nothing twice.
    pub(crate) async fn run(&mut self) -> WatchError {
        let mut failures = 0;
        loop {
            match self.tell_next().await {
                Ok(Told::All) => failures = 0,
                // Whoever notices that nobody reads ends the visit.
                Ok(Told::NobodyReads) => std::future::pending().await,
                Err(error) if failures >= PATIENCE => return error,
                Err(error) => {
                    tracing::warn!(%error, "the player's senses could not be read; trying again");
                    sleep(pause(failures)).await;
                    failures += 1;
                }
            }
        }
    }

    async fn tell_next(&mut self) -> Result<Told, WatchError> {
        let told = *self.told.borrow();
        let perceived = self.sandbox.await_perceptions(&self.observer, told);
        let perceived = perceived.await?;
        let told = self.tell(&perceived).await;
        self.forget_printed().await?;
        Ok(told)
    }

    /// Tells what is there, and does not wait for more.
    pub(crate) async fn drain(&mut self) -> Result<(), WatchError> {
        loop {
            let told = *self.told.borrow();
            let perceived = self.sandbox.perceptions(&self.observer, told, usize::MAX);
            let perceived = perceived.await?;
            if perceived.is_empty() || self.tell(&perceived).await == Told::NobodyReads {
                return self.forget_printed().await;
            }
        }
    }

    async fn tell(&mut self, perceived: &[Perception]) -> Told {
        for perception in perceived {
            let Some(place) = self.screen.place().await else {
                return Told::NobodyReads;
            };
            let number = perception.attested.delivery.number;
            let item = Item::World(World::Perceived(perception.into()));
            place.send_noting(item, &self.printed, number);
            self.told.send_replace(number);
        }
        Told::All
    }

    /// Lets the world forget what is told, once that is printed; where nobody reads any more, what was printed before.
    async fn forget_printed(&self) -> Result<(), WatchError> {
        let told = *self.told.borrow();
        let mut seen = self.printed.subscribe();
        select! {
            biased;
            // Either way the number is looked at below.
            _ = seen.wait_for(|printed| *printed >= told) => {}
            () = self.screen.over() => {}
        }
        let printed = *self.printed.borrow();
        if printed > 0 {
            self.sandbox.acknowledge(&self.observer, printed).await?;
        }
        Ok(())
    }
}

/// Whether there was somebody to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    All,
    /// What was not told comes at the next start.
    NobodyReads,
}
