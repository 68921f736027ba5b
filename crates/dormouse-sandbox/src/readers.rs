//! Those who read feeds: who waits for the next entry, and who is done with earlier ones.

use std::collections::BTreeMap;

use dormouse_contracts::EntityId;
use tokio::sync::watch;

use crate::roster::Roster;

/// What is known of readers. It lives in memory only and outlives a failure of the file.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    /// The last number of each feed that somebody follows.
    heads: BTreeMap<EntityId, watch::Sender<u64>>,
    /// Up to where each observer is done; removed from the file with the next change.
    acknowledged: BTreeMap<EntityId, u64>,
}

impl Readers {
    /// Follows the last number of a feed, which is `head` now.
    pub(crate) fn follow(&mut self, observer: &EntityId, head: u64) -> watch::Receiver<u64> {
        let sender = self
            .heads
            .entry(observer.clone())
            .or_insert_with(|| watch::Sender::new(head));
        sender.subscribe()
    }

    /// Tells those who follow, and forgets the feeds nobody follows any more.
    pub(crate) fn publish(&mut self, roster: &Roster) {
        self.heads.retain(|observer, head| {
            let delivered = roster.find(observer).map_or(0, |present| present.delivered);
            head.send_if_modified(|head| {
                let rises = *head < delivered;
                *head = delivered.max(*head);
                rises
            });
            !head.is_closed()
        });
    }

    /// An observer is done with its entries up to this number.
    pub(crate) fn acknowledge(&mut self, observer: &EntityId, up_to: u64) {
        let known = self.acknowledged.entry(observer.clone()).or_default();
        *known = up_to.max(*known);
    }

    /// Up to where this observer is done, if its entries are still in the file.
    pub(crate) fn done_by(&self, observer: &EntityId) -> u64 {
        self.acknowledged.get(observer).copied().unwrap_or(0)
    }

    pub(crate) fn acknowledged(&self) -> &BTreeMap<EntityId, u64> {
        &self.acknowledged
    }

    /// What was acknowledged has been removed from the file.
    pub(crate) fn pruned(&mut self) {
        self.acknowledged.clear();
    }
}
