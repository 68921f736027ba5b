//! Folds a list of changes into records and entities, without the memory.

use std::collections::BTreeMap;

use dormouse_contracts::Timestamp;
use dormouse_entities::Entities;
use dormouse_memory::{Change, ChangeSeq, LinkKind, Record, RecordId, RecordStatus, StoredChange};

/// What changes decide of one record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fate {
    pub(super) status: RecordStatus,
    pub(super) until: Option<Timestamp>,
    pub(super) links: BTreeMap<(RecordId, LinkKind), f32>,
    pub(super) is_erased: bool,
}

impl Fate {
    fn new(until: Option<Timestamp>) -> Self {
        Self {
            status: RecordStatus::Live,
            until,
            links: BTreeMap::new(),
            is_erased: false,
        }
    }

    /// The fate that the record itself states.
    pub(super) fn of(record: &Record) -> Self {
        let links = record.links.iter();
        Self {
            status: record.status,
            until: record.valid_until,
            links: links.map(|l| ((l.to, l.kind), l.weight)).collect(),
            is_erased: record.text.is_empty(),
        }
    }
}

/// The fates of all records. No note of these tests has an end from the start.
pub(super) fn records(changes: &[StoredChange]) -> BTreeMap<RecordId, Fate> {
    let by_seq: BTreeMap<ChangeSeq, &Change> = changes.iter().map(|c| (c.seq, &c.change)).collect();
    let mut fates = BTreeMap::new();
    for stored in changes {
        match &stored.change {
            Change::Reverted { undone, records } => {
                take_back(by_seq[undone], records, &by_seq, &mut fates);
            }
            change => carry_out(change, &mut fates),
        }
    }
    fates
}

fn carry_out(change: &Change, fates: &mut BTreeMap<RecordId, Fate>) {
    match change {
        Change::Added { record } => {
            let before = fates.insert(*record, Fate::new(None));
            assert_eq!(before, None, "{record} was added twice");
        }
        Change::Superseded {
            record, by, until, ..
        } => {
            let fate = of(fates, *record);
            fate.status = RecordStatus::Superseded { by: *by };
            fate.until = Some(*until);
        }
        Change::Folded { records, into } => {
            for (record, _) in records {
                of(fates, *record).status = RecordStatus::Folded { into: *into };
            }
        }
        Change::Withdrawn { record, .. } => of(fates, *record).status = RecordStatus::Withdrawn,
        Change::Erased { record } => {
            let fate = of(fates, *record);
            fate.status = RecordStatus::Withdrawn;
            fate.is_erased = true;
        }
        Change::Linked { a, b, kind, weight } => {
            of(fates, *a).links.insert((*b, *kind), *weight);
            of(fates, *b).links.insert((*a, *kind), *weight);
        }
        Change::Ignored { .. } | Change::Entity { .. } => {}
        other => panic!("{other:?} is not foreseen here"),
    }
}

fn take_back(
    undone: &Change,
    records: &[RecordId],
    by_seq: &BTreeMap<ChangeSeq, &Change>,
    fates: &mut BTreeMap<RecordId, Fate>,
) {
    match undone {
        Change::Added { record } => of(fates, *record).status = RecordStatus::Withdrawn,
        Change::Superseded {
            record,
            had_until,
            status_before,
            ..
        } => {
            let fate = of(fates, *record);
            fate.status = *status_before;
            fate.until = *had_until;
        }
        Change::Folded { records, .. } => {
            for (record, status_before) in records {
                of(fates, *record).status = *status_before;
            }
        }
        Change::Withdrawn {
            record,
            status_before,
        } => of(fates, *record).status = *status_before,
        Change::Linked { a, b, kind, .. } => {
            of(fates, *a).links.remove(&(*b, *kind));
            of(fates, *b).links.remove(&(*a, *kind));
        }
        Change::Ignored { .. } => {
            for record in records {
                fates.insert(*record, Fate::new(None));
            }
        }
        // What it took back has its effect again.
        Change::Reverted { undone, records } => match by_seq[undone] {
            Change::Reverted { undone, records } => match by_seq[undone] {
                // The record that was added for the note is there already.
                Change::Ignored { .. } => {
                    for record in records {
                        of(fates, *record).status = RecordStatus::Live;
                    }
                }
                first => take_back(first, records, by_seq, fates),
            },
            Change::Added { record } => of(fates, *record).status = RecordStatus::Live,
            Change::Ignored { .. } => {
                for record in records {
                    of(fates, *record).status = RecordStatus::Withdrawn;
                }
            }
            change => carry_out(change, fates),
        },
        other => panic!("{other:?} cannot be taken back"),
    }
}

fn of(fates: &mut BTreeMap<RecordId, Fate>, record: RecordId) -> &mut Fate {
    let fate = fates.get_mut(&record);
    fate.unwrap_or_else(|| panic!("{record} was never added"))
}

/// What is known of people and things after these changes.
pub(super) fn entities(changes: &[StoredChange]) -> Entities {
    let mut entities = Entities::new();
    for stored in changes {
        if let Change::Entity { change } = &stored.change {
            let applied = entities.apply(change, stored.at);
            applied.unwrap_or_else(|e| panic!("{stored:?}: {e}"));
        }
    }
    entities
}
