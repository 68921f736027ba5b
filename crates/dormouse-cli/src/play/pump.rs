//! Hands the perceptions of the assistant from its world to the assistant, in order and without gaps.

use std::time::Duration;

use dormouse_contracts::{EntityId, Perception};
use dormouse_engine::{Accepted, Handle, PerceiveError};
use dormouse_sandbox::{FeedError, Sandbox};
use tokio::{sync::watch, time::sleep};

use crate::{
    compose::Host,
    item::{Item, Message},
    screen::Screen,
};

/// The pause before a failed operation is tried again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often in a row the world may fail to answer: about half a minute.
pub(super) const PATIENCE: u32 = 12;

/// The world no longer answers. Deliveries that were not accepted come again at the next start.
#[derive(Debug, thiserror::Error)]
#[error("the world did not answer for {PATIENCE} attempts")]
pub(crate) struct PumpError(#[source] FeedError);

/// The progress of the pump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pumped {
    /// The last delivery that was handled.
    pub(crate) done: u64,
    /// Whether the assistant accepts nothing at the moment.
    pub(crate) held: bool,
}

/// Moves perceptions. A message is printed as accepted only once it is on disk, and forgotten by the world only
/// after that.
#[derive(Debug)]
pub(crate) struct Pump {
    sandbox: Sandbox,
    handle: Handle,
    observer: EntityId,
    screen: Screen,
    progress: watch::Sender<Pumped>,
}

impl Pump {
    /// A pump that starts where the assistant's log ends.
    pub(crate) fn new(host: &Host, screen: &Screen) -> (Self, watch::Receiver<Pumped>) {
        let state = host.assistant.state();
        let done = state.delivered.last(host.sandbox.id()).unwrap_or_default();
        let (progress, pumped) = watch::channel(Pumped { done, held: false });
        let pump = Self {
            sandbox: host.sandbox.clone(),
            handle: host.handle.clone(),
            observer: host.resident.id.clone(),
            screen: screen.clone(),
            progress,
        };
        (pump, pumped)
    }

    /// Pumps until the assistant ends.
    pub(crate) async fn run(self) -> Result<(), PumpError> {
        loop {
            for perception in self.perceived().await? {
                if self.hand_over(perception).await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    async fn perceived(&self) -> Result<Vec<Perception>, PumpError> {
        let mut failures = 0;
        loop {
            let after = self.progress.borrow().done;
            match self.sandbox.await_perceptions(&self.observer, after).await {
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
        if let Some(message) = Message::new(&perception, &accepted) {
            self.screen.show(Item::Message(message)).await;
        }
        let number = perception.attested.delivery.number;
        self.progress.send_replace(Pumped {
            done: number,
            held: false,
        });
        if let Err(error) = self.sandbox.acknowledge(&self.observer, number).await {
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

/// The assistant has ended.
#[derive(Clone, Copy, Debug)]
struct Gone;

/// The pause after this many failures: doubled each time, up to the longest.
pub(super) fn pause(failures: u32) -> Duration {
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
