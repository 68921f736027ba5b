//! Hands the perceptions of the assistant from its world to the assistant, in order and without gaps.

use std::{fmt, sync::Arc, time::Duration};

use dormouse_contracts::{
    BoxFuture, EntityId, Habitat, PERCEPTIONS_PAGE, Perception, Sender, SenseError,
};
use dormouse_engine::{Accepted, Handle, PerceiveError};
use tokio::{sync::watch, time::sleep};

/// Called with each accepted perception, before the world may forget it. The next perception is handed over when the
/// future completes.
pub type OnAccepted = Box<dyn Fn(&Perception, &Accepted) -> BoxFuture<'static, ()> + Send + Sync>;

/// The pause before a failed operation is tried again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How many times in a row the world may fail to answer. They take about half a minute.
pub const PATIENCE: u32 = 12;

/// The world no longer answers. Deliveries that were not accepted come again at the next start.
#[derive(Debug, thiserror::Error)]
#[error("the world did not answer {PATIENCE} attempts")]
pub struct PumpError(#[source] SenseError);

/// The progress of the pump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pumped {
    /// The last delivery that was handled.
    pub done: u64,
    /// Whether the assistant accepts nothing at the moment.
    pub held: bool,
}

/// Moves perceptions. A message is reported as accepted only once it is on disk, and forgotten by the world only
/// after that.
pub(crate) struct Pump {
    world: Arc<dyn Habitat>,
    handle: Handle,
    observer: EntityId,
    on_accepted: OnAccepted,
    progress: watch::Sender<Pumped>,
}

impl fmt::Debug for Pump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pump")
            .field("observer", &self.observer)
            .finish_non_exhaustive()
    }
}

impl Pump {
    /// A pump for what `observer` perceives in its world after the delivery `heard`.
    pub(crate) fn new(
        world: &Arc<dyn Habitat>,
        handle: &Handle,
        observer: &EntityId,
        heard: u64,
        on_accepted: OnAccepted,
    ) -> (Self, watch::Receiver<Pumped>) {
        let (progress, pumped) = watch::channel(Pumped {
            done: heard,
            held: false,
        });
        let pump = Self {
            world: Arc::clone(world),
            handle: handle.clone(),
            observer: observer.clone(),
            on_accepted,
            progress,
        };
        (pump, pumped)
    }

    /// Pumps until the assistant ends.
    ///
    /// # Errors
    ///
    /// [`PumpError`] if the world does not answer any more.
    pub(crate) async fn run(self) -> Result<(), PumpError> {
        loop {
            for perception in self.perceived(Wanted::More).await? {
                if self.hand_over(perception).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Hands over the next perception that the world holds, and returns whether there was one. If the assistant has
    /// ended, returns `false`.
    ///
    /// # Errors
    ///
    /// [`PumpError`] if the world does not answer.
    pub(crate) async fn hand_over_next(&self) -> Result<bool, PumpError> {
        let next = self.perceived(Wanted::Next).await?.pop();
        Ok(match next {
            Some(perception) => self.hand_over(perception).await.is_ok(),
            None => false,
        })
    }

    /// Waits until the world holds output of an act of the observer, and returns how many perceptions there are up to it. Its own
    /// words are no output: an act is settled without them, so they come at any time. Dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`PumpError`] if the world does not answer.
    pub(crate) async fn until_output(&self) -> Result<usize, PumpError> {
        let mut seen = self.progress.borrow().done;
        loop {
            let held = self.perceived(Wanted::All).await?;
            let is_output = |perception: &Perception| {
                let attested = &perception.attested;
                let is_own_word = attested.sender == Sender::Myself { marked: true };
                attested.cause.is_some() && !is_own_word
            };
            if let Some(last) = held.iter().rposition(is_output) {
                return Ok(last + 1);
            }
            let last = held.last().map(|it| it.attested.delivery.number);
            seen = seen.max(last.unwrap_or_default());
            self.perceived(Wanted::After(seen)).await?;
        }
    }

    async fn perceived(&self, wanted: Wanted) -> Result<Vec<Perception>, PumpError> {
        let mut failures = 0;
        loop {
            let after = self.progress.borrow().done;
            let perceived = match wanted {
                Wanted::More => self.world.await_perceptions(&self.observer, after),
                Wanted::After(seen) => self.world.await_perceptions(&self.observer, seen),
                Wanted::All => (self.world).perceptions(&self.observer, after, PERCEPTIONS_PAGE),
                Wanted::Next => self.world.perceptions(&self.observer, after, 1),
            };
            match perceived.await {
                Ok(perceived) => return Ok(perceived),
                Err(error) if failures >= PATIENCE => return Err(PumpError(error)),
                Err(error) => {
                    tracing::warn!(%error, "the assistant's senses could not be read; trying again")
                }
            }
            sleep(pause(failures)).await;
            failures += 1;
        }
    }

    /// Hands one perception over, and repeats that until it is accepted.
    async fn hand_over(&self, perception: Perception) -> Result<(), Gone> {
        let accepted = self.accepted(&perception).await?;
        (self.on_accepted)(&perception, &accepted).await;
        let number = perception.attested.delivery.number;
        self.progress.send_replace(Pumped {
            done: number,
            held: false,
        });
        if let Err(error) = self.world.acknowledge(&self.observer, number).await {
            // The assistant has it; the world keeps it a little longer.
            tracing::debug!(%error, "a delivery could not be acknowledged");
        }
        Ok(())
    }

    async fn accepted(&self, perception: &Perception) -> Result<Accepted, Gone> {
        let mut failures = 0;
        loop {
            match self.handle.perceive(perception.clone()).await {
                Ok(accepted) => return Ok(accepted),
                Err(PerceiveError::Gone) => return Err(Gone),
                // Perceptions are handed over one after the other, each until it is accepted. So this cannot happen; if
                // it does, waiting loses nothing.
                Err(error @ PerceiveError::Behind { .. }) if failures == 0 => {
                    tracing::error!(%error, "messages were handed over out of order");
                }
                // The assistant's status also reports this, and is shown.
                Err(error @ PerceiveError::Storage { .. }) => {
                    tracing::debug!(%error, "a message waits in the world");
                }
                Err(error) if failures == 0 => {
                    tracing::warn!(%error, "a message waits in the world")
                }
                Err(_) => {}
            }
            self.progress.send_modify(|pumped| pumped.held = true);
            sleep(pause(failures)).await;
            failures += 1;
        }
    }
}

/// A request to the world.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// All perceptions, as soon as there are any.
    More,
    /// All perceptions after this delivery, as soon as there are any.
    After(u64),
    /// All perceptions that there are now.
    All,
    /// The next perception, if there is one now.
    Next,
}

/// The assistant has ended.
#[derive(Clone, Copy, Debug)]
struct Gone;

/// The pause after this many failures: doubled each time, up to the longest.
#[must_use]
pub fn pause(failures: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(1 << failures.min(16))
        .min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_are_bounded() {
        assert_eq!(pause(0), Duration::from_millis(50));
        assert_eq!(pause(1), Duration::from_millis(100));
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
    }
}
