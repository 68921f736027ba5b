//! Which deliveries were accepted, so that duplicates are recognized.

use std::collections::BTreeMap;

use dormouse_contracts::{Perception, WorldId};
use serde::{Deserialize, Serialize};

use crate::event::Event;

/// The last delivery accepted from each world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Deliveries(BTreeMap<WorldId, u64>);

impl Deliveries {
    pub(super) fn apply(&mut self, event: &Event) {
        let Event::Perceived(perceived) = event else {
            return;
        };
        let delivery = &perceived.perception.attested.delivery;
        let last = self.0.entry(delivery.world.clone()).or_default();
        *last = (*last).max(delivery.number);
    }

    /// The number of the last delivery accepted from this world, if there was one.
    #[must_use]
    pub fn last(&self, world: &WorldId) -> Option<u64> {
        self.0.get(world).copied()
    }

    /// The number of the last delivery accepted from each world.
    pub(crate) fn numbers(&self) -> &BTreeMap<WorldId, u64> {
        &self.0
    }

    /// Whether nothing was accepted from any world.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this delivery was accepted before.
    #[must_use]
    pub fn contains(&self, perception: &Perception) -> bool {
        let delivery = &perception.attested.delivery;
        let last = self.last(&delivery.world);
        last.is_some_and(|last| delivery.number <= last)
    }
}
