//! An index as bytes, so that a start need not read every text again.
//!
//! ```text
//! "DMRX" · version u32 · length of the rest u64 · CRC-32 of the rest u32 · rest
//! ```
//!
//! Numbers of the head are little-endian; those of the rest are of variable length, seven bits a byte. The rest: the most
//! terms of a unit; terms, sorted, and in how many units each occurs, which only says how much room to make; threads and
//! speakers, sorted; units by thread, time and number with their terms. The postings, links and sessions are made anew, so
//! there is nothing in the bytes that could contradict itself.

mod reading;
mod writing;

use crate::{Config, Index, traits::Traits};
pub use reading::DecodeError;
use reading::Reader;
use writing::Writer;

use dormouse_contracts::Timestamp;

use crate::Unit;

const MAGIC: [u8; 4] = *b"DMRX";
/// Rises with the form of the bytes, and with anything that makes other terms of the same text.
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 20;

impl Index {
    /// The index as bytes. Indexes of the same units give the same bytes, in whatever order these came.
    ///
    /// [`Config`] is not among them except for its [`max_terms_per_unit`](Config::max_terms_per_unit).
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(self.config.max_terms_per_unit as u64);
        let terms = writer.table(self.lexicon.iter());
        writer.frequencies(&terms, |term| self.lexicon.frequency(term));
        let threads = writer.table(self.threads.iter());
        let speakers = writer.table(self.speakers.iter());
        let units = self.reading_order();
        writer.number(units.len() as u64);
        let mut last_at = 0;
        for slot in units {
            let (card, place) = (self.cards.at(slot), self.threads.place(slot));
            writer.number(card.id);
            writer.signed(place.at.wrapping_sub(last_at));
            last_at = place.at;
            writer.place(&threads, card.thread);
            writer.place(&speakers, place.speaker);
            writer.number(u64::from(card.traits.0));
            writer.bag(&terms, self.bags.of(slot));
        }
        writer.finish()
    }

    /// The index that [`encode`](Self::encode) made these bytes of. It answers as that one did if it has the same
    /// configuration. Another [`session_gap`](Config::session_gap) or other weights are heeded.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the bytes are not such an index, are damaged, or were made by a version that reads text in
    /// another way: build the index from its texts instead. No bytes make it panic or take memory out of proportion to
    /// their length.
    pub fn decode(bytes: &[u8], config: Config) -> Result<Self, DecodeError> {
        let mut reader = Reader::open(bytes)?;
        if reader.number()? != config.max_terms_per_unit as u64 {
            return Err(DecodeError::OtherConfig);
        }
        let mut index = Self::new(config);
        let terms = reader.table()?;
        for (term, frequency) in terms.iter().zip(reader.frequencies(terms.len())?) {
            index.lexicon.intern_with_room(term, frequency);
        }
        if index.lexicon.len() != terms.len() {
            return Err(DecodeError::Damaged);
        }
        let threads = reader.table()?;
        let speakers = reader.table()?;
        let units = reader.count()?;
        index.reserve(units);
        let mut at = 0_i64;
        let mut bag = Vec::new();
        for _ in 0..units {
            let id = reader.number()?;
            at = at.wrapping_add(reader.signed()?);
            let thread = reader.place(&threads)?;
            let speaker = reader.place(&speakers)?;
            let traits = Traits(reader.bits()?);
            reader.bag(terms.len(), &mut bag)?;
            if index.contains(id) {
                return Err(DecodeError::Damaged);
            }
            let unit = Unit {
                id,
                text: "",
                speaker,
                thread,
                at: Timestamp::from_micros(at),
            };
            index.put_in(&unit, traits, &bag);
        }
        reader.close()?;
        Ok(index)
    }

    /// All slots by thread, time and number; those without a thread last.
    fn reading_order(&self) -> Vec<u32> {
        let mut slots: Vec<u32> = self.occupied().collect();
        slots.sort_by_cached_key(|slot| {
            let card = self.cards.at(*slot);
            let thread = self.threads.name(card.thread);
            (
                thread.is_none(),
                thread.unwrap_or_default(),
                self.threads.place(*slot).at,
                card.id,
            )
        });
        slots
    }
}

#[cfg(test)]
mod tests;
