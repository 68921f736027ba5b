//! The readers of feeds: their waits and their acknowledgements.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::EntityId;
use tokio::sync::watch;

use crate::roster::Roster;

/// The state of all readers. It is kept in memory only, and survives a failure of the file.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    /// The last number of each feed with waiting readers.
    heads: BTreeMap<EntityId, watch::Sender<u64>>,
    /// The acknowledged number of each observer. Its entries are removed from the file with the next change.
    acknowledged: BTreeMap<EntityId, u64>,
    /// Whether changes may be on disk that nobody was notified of.
    has_missed: bool,
}

impl Readers {
    /// Subscribes to the last number of a feed, which is now `head`.
    pub(crate) fn follow(&mut self, observer: &EntityId, head: u64) -> watch::Receiver<u64> {
        let sender = self
            .heads
            .entry(observer.clone())
            .or_insert_with(|| watch::Sender::new(head));
        sender.subscribe()
    }

    /// Notifies the subscribers of these feeds, and removes those of them without subscribers.
    pub(crate) fn publish(&mut self, roster: &Roster, touched: &BTreeSet<EntityId>) {
        let is_kept = |observer: &EntityId, head: &watch::Sender<u64>| {
            let delivered = roster.find(observer).map_or(0, |present| present.delivered);
            head.send_if_modified(|head| {
                let rises = *head < delivered;
                *head = delivered.max(*head);
                rises
            });
            !head.is_closed()
        };
        if std::mem::take(&mut self.has_missed) {
            self.heads.retain(|observer, head| is_kept(observer, head));
            return;
        }
        for observer in touched {
            let head = self.heads.get(observer);
            if head.is_some_and(|head| !is_kept(observer, head)) {
                self.heads.remove(observer);
            }
        }
    }

    /// Records that a group of changes may be on disk although it failed. The next one notifies everybody.
    pub(crate) fn missed_some(&mut self) {
        self.has_missed = true;
    }

    /// Records that an observer has processed its entries up to this number.
    pub(crate) fn acknowledge(&mut self, observer: &EntityId, up_to: u64) {
        let known = self.acknowledged.entry(observer.clone()).or_default();
        *known = up_to.max(*known);
    }

    /// The acknowledged number of this observer, if its entries are still in the file.
    pub(crate) fn done_by(&self, observer: &EntityId) -> u64 {
        self.acknowledged.get(observer).copied().unwrap_or(0)
    }

    pub(crate) fn acknowledged(&self) -> &BTreeMap<EntityId, u64> {
        &self.acknowledged
    }

    /// Records that the acknowledged entries were removed from the file.
    pub(crate) fn pruned(&mut self) {
        self.acknowledged.clear();
    }
}
