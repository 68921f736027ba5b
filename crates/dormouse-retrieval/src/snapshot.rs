//! Encodes an index as bytes, so that the program does not have to analyse every text again at start.
//!
//! ```text
//! "DMRX" · version u32 · length of the rest u64 · CRC-32 of the rest u32 · rest
//! ```
//!
//! Numbers in the header are little-endian. Numbers in the rest have a variable length, with seven bits per byte. The
//! rest contains: the largest number of terms in an indexed text (unit), and of words in a passage; the sorted terms with the number of units in
//! which each occurs (a size hint); the sorted threads and speakers; the units with their terms by thread, time and id.
//! Postings, links and sessions are not stored but rebuilt, so they always agree with the units.

mod header;
mod reading;
mod writing;

use crate::{Config, Index, text_features::TextFeatures};
pub use reading::SnapshotDecodeError;
use reading::SnapshotReader;
use writing::SnapshotWriter;

use dormouse_contracts::Timestamp;

use crate::{Speaker, Unit};

impl Index {
    /// Encodes the index. Indexes of the same units have the same bytes, regardless of the order of insertion.
    ///
    /// The [`Config`] is not included, except [`max_terms_per_unit`](Config::max_terms_per_unit) and
    /// [`passage_words`](Config::passage_words).
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = SnapshotWriter::default();
        writer.number(self.config.max_terms_per_unit as u64);
        writer.number(self.config.passage_words as u64);
        let terms = writer.table(self.lexicon.iter());
        writer.frequencies(&terms, |term| self.lexicon.frequency(term));
        let threads = writer.table(self.threads.iter());
        let speakers = writer.table(self.speakers.iter());
        let units = self.reading_order();
        writer.number(units.len() as u64);
        let mut last_at = 0;
        for slot in units {
            let (card, place) = (self.cards.at(slot), self.threads.position(slot));
            writer.number(card.id);
            writer.signed(place.at.wrapping_sub(last_at));
            last_at = place.at;
            writer.place(&threads, card.thread);
            writer.place(&speakers, place.speaker);
            writer.number(u64::from(card.text_features.0));
            writer.bag(&terms, self.bags.of(slot));
        }
        writer.finish()
    }

    /// Restores an index from the bytes of [`encode`](Self::encode). With the same configuration, it returns the
    /// same answers. If [`session_gap`](Config::session_gap) or the weights differ, the new values apply.
    ///
    /// # Errors
    ///
    /// [`SnapshotDecodeError`] if the bytes are not an index, are damaged, or come from a version that analyses text
    /// differently; build the index from its texts instead. No input causes a panic, or an allocation that
    /// is out of proportion to its length.
    pub fn decode(bytes: &[u8], config: Config) -> Result<Self, SnapshotDecodeError> {
        let mut reader = SnapshotReader::open(bytes)?;
        let limits = [config.max_terms_per_unit, config.passage_words];
        for limit in limits {
            if reader.number()? != limit as u64 {
                return Err(SnapshotDecodeError::OtherConfig);
            }
        }
        let mut index = Self::new(config);
        let terms = reader.table()?;
        for (term, frequency) in terms.iter().zip(reader.frequencies(terms.len())?) {
            index.lexicon.intern_with_room(term, frequency);
        }
        if index.lexicon.len() != terms.len() {
            return Err(SnapshotDecodeError::Damaged);
        }
        let threads = reader.table()?;
        let speakers = reader.table()?;
        let units = reader.count()?;
        index.reserve(units);
        let mut at = 0_i64;
        let mut bag = Vec::new();
        let mut last = None;
        for _ in 0..units {
            let id = reader.number()?;
            at = at.wrapping_add(reader.signed()?);
            let thread = reader.place(&threads)?;
            let speaker = reader.place(&speakers)?;
            let text_features = TextFeatures(reader.bits()?);
            reader.bag(terms.len(), &mut bag)?;
            // The passages of a unit follow each other, and agree in everything but their words.
            let row = (id, at, thread, speaker);
            if last != Some(row) && index.contains(id) {
                return Err(SnapshotDecodeError::Damaged);
            }
            last = Some(row);
            let unit = Unit {
                id,
                text: "",
                speaker: speaker.map(Speaker::of_key),
                thread,
                at: Timestamp::from_micros(at),
            };
            index.put_in(&unit, text_features, &bag);
        }
        reader.close()?;
        Ok(index)
    }

    /// All slots by thread, time, id and passage; those without a thread last.
    fn reading_order(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = self.occupied().collect();
        slots.sort_by_cached_key(|slot| {
            let card = self.cards.at(*slot);
            let thread = self.threads.name(card.thread);
            (
                thread.is_none(),
                thread.unwrap_or_default(),
                self.threads.position(*slot).at,
                card.id,
                card.passage,
            )
        });
        slots
    }
}

#[cfg(test)]
mod tests;
