//! Helpers for several tests.

use std::time::Duration;

use dormouse_contracts::{Attribution, EntityId, Timestamp};
use proptest::prelude::*;

use crate::{
    EntryId, EntryLabel, EntryScore, Importance, Journal, JournalChange, JournalDelta,
    JournalEntry, JournalSettings, NewEntry, SourceType,
};

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The time `hours` hours after a fixed moment.
pub(crate) fn hour(hours: i64) -> Timestamp {
    Timestamp::from_micros(1_795_219_200_000_000 + hours * 3_600_000_000)
}

pub(crate) fn importance(number: u8) -> Importance {
    Importance::try_new(number.into()).unwrap()
}

pub(crate) fn label(text: &str) -> EntryLabel {
    text.parse().unwrap()
}

/// An attribution. Two people may have the same name; their ids differ.
pub(crate) fn person(id: &str, name: &str) -> Attribution {
    Attribution::entity(EntityId::try_new(id).unwrap(), name)
}

pub(crate) fn said(content: &str) -> NewEntry {
    NewEntry {
        source_entity: person("#7", "Alice"),
        ..NewEntry::new(content, SourceType::Direct)
    }
}

/// Writes an entry and returns what left the journal.
pub(crate) fn write(
    journal: &mut Journal,
    new: NewEntry,
    at: Timestamp,
    settings: &JournalSettings,
) -> Vec<JournalEntry> {
    let changes = journal.plan_entry(new, at, settings).unwrap();
    let deltas = changes
        .iter()
        .map(|change| journal.apply(change, at).unwrap());
    deltas.flat_map(|delta| delta.removed).collect()
}

/// A journal with these entries, an hour apart.
pub(crate) fn journal_of(contents: &[&str]) -> Journal {
    let mut journal = Journal::new();
    for (hours, content) in (0..).zip(contents) {
        write(
            &mut journal,
            said(content),
            hour(hours),
            &JournalSettings::default(),
        );
    }
    journal
}

/// A step of a randomly generated life.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write {
        content: String,
        hours: i64,
        importance: Option<u8>,
        source: SourceType,
        tag: bool,
    },
    Score(Vec<(u64, u8)>),
    Unlink(u64),
    Consolidate(u64),
    Prune,
    Restore(usize),
}

pub(crate) fn any_step() -> impl Strategy<Value = Step> {
    let source = prop::sample::select(SourceType::ALL.to_vec());
    let content =
        "(tea|war|mill|Alice|walked|secret|river|not|5)( (tea|war|mill|Bob|quest|river)){0,3}[!.]?";
    let importance = prop::option::of(1_u8..=10);
    // The clock jumps, so entries have times in the past and in the future.
    let hours = -2_000_i64..2_000;
    prop_oneof![
        6 => (content, hours, importance, source, any::<bool>()).prop_map(
            |(content, hours, importance, source, tag)| Step::Write { content, hours, importance, source, tag }
        ),
        1 => prop::collection::vec((1_u64..30, 1_u8..=10), 0..4).prop_map(Step::Score),
        1 => (1_u64..30).prop_map(Step::Unlink),
        1 => (1_u64..30).prop_map(Step::Consolidate),
        1 => Just(Step::Prune),
        1 => (0_usize..8).prop_map(Step::Restore),
    ]
}

/// A journal, and what left it so far.
#[derive(Debug, Default)]
pub(crate) struct Life {
    pub(crate) journal: Journal,
    pub(crate) left: Vec<JournalEntry>,
    pub(crate) changes: Vec<(JournalChange, Timestamp)>,
}

impl Life {
    /// Does a step, and passes on what each change did.
    pub(crate) fn step(
        &mut self,
        step: &Step,
        settings: &JournalSettings,
        mut each: impl FnMut(&Journal, &JournalDelta),
    ) {
        let (changes, at) = self.planned(step, settings);
        for change in changes {
            let Ok(delta) = self.journal.apply(&change, at) else {
                continue;
            };
            each(&self.journal, &delta);
            self.left.extend(delta.removed);
            self.changes.push((change, at));
        }
    }

    fn planned(
        &mut self,
        step: &Step,
        settings: &JournalSettings,
    ) -> (Vec<JournalChange>, Timestamp) {
        let now = hour(0);
        let changes = match step {
            Step::Write {
                content,
                hours,
                importance: given,
                source,
                tag,
            } => {
                let mut new = NewEntry::new(content.clone(), *source);
                new.importance = given.map(importance);
                new.tags.extend(tag.then(|| label("tea")));
                let at = hour(*hours);
                return (self.journal.plan_entry(new, at, settings).unwrap(), at);
            }
            Step::Score(scores) => vec![JournalChange::Rescored {
                scores: scores
                    .iter()
                    .map(|(entry, score)| EntryScore {
                        entry: EntryId(*entry),
                        importance: importance(*score),
                    })
                    .collect(),
                unreadable: vec![EntryId(3)],
            }],
            Step::Unlink(entry) => vec![JournalChange::Unlinked {
                entry: EntryId(*entry),
            }],
            Step::Consolidate(entry) => vec![JournalChange::Consolidated {
                entries: vec![EntryId(*entry)],
            }],
            Step::Prune => {
                let pruned = self.journal.plan_pruning(now, &settings.pruning);
                pruned.into_iter().collect()
            }
            Step::Restore(place) => {
                let known = *place < self.left.len();
                let left = known.then(|| self.left.remove(*place));
                let restored = left.map(|entry| JournalChange::Restored {
                    entry: Box::new(entry),
                });
                restored.into_iter().collect()
            }
        };
        (changes, now)
    }
}
