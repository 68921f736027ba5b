//! The values by which recall filters records.

use dormouse_contracts::{Timestamp, Trust};

use crate::record::{Collection, Derivation, Record, RecordId, RecordKind};

/// The filter values of one record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meta {
    pub(crate) in_use: bool,
    /// Whether it is what somebody said, word for word, and so true as a quotation.
    pub(crate) is_quotation: bool,
    pub(crate) kind: RecordKind,
    pub(crate) collection: Collection,
    pub(crate) trust: Trust,
    pub(crate) at: Timestamp,
    pub(crate) valid_from: Timestamp,
    /// The end of time if the record has no end.
    pub(crate) valid_until: Timestamp,
}

impl Meta {
    pub(crate) fn of(record: &Record) -> Self {
        Self {
            in_use: record.is_in_use(),
            is_quotation: record.provenance.derivation == Derivation::Heard,
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

/// The filter values of all records, in the order of their ids.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Metas {
    ids: Vec<RecordId>,
    rows: Vec<Meta>,
}

impl Metas {
    pub(crate) fn get(&self, id: RecordId) -> Option<&Meta> {
        self.rows.get(self.ids.binary_search(&id).ok()?)
    }

    pub(crate) fn set(&mut self, id: RecordId, meta: Meta) {
        // Records come in the order of their log, so almost every new one is the last.
        match self.ids.binary_search(&id) {
            Ok(place) => {
                if let Some(row) = self.rows.get_mut(place) {
                    *row = meta;
                }
            }
            Err(place) => {
                self.ids.insert(place, id);
                self.rows.insert(place, meta);
            }
        }
    }

    /// Every id with its filter values.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (RecordId, &Meta)> {
        self.ids.iter().copied().zip(&self.rows)
    }
}
