//! Encodes numbers and names.

use std::collections::HashMap;

use super::header::{HEAD_BYTES, MAGIC, VERSION};

/// Collects the bytes after the header.
#[derive(Default)]
pub(super) struct SnapshotWriter(Vec<u8>);

impl SnapshotWriter {
    /// Writes seven bits per byte, lowest first; the eighth bit means that more bytes follow (LEB128).
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes a signed number in zigzag encoding, which makes small numbers of either sign short.
    pub(super) fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    /// Writes sorted names. Returns the place of each name in the table, counted from 1, by the name's number in the
    /// index.
    pub(super) fn table<'a>(
        &mut self,
        names: impl Iterator<Item = (&'a str, u32)>,
    ) -> HashMap<u32, u64> {
        let mut sorted: Vec<(&str, u32)> = names.collect();
        sorted.sort_unstable();
        self.number(sorted.len() as u64);
        for (name, _) in &sorted {
            self.number(name.len() as u64);
            self.0.extend_from_slice(name.as_bytes());
        }
        let numbers = sorted.into_iter().map(|(_, number)| number);
        numbers.zip(1..).collect()
    }

    /// Writes how often each term of a table occurs, in the order of the table.
    pub(super) fn frequencies(
        &mut self,
        table: &HashMap<u32, u64>,
        frequency: impl Fn(u32) -> usize,
    ) {
        let mut places: Vec<(u64, u32)> =
            table.iter().map(|(term, place)| (*place, *term)).collect();
        places.sort_unstable();
        for (_, term) in places {
            self.number(frequency(term) as u64);
        }
    }

    /// Writes the places of terms, each as the distance from the one before.
    pub(super) fn bag(&mut self, table: &HashMap<u32, u64>, terms: &[u32]) {
        let mut places: Vec<u64> = terms
            .iter()
            .filter_map(|term| table.get(term))
            .copied()
            .collect();
        places.sort_unstable();
        self.number(places.len() as u64);
        let mut before = 0;
        for place in places {
            self.number(place - before);
            before = place;
        }
    }

    /// Writes the place of a name in its table; 0 for a missing name.
    pub(super) fn place(&mut self, table: &HashMap<u32, u64>, number: u32) {
        self.number(table.get(&number).copied().unwrap_or(0));
    }

    /// Returns the collected bytes with the header in front.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.0.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(self.0.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&self.0).to_le_bytes());
        bytes.extend_from_slice(&self.0);
        bytes
    }
}
