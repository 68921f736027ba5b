//! What the assistant's character perceives, on its way to the assistant.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use dormouse_contracts::{EntityId, Perception};
use dormouse_engine::{Accepted, Handle, PerceiveError};
use dormouse_sandbox::Sandbox;
use tokio::{sync::watch, time::sleep};

/// The pause after a delivery that was not accepted, or a world that did not answer.
const PAUSE: Duration = Duration::from_millis(200);
/// How many results are kept for those who wait for them.
const KEPT: usize = 1_024;

/// How far the deliveries were taken in.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// The last delivery that the assistant took in.
    last: u64,
    /// What became of the last ones, with their numbers.
    recent: VecDeque<(u64, Accepted)>,
    /// Why the next one was not accepted, if it was not.
    refused: Option<PerceiveError>,
}

impl Taken {
    /// Whether it is known what became of this delivery: it was taken in, or one before it or itself was not accepted.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.last >= number || self.refused.is_some()
    }

    pub(crate) fn refusal(&self) -> Option<&PerceiveError> {
        self.refused.as_ref()
    }

    /// What became of these deliveries, in order.
    pub(crate) fn accepted(&self, numbers: &BTreeSet<u64>) -> Vec<Accepted> {
        let these = self
            .recent
            .iter()
            .filter(|(number, _)| numbers.contains(number));
        these.map(|(_, accepted)| *accepted).collect()
    }
}

/// Hands deliveries over at any time: the output of an act is part of its result, so the assistant waits for it while it
/// acts.
pub(crate) struct Senses {
    sandbox: Sandbox,
    handle: Handle,
    body: EntityId,
    taken: watch::Sender<Taken>,
}

impl Senses {
    /// Senses that go on after the delivery `heard`.
    pub(crate) fn new(
        sandbox: &Sandbox,
        handle: &Handle,
        body: &EntityId,
        heard: u64,
    ) -> (Self, watch::Receiver<Taken>) {
        let (taken, seen) = watch::channel(Taken {
            last: heard,
            recent: VecDeque::new(),
            refused: None,
        });
        let senses = Self {
            sandbox: sandbox.clone(),
            handle: handle.clone(),
            body: body.clone(),
            taken,
        };
        (senses, seen)
    }

    /// Hands over until the assistant has ended.
    pub(crate) async fn run(self) {
        loop {
            let last = self.taken.borrow().last;
            match self.sandbox.await_perceptions(&self.body, last).await {
                Ok(perceived) => {
                    for perception in perceived {
                        if self.hand_over(perception).await.is_err() {
                            return;
                        }
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the assistant's senses could not be read; trying again");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Hands one delivery over, and repeats that until it is accepted.
    async fn hand_over(&self, perception: Perception) -> Result<(), Gone> {
        let number = perception.attested.delivery.number;
        loop {
            match self.handle.perceive(perception.clone()).await {
                Ok(accepted) => {
                    self.taken.send_modify(|taken| {
                        taken.last = number;
                        taken.refused = None;
                        taken.recent.push_back((number, accepted));
                        if taken.recent.len() > KEPT {
                            taken.recent.pop_front();
                        }
                    });
                    if let Err(error) = self.sandbox.acknowledge(&self.body, number).await {
                        // The assistant has it; the world keeps it a little longer.
                        tracing::debug!(%error, "a delivery could not be acknowledged");
                    }
                    return Ok(());
                }
                Err(PerceiveError::Gone) => return Err(Gone),
                Err(error) => {
                    self.taken.send_modify(|taken| taken.refused = Some(error));
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

/// The assistant has ended.
#[derive(Clone, Copy, Debug)]
struct Gone;
