//! A memory that is consolidated, by a model that goes by a rule.

mod by_rule;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use dormouse_contracts::{ChatRequest, EntityId, Timestamp, complete};
use dormouse_entities::{
    Consolidation, ConsolidationPolicy, EntityChange as Known, EntityType, Name,
    consolidation_batch, read_consolidation,
};
use dormouse_memory::{
    Change, Collection, Derivation, Memory, Note, Provenance, RecordId,
    write::{Batch, ExtractionSettings, request_of},
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
/// How many records a model is shown at once.
const BATCH: usize = 3;
/// The most tokens of a reply about somebody.
const REPLY_TOKENS: u32 = 800;

/// A journal entry, which says the same each time.
fn entry(id: u64) -> Note {
    let dice = Dice::new(id);
    Note::new(format!("Guest: {}", dice.text(&format!("entry{id}"))))
        .in_collection(Collection::Journal)
        .derivation(Derivation::Imported)
        .at(Timestamp::from_micros(id as i64))
        .from_source(format!("journal:{id}"))
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
    let model = ByRule::new(number);
    let mut writer = Writer::new(memory.clone(), number);
    for _ in 0..ROUNDS {
        consolidate(&memory, &model).await;
        for _ in 0..2 {
            writer.add().await;
            let text = writer.dice.text("noticed");
            let noticed = observed(guest(), &text);
            writer.change_entity(noticed).await;
        }
        let held = Held::by(&memory).await;
        let heard = held.records.values().rev();
        let heard = heard.filter(|r| r.provenance.derivation == Derivation::Heard);
        let heard: Vec<RecordId> = heard.map(|r| r.id).take(2 * BATCH).collect();
        extract(&memory, &model, &heard).await;
        consolidate_people(&memory, &model).await;
    }
}

/// Asks the model; `None` if it fails.
async fn ask(model: &ByRule, request: &ChatRequest) -> Option<String> {
    let reply = complete(model, request).await;
    reply.ok().map(|reply| reply.content)
}

/// Stores the next journal entries, with some that are done, and makes facts of them.
async fn consolidate(memory: &Memory, model: &ByRule) {
    let held = Held::by(memory).await;
    let newest = held
        .records
        .values()
        .filter_map(|r| entry_of(&r.provenance))
        .max();
    let from = newest.unwrap_or(0).saturating_sub(ENTRIES / 3) + 1;
    let entries = (from..from + ENTRIES).map(entry).collect();
    let entries = memory.add_all(entries, "a journal entry").await.unwrap();
    let entries: Vec<RecordId> = entries.iter().map(|entry| entry.id()).collect();
    extract(memory, model, &entries).await;
}

/// Makes facts of these records, with some that are done.
async fn extract(memory: &Memory, model: &ByRule, records: &[RecordId]) {
    let settings = ExtractionSettings::default();
    let mut sources = memory.sources(&settings, records).await.unwrap();
    let unread: Vec<RecordId> = sources.iter().map(|source| source.id()).collect();
    let before = records.iter().filter(|id| !unread.contains(id));
    let before: Vec<_> = before.map(ToString::to_string).collect();
    let mut done: Vec<String> = Vec::new();
    while !sources.is_empty() {
        let batch = Batch::of(sources.drain(..BATCH.min(sources.len())).collect());
        let Some(reply) = ask(model, &batch.request(&settings)).await else {
            break;
        };
        let read = batch.read(&reply, &settings).unwrap();
        let plan = memory.plan_extraction(&batch, read, &settings).await;
        let mut plan = plan.unwrap();
        if let Some(question) = plan.question(&settings) {
            let Some(verdict) = ask(model, &question).await else {
                break;
            };
            plan.judged(&verdict);
        }
        let change = plan.into_change();
        memory.make(change, "consolidated").await.unwrap();
        done.extend(batch.records().iter().map(ToString::to_string));
    }
    say(&json!({ "made": done, "made_before": before }));
}

async fn consolidate_people(memory: &Memory, model: &ByRule) {
    let policy = ConsolidationPolicy::default();
    let due = memory.with_entities(|known| {
        let batch = consolidation_batch(known, &policy).into_iter();
        let due = batch.filter_map(|id| Consolidation::of(known.profile(id)?, &policy));
        due.collect::<Vec<_>>()
    });
    for due in due {
        let request = request_of(due.messages().to_vec(), due.task().clone(), REPLY_TOKENS);
        let Some(reply) = ask(model, &request).await else {
            break;
        };
        let read = read_consolidation(&reply).unwrap();
        let change = due.change(read.update);
        memory.change_entity(change, "consolidated").await.unwrap();
    }
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
        for id in held.records.keys() {
            let count = facts.get(id).copied().unwrap_or(0);
            let key = id.to_string();
            assert!(count <= 1, "{key} led to {count} facts");
            assert!(count == 1 || !self.done.contains(&key), "{key} was lost");
        }
        for key in &self.done {
            let id = key.parse::<RecordId>().unwrap();
            assert!(held.records.contains_key(&id), "{key} was lost");
        }
    }
}
