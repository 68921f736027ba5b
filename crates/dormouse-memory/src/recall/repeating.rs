//! Records that only repeat what is recalled anyway.
//!
//! An entry of the journal about a message and a fact that a model made of it often have the words of the message and no others. Each
//! would take a place and tokens of its own, and say nothing that the message does not say in its own words. So a repetition is folded
//! into its original, which keeps its trust and its audience, and names the repetition.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use dormouse_contracts::Attribution;
use dormouse_retrieval::{ComparableText, denies, terms};

use super::Recollection;
use crate::record::{Collection, Derivation, Record, RecordId};

/// The least number of further matches that are searched for, because some may be folded.
const SPARE: usize = 8;
/// A record says more than its sources if more than one in this many of its words is new.
const NEW_WORD_IN: usize = 5;
/// The share of words and pairs of words from which on a record repeats a message that it does not name as its source.
const SAME_FROM: f32 = 0.9;

/// How many matches are searched for, so that `depth` are left.
pub(super) fn with_spare(depth: usize) -> usize {
    depth.saturating_add(depth.max(SPARE))
}

/// The best `depth` matches, each with the repetitions that were folded into it. An original is chosen as if it matched as well as
/// its best repetition, so that folding never takes words from an answer.
pub(super) fn folded(matches: Vec<Recollection>, depth: usize) -> Vec<Recollection> {
    let roots = Originals::among(&matches).roots();
    let mut chosen: Vec<RecordId> = Vec::new();
    let mut repetitions: BTreeMap<RecordId, Vec<RecordId>> = BTreeMap::new();
    for one in &matches {
        let id = one.record.id;
        let root = roots.get(&id).copied().unwrap_or(id);
        if root != id {
            repetitions.entry(root).or_default().push(id);
        }
        if chosen.len() < depth && !chosen.contains(&root) {
            chosen.push(root);
        }
    }
    let chosen: BTreeSet<RecordId> = chosen.into_iter().collect();
    let matches = matches.into_iter();
    let matches = matches.filter(|one| chosen.contains(&one.record.id));
    let matches = matches.map(|one| Recollection {
        folded: repetitions.remove(&one.record.id).unwrap_or_default(),
        ..one
    });
    matches.collect()
}

/// Records that others may only repeat.
pub(super) struct Originals<'a> {
    /// With their texts prepared for comparison, as soon as one is needed.
    all: Vec<(&'a Record, OnceCell<ComparableText>)>,
}

impl<'a> Originals<'a> {
    pub(super) fn among(matches: &'a [Recollection]) -> Self {
        let all = matches.iter().map(|one| (&one.record, OnceCell::new()));
        Self { all: all.collect() }
    }

    /// For each of them that only repeats another one, that other one, which repeats nothing itself.
    fn roots(&self) -> BTreeMap<RecordId, RecordId> {
        let by_id: BTreeMap<RecordId, &Record> = self
            .all
            .iter()
            .map(|(record, _)| (record.id, *record))
            .collect();
        let mut roots = BTreeMap::new();
        // A source is older than what was made of it, so its own root is known already.
        for record in by_id.values() {
            let original = self.of(record);
            let root = original.map(|it| roots.get(&it.id).copied().unwrap_or(it.id));
            let root = root.and_then(|id| by_id.get(&id));
            // Over several steps, too, nothing becomes less believed than it is.
            let root = root.filter(|root| record.trust <= root.trust || quotes(record, root));
            if let Some(root) = root {
                roots.insert(record.id, root.id);
            }
        }
        roots
    }

    /// The one that a record only repeats.
    pub(super) fn of(&self, record: &Record) -> Option<&'a Record> {
        if !may_be_folded(record) {
            return None;
        }
        let sources = &record.provenance.derived_from;
        let known = self.all.iter().map(|(other, _)| *other);
        let known = known.filter(|it| it.id < record.id && sources.contains(&it.id));
        let sources: Vec<&Record> = known.collect();
        if sources.is_empty() {
            let own = OnceCell::new();
            let own = || own.get_or_init(|| ComparableText::of(&record.text));
            let mut messages = self
                .all
                .iter()
                .filter(|(other, _)| may_be_copied(record, other));
            let copied = messages.find(|(other, prepared)| {
                let other = prepared.get_or_init(|| ComparableText::of(&other.text));
                own().says_the_same(other, SAME_FROM)
            });
            return copied.map(|(message, _)| *message);
        }
        let mut believed = sources.iter().filter(|it| it.trust >= record.trust);
        believed
            .next()
            .copied()
            .filter(|_| says_no_more(record, &sources))
    }
}

/// Entries of the journal, and what a model made of other records. What the assistant stored with a tool stays: somebody wanted it to
/// be remembered in these words.
fn may_be_folded(record: &Record) -> bool {
    record.provenance.derivation.is_by_model() || record.collection == Collection::Journal
}

/// Whether nearly all words of a record are words of its sources or names of those who said them, with the same numbers, and nothing
/// is denied that the sources do not deny.
fn says_no_more(record: &Record, sources: &[&Record]) -> bool {
    let said: BTreeSet<String> = sources
        .iter()
        .flat_map(|source| [Some(source.text.as_str()), source.speaker.name()])
        .flatten()
        .flat_map(terms)
        .collect();
    let own: BTreeSet<String> = terms(&record.text).into_iter().collect();
    let new: Vec<&String> = own.iter().filter(|word| !said.contains(*word)).collect();
    let has_number = new.iter().any(|word| word.contains(char::is_numeric));
    new.len() * NEW_WORD_IN <= own.len()
        && !has_number
        && (!denies(&record.text) || sources.iter().any(|source| denies(&source.text)))
}

/// Whether a record may be a copy of a message that it does not name as its source: it says that its words are of the same person, or
/// it does not say whose they are and is not believed more than the message. Texts of another length are not compared.
fn may_be_copied(record: &Record, message: &Record) -> bool {
    let (own, other) = (record.text.len(), message.text.len());
    let is_unsigned = record.speaker == Attribution::Unknown;
    message.provenance.derivation == Derivation::Heard
        && own.min(other) * 5 >= own.max(other) * 4
        && (quotes(record, message) || is_unsigned && record.trust <= message.trust)
}

/// Whether a record says that its words are of the person who said a message. Then the message says it better, however much both are
/// believed.
fn quotes(record: &Record, message: &Record) -> bool {
    let is_named = || {
        let (name, other) = (record.speaker.name(), message.speaker.name());
        record.speaker.id().is_none()
            && name.is_some_and(|name| {
                other.is_some_and(|it| it.to_lowercase() == name.to_lowercase())
            })
    };
    message.provenance.derivation == Derivation::Heard
        && (record.speaker.is_same_as(&message.speaker) || is_named())
}
