//! The index: units, their terms, and their neighbours.

mod bags;
pub(crate) mod column;
pub(crate) mod lexicon;
mod names;
mod number_hash;
pub(crate) mod speakers;
pub(crate) mod threads;

use std::{
    collections::{HashMap, hash_map::Entry},
    ops::ControlFlow,
};

use dormouse_contracts::Timestamp;

use crate::{
    Config, Unit,
    analyse::Analyser,
    passages::passages,
    search::{Rarity, ScratchPool},
    text_features::TextFeatures,
};
use bags::Bags;
use column::Column;
use lexicon::{Lexicon, MAX_SLOTS};
use number_hash::NumberHash;
use speakers::Speakers;
use threads::{Arrival, NONE, Threads};

/// An in-memory index of units. See the [crate](crate) for its features.
///
/// Searching takes `&self` and can run on many threads at once. The answer depends only on the units in the index, not
/// on the order of insertion nor on removed units. A clone takes time linear in the units, but analyses no text.
#[derive(Clone, Debug)]
pub struct Index {
    pub(crate) config: Config,
    pub(crate) analyser: Analyser,
    pub(crate) lexicon: Lexicon,
    pub(crate) bags: Bags,
    pub(crate) threads: Threads,
    pub(crate) speakers: Speakers,
    pub(crate) cards: Column<Card>,
    /// The slot of each unit's first passage by the unit's id. A slot is the passage's place in all columns; slots of
    /// removed units are reused.
    slots: HashMap<u64, u32, NumberHash>,
    /// The slots of the other passages in order, of the units that have several.
    more: HashMap<u64, Vec<u32>, NumberHash>,
    free: Vec<u32>,
    /// Every slot number is below this.
    slot_bound: u32,
    /// The number of passages in all units together.
    pub(crate) passages: usize,
    /// The number of terms in all units together.
    pub(crate) terms: u64,
    pub(crate) pool: ScratchPool,
}

/// What is stored about a unit in addition to its terms and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    pub(crate) id: u64,
    /// Which passage of the unit, from 0.
    pub(crate) passage: u32,
    pub(crate) thread: u32,
    pub(crate) text_features: TextFeatures,
}

impl Default for Card {
    fn default() -> Self {
        Self {
            id: 0,
            passage: 0,
            thread: NONE,
            text_features: TextFeatures::default(),
        }
    }
}

/// The result of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// The unit is new.
    Added,
    /// The unit replaced the unit with the same id.
    Replaced,
    /// The index is full (2^27 passages). The unit is not in it, nor the one that it was to replace.
    Full,
}

/// The result of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The unit was removed. Its neighbours become neighbours of each other if they are close enough in time.
    Removed,
    /// No unit has this id.
    Absent,
}

