//! What was acknowledged by a memory that was killed afterwards, held against what is there.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::Attribution;
use dormouse_memory::{Change, Record, RecordId, StoredChange};
use serde_json::Value;

use super::{fold, held::Held};

/// The reason of changes that are taken in from a log.
pub(super) const FROM_THE_LOG: &str = "taken in from the log";
/// What the reasons of the other changes that were asked for begin with. A model has reasons of its own.
pub(super) const ASKED_FOR: &str = "life ";
/// The most events of a log that are taken in at once.
pub(super) const LOG_PART: u64 = 6;

/// Everything known from outside, over all lives.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Reasons of acknowledged changes.
    acknowledged: BTreeSet<String>,
    /// What each record said when it was acknowledged or first seen.
    texts: BTreeMap<RecordId, String>,
    /// The changes that were there the last time.
    seen: Vec<StoredChange>,
    /// How far the log was acknowledged as taken in, or was found to be.
    log: u64,
    /// How many changes were acknowledged as embedded.
    embedded: u64,
    /// Lives since the last time.
    lives: usize,
    /// How many unacknowledged changes were complete.
    pub(super) untold: usize,
}

impl Ledger {
    pub(super) fn acknowledged(&self) -> usize {
        self.acknowledged.len() + self.log as usize
    }

    pub(super) fn begins_a_life(&mut self) {
        self.lives += 1;
    }

    /// Notes what a line tells.
    pub(super) fn note(&mut self, line: &Value) {
        if let Some(reason) = line["did"].as_str() {
            assert!(self.acknowledged.insert(reason.to_owned()), "{line}");
        }
        for record in line["records"].as_array().into_iter().flatten() {
            let id = record[0].as_str().unwrap().parse().unwrap();
            let text = record[1].as_str().unwrap().to_owned();
            assert_eq!(self.texts.insert(id, text), None, "{line}");
        }
        self.log = line["log"].as_u64().unwrap_or(self.log);
        self.embedded = line["embedded"].as_u64().unwrap_or(self.embedded);
    }

    /// Holds it against what is there after a kill.
    pub(super) fn check(&mut self, held: &Held, waiting: u64) {
        held.is_counted();
        let changes = &held.changes;
        assert!(changes.len() >= self.seen.len(), "changes were lost");
        for (was, is) in self.seen.iter().zip(changes) {
            if was != is {
                assert_eq!(erased(was), *is, "a change is another one now");
            }
        }
        self.nothing_is_lost_or_half(&changes[self.seen.len()..]);
        self.records_are_what_changes_made_of_them(held);
        assert!(
            held.entities == fold::entities(changes),
            "entities are not what their changes make of them"
        );
        self.the_log_is_taken_in_once(held);
        let embedded = changes.len() as u64 - waiting;
        assert!(embedded >= self.embedded, "{embedded} < {}", self.embedded);
        self.seen.clone_from(changes);
        self.lives = 0;
    }

    fn nothing_is_lost_or_half(&mut self, new: &[StoredChange]) {
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        let asked_for = new.iter().filter(|c| c.reason.starts_with(ASKED_FOR));
        for change in asked_for {
            *found.entry(&change.reason).or_default() += 1;
        }
        let mut untold = 0;
        for (reason, count) in &found {
            assert_eq!(*count, size_of(reason), "half of {reason}");
            untold += usize::from(!self.acknowledged.contains(*reason));
        }
        assert!(untold <= self.lives, "{untold} unknown in {}", self.lives);
        self.untold += untold;
        let before = self.seen.iter().map(|change| change.reason.as_str());
        let there: BTreeSet<&str> = before.chain(found.into_keys()).collect();
        for reason in &self.acknowledged {
            assert!(there.contains(reason.as_str()), "{reason} was lost");
        }
    }

    fn records_are_what_changes_made_of_them(&mut self, held: &Held) {
        let fates = fold::records(&held.changes);
        assert!(held.records.keys().eq(fates.keys()), "records and changes");
        for (id, record) in &held.records {
            let fate = &fates[id];
            assert_eq!(fold::Fate::of(record), *fate, "{id}");
            if !fate.is_erased {
                let said = self.texts.entry(*id).or_insert_with(|| record.text.clone());
                assert_eq!(record.text, *said, "{id}");
            }
        }
        for id in self.texts.keys() {
            assert!(held.records.contains_key(id), "{id} was lost");
        }
    }

    /// Each event through the checkpoint is there once, none beyond it, and the checkpoint is not behind.
    fn the_log_is_taken_in_once(&mut self, held: &Held) {
        let through = held.stats.log_through;
        let most = self.log + LOG_PART * self.lives as u64;
        assert!((self.log..=most).contains(&through), "{through}");
        let notes = held.records.values().filter_map(number_in_log);
        let mut notes: Vec<u64> = notes.collect();
        notes.sort_unstable();
        assert!(notes.into_iter().eq(1..=through), "notes of the log");
        let noticed = held
            .changes
            .iter()
            .filter(|c| matches!(&c.change, Change::Entity { .. }) && c.reason == FROM_THE_LOG);
        assert_eq!(noticed.count() as u64, through / 3, "entities of the log");
        self.log = through;
    }
}

/// The number of the event that a record was made of.
fn number_in_log(record: &Record) -> Option<u64> {
    // A fact that a model made is a part of a change, too.
    let is_heard = record.provenance.derived_from.is_empty();
    (is_heard && record.id.part_number() == 1).then(|| record.id.seq().0)
}

/// How many changes have this reason, which says so itself in its last word.
fn size_of(reason: &str) -> usize {
    let last = reason.rsplit(' ').next();
    let size = last.and_then(|last| last.parse().ok());
    size.unwrap_or_else(|| panic!("{reason:?} is a reason that nobody gave"))
}

/// The change as it is once a record with the words of its note was erased: that is all that ever alters one.
fn erased(change: &StoredChange) -> StoredChange {
    let mut change = change.clone();
    if let Change::Ignored { note, .. } = &mut change.change {
        note.text.clear();
        note.speaker = Attribution::Unknown;
        note.tags.clear();
    }
    change
}
