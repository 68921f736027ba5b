//! Telling the player what their character perceives.

use dormouse_contracts::{EntityId, Perception};
use dormouse_sandbox::{FeedError, Sandbox};
use tokio::sync::watch;

use crate::{
    compose::Household,
    item::{Item, World},
    screen::Screen,
};

/// The player's character perceives nothing any more.
#[derive(Debug, thiserror::Error)]
#[error("the player's senses could not be read")]
pub(crate) struct WatchError(#[from] FeedError);

/// What the player perceives, printed once and then forgotten by the world.
///
/// What was not printed because the program ended comes at the next start, first thing.
#[derive(Debug)]
pub(crate) struct PlayerFeed {
    sandbox: Sandbox,
    observer: EntityId,
    screen: Screen,
    /// The last delivery that was handed to the screen.
    told: watch::Sender<u64>,
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
        };
        (feed, seen)
    }

    /// Tells until something fails. Dropping the future loses nothing and tells nothing twice.
    pub(crate) async fn run(&mut self) -> WatchError {
        loop {
            let told = *self.told.borrow();
            let perceived = self.sandbox.await_perceptions(&self.observer, told);
            let told = match perceived.await {
                Ok(perceived) => self.tell(&perceived).await,
                Err(error) => return error.into(),
            };
            match told {
                Ok(Told::All) => {}
                // Whoever notices that nobody reads ends the visit.
                Ok(Told::NobodyReads) => std::future::pending().await,
                Err(error) => return error,
            }
        }
    }

    /// Tells what is there, and does not wait for more.
    pub(crate) async fn drain(&mut self) -> Result<(), WatchError> {
        loop {
            let told = *self.told.borrow();
            let perceived = self.sandbox.perceptions(&self.observer, told, usize::MAX);
            let perceived = perceived.await?;
            if perceived.is_empty() || self.tell(&perceived).await? == Told::NobodyReads {
                return Ok(());
            }
        }
    }

    async fn tell(&mut self, perceived: &[Perception]) -> Result<Told, WatchError> {
        for perception in perceived {
            let Some(place) = self.screen.place().await else {
                return Ok(Told::NobodyReads);
            };
            place.send(Item::World(World::Perceived(perception.into())));
            self.told.send_replace(perception.attested.delivery.number);
        }
        let told = *self.told.borrow();
        self.sandbox.acknowledge(&self.observer, told).await?;
        Ok(Told::All)
    }
}

/// Whether there was somebody to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    All,
    /// What was not told comes at the next start.
    NobodyReads,
}
