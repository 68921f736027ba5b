//! What records are filtered by.

use dormouse_contracts::{Timestamp, Trust};

use crate::record::{Record, RecordId, RecordKind, Shelf};

/// What one record is filtered by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meta {
    pub(crate) in_use: bool,
    pub(crate) kind: RecordKind,
    pub(crate) shelf: Shelf,
    pub(crate) trust: Trust,
    pub(crate) at: Timestamp,
    pub(crate) valid_from: Timestamp,
    /// The end of time where it has no end.
    pub(crate) valid_until: Timestamp,
}

impl Meta {
    /// What takes the place of a number that no record has.
    const NONE: Self = Self {
        in_use: false,
        kind: RecordKind::Event,
        shelf: Shelf::Memories,
        trust: Trust::NONE,
        at: Timestamp::EPOCH,
        valid_from: Timestamp::EPOCH,
        valid_until: Timestamp::EPOCH,
    };

    pub(crate) fn of(record: &Record) -> Self {
        Self {
            in_use: record.is_in_use(),
            kind: record.kind,
            shelf: record.shelf,
            trust: record.trust,
            at: record.at,
            valid_from: record.valid_from,
            valid_until: record
                .valid_until
                .unwrap_or(Timestamp::from_micros(i64::MAX)),
        }
    }
}

/// The filters of all records, by number. Numbers are given out one after the other, so a list serves.
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

    /// Every number with its filters.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (RecordId, &Meta)> {
        (0..).map(RecordId).zip(&self.0)
    }

    pub(super) fn rows(&self) -> &[Meta] {
        &self.0
    }

    pub(super) fn from_rows(rows: Vec<Meta>) -> Self {
        Self(rows)
    }
}