impl Index {
    /// An empty index.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let gap = u64::try_from(config.session_gap.as_micros()).unwrap_or(u64::MAX);
        Self {
            config,
            analyser: Analyser::new(),
            lexicon: Lexicon::default(),
            bags: Bags::default(),
            threads: Threads::new(gap),
            speakers: Speakers::default(),
            cards: Column::default(),
            slots: HashMap::default(),
            more: HashMap::default(),
            free: Vec::new(),
            slot_bound: 0,
            passages: 0,
            terms: 0,
            pool: ScratchPool::default(),
        }
    }

    /// Whether a session is a unit without a thread.
    pub(crate) fn is_lone(&self, session: u32) -> bool {
        self.cards.at(self.threads.session(session).first).thread == NONE
    }

    /// The configuration of the index.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The number of units.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the index is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether a unit with this id exists.
    #[must_use]
    pub fn contains(&self, id: u64) -> bool {
        self.slots.contains_key(&id)
    }

    /// Adds a unit, or replaces the unit with the same id. Takes time linear in the unit's text. A unit that is older
    /// than others of its thread is linked at its place in time. A text of more than
    /// [`Config::passage_words`] is indexed as passages.
    pub fn insert(&mut self, unit: &Unit<'_>) -> Insertion {
        let replaced = self.take_out(unit.id);
        let mut room = self.config.max_terms_per_unit;
        for (number, passage) in passages(unit.text, self.config.passage_words)
            .into_iter()
            .enumerate()
        {
            if number > 0 && room == 0 {
                break;
            }
            let terms = self.terms_of(passage, room);
            room -= terms.len();
            if self.put_in(unit, TextFeatures::of(passage), &terms) == Insertion::Full {
                self.take_out(unit.id);
                return Insertion::Full;
            }
        }
        match replaced {
            Removal::Removed => Insertion::Replaced,
            Removal::Absent => Insertion::Added,
        }
    }

    /// The sorted terms of a text, at most `most`.
    fn terms_of(&mut self, text: &str, most: usize) -> Vec<u32> {
        let mut terms = Vec::new();
        let lexicon = &mut self.lexicon;
        self.analyser.each_term(text, |term| {
            if terms.len() >= most {
                return ControlFlow::Break(());
            }
            terms.push(lexicon.intern(term));
            ControlFlow::Continue(())
        });
        terms.sort_unstable();
        terms
    }

    /// Adds the next passage of a unit from its sorted terms, without its text.
    pub(crate) fn put_in(
        &mut self,
        unit: &Unit<'_>,
        text_features: TextFeatures,
        terms: &[u32],
    ) -> Insertion {
        let Some(slot) = self.free.pop().or_else(|| self.next_slot()) else {
            return Insertion::Full;
        };
        let passage = u32::try_from(self.slots_of(unit.id).count()).unwrap_or(u32::MAX);
        let arrival = Arrival {
            slot,
            at: unit.at.as_micros(),
            id: unit.id,
            passage,
            terms: u32::try_from(terms.len()).unwrap_or(u32::MAX),
            speaker: unit
                .speaker
                .map_or(NONE, |speaker| self.speakers.hold(speaker)),
        };
        let card = Card {
            id: unit.id,
            passage,
            thread: self.threads.insert(unit.thread, arrival),
            text_features,
        };
        self.cards.set(slot, card);
        self.bags.set(slot, terms);
        self.terms += terms.len() as u64;
        each_count(terms, |term, count| {
            self.lexicon.add(term, slot, count);
            if card.thread == NONE {
                self.lexicon.add_to_notes(term);
            }
        });
        self.passages += 1;
        match self.slots.entry(unit.id) {
            Entry::Vacant(first) => {
                first.insert(slot);
            }
            Entry::Occupied(_) => self.more.entry(unit.id).or_default().push(slot),
        }
        Insertion::Added
    }

    /// Removes a unit. Afterwards the index answers as if the unit had never existed. Takes time linear in the unit's
    /// words and their frequency: about ten microseconds for a turn among a million.
    pub fn remove(&mut self, id: u64) -> Removal {
        let removal = self.take_out(id);
        self.lexicon.sweep();
        removal
    }

    fn take_out(&mut self, id: u64) -> Removal {
        let slots: Vec<u32> = self.slots_of(id).collect();
        for slot in &slots {
            self.take_out_passage(*slot);
        }
        self.slots.remove(&id);
        self.more.remove(&id);
        match slots.is_empty() {
            true => Removal::Absent,
            false => Removal::Removed,
        }
    }

    fn take_out_passage(&mut self, slot: u32) {
        let terms = self.bags.of(slot).to_vec();
        let is_note = self.cards.at(slot).thread == NONE;
        each_count(&terms, |term, _| {
            self.lexicon.remove(term, slot);
            if is_note {
                self.lexicon.remove_from_notes(term);
            }
        });
        self.terms -= terms.len() as u64;
        self.bags.clear(slot);
        let card = self.cards.at(slot);
        // The position must be read before `threads.remove` clears it.
        let place = self.threads.position(slot);
        let leaving = Arrival {
            slot,
            at: place.at,
            id: card.id,
            passage: card.passage,
            terms: u32::try_from(terms.len()).unwrap_or(u32::MAX),
            speaker: place.speaker,
        };
        self.threads.remove(card.thread, leaving);
        self.speakers.release(place.speaker);
        self.cards.set(slot, Card::default());
        self.free.push(slot);
        self.passages -= 1;
    }

    fn next_slot(&mut self) -> Option<u32> {
        let slot = self.slot_bound;
        (slot < MAX_SLOTS).then(|| {
            self.slot_bound += 1;
            slot
        })
    }

    /// Up to `radius` units before and after the unit in its session, in reading order, without the unit itself. Empty
    /// if no unit has this id.
    #[must_use]
    pub fn neighbours(&self, id: u64, radius: usize) -> Vec<u64> {
        let Some(slot) = self.slot(id) else {
            return Vec::new();
        };
        let mut ids = self.units(self.threads.backwards(slot), radius + 1);
        ids.reverse();
        ids.pop();
        ids.extend(
            self.units(self.threads.forwards(slot), radius + 1)
                .split_off(1),
        );
        ids
    }

    /// All units of the unit's session, itself included, in reading order. Empty if no unit has this id.
    #[must_use]
    pub fn session(&self, id: u64) -> Vec<u64> {
        let Some(slot) = self.slot(id) else {
            return Vec::new();
        };
        let mut ids = self.units(self.threads.backwards(slot), usize::MAX);
        ids.reverse();
        ids.pop();
        ids.extend(self.units(self.threads.forwards(slot), usize::MAX));
        ids
    }

    /// The units of these passages, at most `most`, each once.
    fn units(&self, slots: impl Iterator<Item = u32>, most: usize) -> Vec<u64> {
        let mut ids: Vec<u64> = Vec::new();
        for id in slots.map(|slot| self.id(slot)) {
            if ids.last() == Some(&id) {
                continue;
            }
            if ids.len() >= most {
                break;
            }
            ids.push(id);
        }
        ids
    }

    /// When a unit was said, or when its event happened.
    #[must_use]
    pub fn at(&self, id: u64) -> Option<Timestamp> {
        self.slot(id)
            .map(|slot| Timestamp::from_micros(self.threads.position(slot).at))
    }

    /// How rare a term that [`terms`](crate::terms) returned is, from 0 for one in every unit to 1 for one in none.
    #[must_use]
    pub fn rarity(&self, term: &str) -> f32 {
        let rarity = Rarity::of(self);
        rarity.of_term(self.lexicon.number(term)) / rarity.of_term(None)
    }

    /// The [`rarity`](Self::rarity) of a term that occurs in this many units.
    #[must_use]
    pub fn rarity_of_frequency(&self, frequency: usize) -> f32 {
        let rarity = Rarity::of(self);
        rarity.of_frequency(frequency) / rarity.of_term(None)
    }

    /// The approximate memory use of the index, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.lexicon.bytes()
            + self.bags.bytes()
            + self.threads.bytes()
            + self.speakers.bytes()
            + self.cards.bytes()
            + self.slots.capacity() * (size_of::<(u64, u32)>() + 1)
            + self.more.capacity() * (size_of::<(u64, Vec<u32>)>() + 1)
            + (self.passages - self.slots.len()) * size_of::<u32>()
            + self.free.capacity() * size_of::<u32>()
    }

    pub(crate) fn reserve(&mut self, units: usize) {
        self.slots.reserve(units);
    }

    pub(crate) fn slot(&self, id: u64) -> Option<u32> {
        self.slots.get(&id).copied()
    }

    #[inline]
    pub(crate) fn id(&self, slot: u32) -> u64 {
        self.cards.at(slot).id
    }

    pub(crate) fn slot_bound(&self) -> usize {
        self.slot_bound as usize
    }

    /// The slots of a unit's passages in order.
    pub(crate) fn slots_of(&self, id: u64) -> impl Iterator<Item = u32> {
        let more = self.more.get(&id).into_iter().flatten();
        self.slot(id).into_iter().chain(more.copied())
    }

    /// Whether a unit has several passages.
    pub(crate) fn has_passages(&self) -> bool {
        !self.more.is_empty()
    }

    /// All slots with a passage, in no particular order.
    pub(crate) fn occupied(&self) -> impl Iterator<Item = u32> {
        let more = self.more.values().flatten();
        self.slots.values().chain(more).copied()
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::new(Config::default())
    }
}

/// Calls `each` with every distinct term of a sorted list and its count.
fn each_count(sorted: &[u32], mut each: impl FnMut(u32, u32)) {
    for run in sorted.chunk_by(|a, b| a == b) {
        if let Some(&term) = run.first() {
            each(term, u32::try_from(run.len()).unwrap_or(u32::MAX));
        }
    }
}
