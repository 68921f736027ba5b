//! The values by which recall filters records.

use std::collections::HashMap;

use dormouse_contracts::{Audience, EntityId, Timestamp, Trust};

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
    /// Who perceived it: its number in [`Audiences`].
    pub(crate) audience: u32,
    pub(crate) at: Timestamp,
    pub(crate) valid_from: Timestamp,
    /// The end of time if the record has no end.
    pub(crate) valid_until: Timestamp,
}

impl Meta {
    /// The filter values of a record whose audience has this number.
    pub(crate) fn of(record: &Record, audience: u32) -> Self {
        Self {
            in_use: record.is_in_use(),
            is_quotation: record.provenance.derivation == Derivation::Heard,
            kind: record.kind,
            collection: record.collection,
            trust: record.trust,
            audience,
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
    pub(crate) audiences: Audiences,
}

/// The audiences of all records, each kept once: most records share theirs with many others.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Audiences {
    all: Vec<Audience>,
    numbers: HashMap<Audience, u32>,
}

impl Audiences {
    /// The number of this audience.
    pub(crate) fn number_of(&mut self, audience: Audience) -> u32 {
        if let Some(number) = self.numbers.get(&audience) {
            return *number;
        }
        // No memory has so many different audiences.
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(audience.clone());
        self.numbers.insert(audience, number);
        number
    }

    /// The audience of this number.
    pub(crate) fn get(&self, number: u32) -> Option<&Audience> {
        self.all.get(usize::try_from(number).ok()?)
    }

    /// All audiences, by number.
    pub(crate) fn all(&self) -> &[Audience] {
        &self.all
    }

    /// Which of them cover the listeners, by number. `id_of` gives one id to each person.
    pub(crate) fn that_cover<'a>(
        &'a self,
        listeners: &'a Audience,
        id_of: impl Fn(&'a EntityId) -> &'a EntityId,
    ) -> Vec<bool> {
        let listeners = listeners.renamed(&id_of);
        let covers = |audience: &'a Audience| audience.renamed(&id_of).covers(&listeners);
        self.all.iter().map(covers).collect()
    }
}

impl Metas {
    /// No rows yet, with these audiences.
    pub(crate) fn of(audiences: Audiences) -> Self {
        Self {
            audiences,
            ..Self::default()
        }
    }

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_somebody_heard_under_a_former_id_is_known_to_them_under_the_present_one() {
        let id = |text: &str| EntityId::try_new(text).unwrap();
        let (masked, alice) = (id("masked"), id("alice"));
        let mut audiences = Audiences::default();
        audiences.number_of(Audience::from_iter([masked.clone()]));
        audiences.number_of(Audience::from_iter([id("bob")]));
        let listeners = Audience::from_iter([alice.clone()]);
        let merged = BTreeMap::from([(masked, alice)]);
        let covers =
            audiences.that_cover(&listeners, |entity| merged.get(entity).unwrap_or(entity));
        assert_eq!(covers, [true, false]);
        let apart = audiences.that_cover(&listeners, |entity| entity);
        assert_eq!(apart, [false, false]);
    }
}
