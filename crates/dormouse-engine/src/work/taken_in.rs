//! Which deliveries of each world were already processed.

use std::{collections::BTreeMap, time::Duration};

use dormouse_contracts::{Delivery, WorldId};
use dormouse_resilience::deadline;
use tokio::sync::watch;

/// The number of the last delivery of each world that was accepted or ignored. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TakenIn(watch::Sender<BTreeMap<WorldId, u64>>);

impl TakenIn {
    /// Starts with the deliveries that an earlier process is known to have processed.
    pub(crate) fn new(delivered: BTreeMap<WorldId, u64>) -> Self {
        Self(watch::Sender::new(delivered))
    }

    /// Notes that this delivery was processed, once the state contains it.
    pub(crate) fn note(&self, world: WorldId, number: u64) {
        self.0.send_if_modified(|numbers| {
            let last = numbers.entry(world).or_default();
            let rises = *last < number;
            *last = number.max(*last);
            rises
        });
    }

    /// Waits until everything up to this delivery was processed. Returns whether that happened within `limit`: a world
    /// with a wrong mark must not block an assistant for ever.
    pub(crate) async fn reaches(&self, mark: &Delivery, limit: Duration) -> bool {
        let mut numbers = self.0.subscribe();
        let reached = numbers.wait_for(|numbers| {
            let last = numbers.get(&mark.world);
            last.is_some_and(|last| *last >= mark.number)
        });
        deadline(limit, reached).await.is_ok()
    }
}
