//! A memory that is consolidated, by a model that goes by a rule.

mod by_rule;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use dormouse_contracts::{Attribution, EntityId, Timestamp, Trust};
use dormouse_entities::{ConsolidationPolicy, EntityChange as Known, EntityType, Name};
use dormouse_memory::{
    Change, Collection, Derivation, Memory, Provenance, RecordId,
    write::{
        Attempts, JournalEntry, SourceKey, Writer as Dreamer, WriterSettings, consolidate_entities,
    },
};
use serde_json::{Value, json};

use by_rule::ByRule;

use super::{
    Dice, builder, file_in,
    held::Held,
    say,
    writing::{Writer, observed},
};

/// How often a life goes through everything, at most.
const ROUNDS: u32 = 12;
/// How many journal entries are given at once, those included that are done already.
const ENTRIES: u64 = 9;
/// How many entries or records a model is shown at once.
const BATCH: usize = 3;

/// A journal entry, which says the same each time.
fn entry(id: u64) -> JournalEntry {
    let dice = Dice::new(id);
    JournalEntry {
        id,
        text: format!("Guest: {}", dice.text(&format!("entry{id}"))),
        at: Timestamp::from_micros(id as i64),
        trust: Trust::FULL,
        speaker: Attribution::Unknown,
    }
}

/// Somebody of whom things are noticed.
fn guest() -> EntityId {
    EntityId::try_new("guest").unwrap()
}

pub(super) async fn fill(folder: &Path) {
    let memory = builder().open(file_in(folder)).await.unwrap();
    let known = Known::Created {
        entity: guest(),
        entity_type: EntityType::Player,
        name: Name::try_new("Guest").unwrap(),
    };
    memory.change_entity(known, "brought along").await.unwrap();
}

pub(super) async fn dream(folder: &Path, number: u64) {
    let memory = builder().open(file_in(folder)).await.unwrap();
    say(&json!({ "ready": number }));
    let model = Arc::new(ByRule::new(number));
    let settings = WriterSettings {
        batch: BATCH,
        ..WriterSettings::default()
    };
    let dreamer = Dreamer::new(model.clone()).with_settings(settings);
    let mut writer = Writer::new(memory.clone(), number);
    for _ in 0..ROUNDS {
        consolidate(&memory, &dreamer).await;
        for _ in 0..2 {
            writer.add().await;
            let text = writer.dice.text("noticed");
            let noticed = observed(guest(), &text);
            writer.change_entity(noticed).await;
        }
        extract(&memory, &dreamer).await;
        let policy = ConsolidationPolicy::default();
        let mut attempts = Attempts::default();
        consolidate_entities(&memory, model.as_ref(), &policy, &mut attempts)
            .await
            .unwrap();
    }
}

/// Consolidates the next entries, with some that are done.
async fn consolidate(memory: &Memory, dreamer: &Dreamer) {
    let held = Held::by(memory).await;
    let newest = held
        .records
        .values()
        .filter_map(|r| entry_of(&r.provenance))
        .max();
    let from = newest.unwrap_or(0).saturating_sub(ENTRIES / 3) + 1;
    let entries: Vec<_> = (from..from + ENTRIES).map(entry).collect();
    let mut attempts = Attempts::default();
    let written = dreamer
        .consolidate(memory, &entries, &mut attempts)
        .await
        .unwrap();
    say_done(&written.done, &written.done_before);
}

/// Extracts from the last records that were heard, with some that are done.
async fn extract(memory: &Memory, dreamer: &Dreamer) {
    let held = Held::by(memory).await;
    let heard = held.records.values().rev();
    let heard = heard.filter(|r| r.provenance.derivation == Derivation::Heard);
    let heard: Vec<RecordId> = heard.map(|r| r.id).take(2 * BATCH).collect();
    let mut attempts = Attempts::default();
    let written = dreamer
        .extract(memory, &heard, &mut attempts)
        .await
        .unwrap();
    say_done(&written.done, &written.done_before);
}

fn say_done(done: &[SourceKey], before: &[SourceKey]) {
    let keys = |keys: &[SourceKey]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
    say(&json!({ "made": keys(done), "made_before": keys(before) }));
}

/// The number of the journal entry that a record stands for.
fn entry_of(provenance: &Provenance) -> Option<u64> {
    provenance
        .source_key
        .as_ref()?
        .strip_prefix("journal:")?
        .parse()
        .ok()
}

/// What was acknowledged of sources that a model made facts of.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    done: BTreeSet<String>,
    /// Facts that were there the last time.
    pub(super) facts: usize,
    /// Of the changes the last time, those by which a fact was not kept, took a record's place, or was linked.
    pub(super) decisions: usize,
}

impl Ledger {
    pub(super) fn acknowledged(&self) -> usize {
        self.done.len()
    }

    pub(super) fn note(&mut self, line: &Value) {
        let keys = |name: &str| -> Vec<String> {
            let keys = line[name].as_array().into_iter().flatten();
            keys.map(|key| key.as_str().unwrap().to_owned()).collect()
        };
        for key in keys("made") {
            assert!(self.done.insert(key.clone()), "{key} was done twice");
        }
        // Unacknowledged changes may be complete too.
        self.done.extend(keys("made_before"));
    }

    /// Checks that each source led to one fact, kept or not, or to nothing; and to one if that was acknowledged.
    pub(super) fn check(&mut self, held: &Held) {
        let mut facts: BTreeMap<RecordId, usize> = BTreeMap::new();
        let added = held.records.values().map(|record| &record.provenance);
        let ignored = held
            .changes
            .iter()
            .filter_map(|stored| match &stored.change {
                Change::Ignored { note, .. } => Some(&note.provenance),
                _ => None,
            });
        for provenance in added.chain(ignored) {
            for source in &provenance.derived_from {
                *facts.entry(*source).or_default() += 1;
            }
        }
        let kept = held.records.values();
        self.facts = kept
            .filter(|r| !r.provenance.derived_from.is_empty())
            .count();
        let names = ["ignored", "superseded", "linked"];
        let decisions = held.changes.iter();
        self.decisions = decisions
            .filter(|c| names.contains(&c.change.name()))
            .count();
        for (id, record) in &held.records {
            let count = facts.get(id).copied().unwrap_or(0);
            let key = match entry_of(&record.provenance) {
                Some(entry) => {
                    assert_eq!(record.collection, Collection::Journal);
                    assert_eq!(count, 1, "half of entry {entry}");
                    format!("j{entry}")
                }
                None => id.to_string(),
            };
            assert!(count <= 1, "{key} led to {count} facts");
            assert!(count == 1 || !self.done.contains(&key), "{key} was lost");
        }
        let entries = held
            .records
            .values()
            .filter_map(|r| entry_of(&r.provenance));
        let entries: BTreeSet<String> = entries.map(|entry| format!("j{entry}")).collect();
        for key in self.done.iter().filter(|key| key.starts_with('j')) {
            assert!(entries.contains(key), "{key} was lost");
        }
    }
}
