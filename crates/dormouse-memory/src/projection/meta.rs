//! The values by which recall filters records.

use dormouse_contracts::{Timestamp, Trust};

use crate::record::{Collection, Record, RecordId, RecordKind};

/// The filter values of one record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meta {
    pub(crate) in_use: bool,
    pub(crate) kind: RecordKind,
    pub(crate) collection: Collection,
    pub(crate) trust: Trust,
    pub(crate) at: Timestamp,
    pub(crate) valid_from: Timestamp,
    /// The end of time if the record has no end.
    pub(crate) valid_until: Timestamp,
}

impl Meta {
    /// The row of a number that no record has.
    const NONE: Self = Self {
        in_use: false,
        kind: RecordKind::Event,
        collection: Collection::Memories,
        trust: Trust::NONE,
        at: Timestamp::EPOCH,
        valid_from: Timestamp::EPOCH,
        valid_until: Timestamp::EPOCH,
    };

    pub(crate) fn of(record: &Record) -> Self {
        Self {
            in_use: record.is_in_use(),
            kind: record.kind,
            collection: record.collection,
            trust: record.trust,
            at: record.at,
            valid_from: record.valid_from,
            valid_until: record
                .valid_until
                .unwrap_or(Timestamp::from_micros(i64::MAX)),
        }
    }
}

/// The filter values of all records, indexed by number: numbers are given out one after the other.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Metas(Vec<Meta>);

impl Metas {
    pub(crate) fn get(&self, id: RecordId) -> Option<&Meta> {
        self.0.get(usize::try_from(id.0).ok()?)
    }

    pub(crate) fn set(&mut self, id: RecordId, meta: Meta) {
        let Ok(place) = usize::try_from(id.0) else {
            return;
        };
        if self.0.len() <= place {
            self.0.resize(place + 1, Meta::NONE);
        }
        if let Some(there) = self.0.get_mut(place) {
            *there = meta;
        }
    }

    /// Every number with its filter values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (RecordId, &Meta)> {
        (0..).map(RecordId).zip(&self.0)
    }

    pub(crate) fn rows(&self) -> &[Meta] {
        &self.0
    }

    pub(crate) fn from_rows(rows: Vec<Meta>) -> Self {
        Self(rows)
    }
}
