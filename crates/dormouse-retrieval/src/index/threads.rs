//! Who stands beside whom: threads, the sessions within them, and the links between neighbours.

use std::collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry};

use super::{column::Column, names::Names, number_hash::NumberHash};

/// No slot, no session, no thread.
pub(crate) const NONE: u32 = u32::MAX;

/// Where a unit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The neighbours within the session.
    pub(crate) prev: u32,
    pub(crate) next: u32,
    pub(crate) session: u32,
    /// How many terms the unit has.
    pub(crate) terms: u32,
    /// Who speaks.
    pub(crate) speaker: u32,
    /// When.
    pub(crate) at: i64,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            prev: NONE,
            next: NONE,
            session: NONE,
            terms: 0,
            speaker: NONE,
            at: 0,
        }
    }
}

/// What a session holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Its first unit, and when that was.
    pub(crate) first: u32,
    pub(crate) begun_at: i64,
    pub(crate) units: u32,
    pub(crate) terms: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            first: NONE,
            begun_at: 0,
            units: 0,
            terms: 0,
        }
    }
}

/// A unit as its thread orders it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) slot: u32,
    pub(crate) at: i64,
    pub(crate) id: u64,
    pub(crate) terms: u32,
    pub(crate) speaker: u32,
}

/// The units of one thread, by time and number.
type Order = BTreeMap<(i64, u64), u32>;

#[derive(Clone, Debug)]
pub(crate) struct Threads {
    gap_micros: u64,
    names: Names,
    orders: Vec<Order>,
    places: Column<Place>,
    sessions: Column<Tally>,
    /// The sessions by when they begin.
    begins: BTreeSet<(i64, u32)>,
    /// How many units each speaker has in each session, by session and speaker.
    participants: HashMap<(u32, u32), u32, NumberHash>,
    session_numbers: u32,
    free_sessions: Vec<u32>,
}

impl Threads {
    pub(crate) fn new(gap_micros: u64) -> Self {
        Self {
            gap_micros,
            names: Names::default(),
            orders: Vec::new(),
            places: Column::default(),
            sessions: Column::default(),
            begins: BTreeSet::new(),
            participants: HashMap::default(),
            session_numbers: 0,
            free_sessions: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn place(&self, slot: u32) -> Place {
        self.places.at(slot)
    }

    #[inline]
    pub(crate) fn session(&self, number: u32) -> Tally {
        self.sessions.at(number)
    }

    /// Whether a speaker has a unit in a session.
    pub(crate) fn takes_part(&self, speaker: u32, session: u32) -> bool {
        self.participants.contains_key(&(session, speaker))
    }

    /// How many sessions there are.
    pub(crate) fn sessions(&self) -> usize {
        self.session_numbers as usize - self.free_sessions.len()
    }

    /// The numbers of sessions lie below this.
    pub(crate) fn session_bound(&self) -> usize {
        self.session_numbers as usize
    }

    /// The name of a thread.
    pub(crate) fn name(&self, thread: u32) -> Option<&str> {
        self.names.name(thread)
    }

    /// All threads with their numbers, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names.iter()
    }

    /// Puts a unit into its place, and tells the number of its thread.
    pub(crate) fn insert(&mut self, thread: Option<&str>, unit: Arrival) -> u32 {
        let place = Place {
            terms: unit.terms,
            speaker: unit.speaker,
            at: unit.at,
            ..Place::default()
        };
        self.places.set(unit.slot, place);
        let Some(name) = thread else {
            let session = self.new_session();
            self.join(unit.slot, session);
            self.begin(session, unit.slot);
            return NONE;
        };
        let (thread, is_new) = self.names.hold(name);
        if is_new && thread as usize >= self.orders.len() {
            self.orders.push(Order::new());
        }
        self.link_in(thread, unit);
        thread
    }

    fn link_in(&mut self, thread: u32, unit: Arrival) {
        let Arrival { slot, at, id, .. } = unit;
        let Some(order) = self.orders.get_mut(thread as usize) else {
            return;
        };
        let before = order.range(..(at, id)).next_back();
        let before = before.filter(|((when, _), _)| at.abs_diff(*when) <= self.gap_micros);
        let before = before.map_or(NONE, |(_, slot)| *slot);
        let after = order.range((at, id)..).next();
        let after = after.filter(|((when, _), _)| at.abs_diff(*when) <= self.gap_micros);
        let after = after.map_or(NONE, |(_, slot)| *slot);
        order.insert((at, id), slot);

        if let Some(place) = self.places.at_mut(slot) {
            (place.prev, place.next) = (before, after);
        }
        self.link(before, slot);
        self.link(slot, after);
        let first = match self.place(before).session {
            NONE => slot,
            left => self.session(left).first,
        };
        let session = self.merged(before, after);
        self.join(slot, session);
        self.begin(session, first);
    }

    /// Takes a unit out of its place.
    pub(crate) fn remove(&mut self, thread: u32, unit: Arrival) {
        let Arrival { slot, at, id, .. } = unit;
        let Place {
            prev,
            next,
            session,
            ..
        } = self.place(slot);
        let first = self.session(session).first;
        self.leave(slot);
        let stays_one = prev == NONE || next == NONE || self.within_gap(thread, at, id);
        if let Some(place) = self.places.at_mut(prev) {
            place.next = if stays_one { next } else { NONE };
        }
        if let Some(place) = self.places.at_mut(next) {
            place.prev = if stays_one { prev } else { NONE };
        }
        if !stays_one {
            self.split(prev, next);
            self.begin(self.place(prev).session, first);
        }
        if next != NONE && self.place(next).prev == NONE {
            self.begin(self.place(next).session, next);
        }
        self.places.set(slot, Place::default());
        if let Some(order) = self.orders.get_mut(thread as usize) {
            order.remove(&(at, id));
            self.names.release(thread);
        }
    }

    /// Whether the units before and after this place are near enough to each other.
    fn within_gap(&self, thread: u32, at: i64, id: u64) -> bool {
        let Some(order) = self.orders.get(thread as usize) else {
            return false;
        };
        let before = order.range(..(at, id)).next_back();
        let after = order.range((at, id)..).find(|(key, _)| **key != (at, id));
        match (before, after) {
            (Some(((before, _), _)), Some(((after, _), _))) => {
                after.abs_diff(*before) <= self.gap_micros
            }
            _ => false,
        }
    }

    fn link(&mut self, prev: u32, next: u32) {
        if let Some(place) = self.places.at_mut(prev) {
            place.next = next;
        }
        if let Some(place) = self.places.at_mut(next) {
            place.prev = prev;
        }
    }

    /// `slot` and those before it in its session.
    pub(crate) fn backwards(&self, slot: u32) -> impl Iterator<Item = u32> {
        chain(slot, |slot| self.place(slot).prev)
    }

    /// `slot` and those after it in its session.
    pub(crate) fn forwards(&self, slot: u32) -> impl Iterator<Item = u32> {
        chain(slot, |slot| self.place(slot).next)
    }

    fn new_session(&mut self) -> u32 {
        let number = self.free_sessions.pop().unwrap_or_else(|| {
            self.session_numbers += 1;
            self.session_numbers - 1
        });
        self.sessions.set(number, Tally::default());
        number
    }

    /// Notes which unit of a session is the first.
    fn begin(&mut self, session: u32, first: u32) {
        let at = self.place(first).at;
        let Some(tally) = self.sessions.at_mut(session) else {
            return;
        };
        if tally.units > 1 && (tally.first, tally.begun_at) == (first, at) {
            return;
        }
        self.begins.remove(&(tally.begun_at, session));
        (tally.first, tally.begun_at) = (first, at);
        self.begins.insert((at, session));
    }

    /// The sessions that begin within a stretch of time, by time.
    pub(crate) fn begun_within(&self, from: i64, until: i64) -> impl Iterator<Item = u32> {
        let some = (from < until).then(|| self.begins.range((from, 0)..(until, 0)));
        some.into_iter().flatten().map(|(_, session)| *session)
    }

    /// When the first and the last session begin.
    pub(crate) fn times(&self) -> Option<(i64, i64)> {
        Some((self.begins.first()?.0, self.begins.last()?.0))
    }

    fn join(&mut self, slot: u32, session: u32) {
        let Some(place) = self.places.at_mut(slot) else {
            return;
        };
        place.session = session;
        let (terms, speaker) = (u64::from(place.terms), place.speaker);
        if speaker != NONE {
            *self.participants.entry((session, speaker)).or_default() += 1;
        }
        if let Some(tally) = self.sessions.at_mut(session) {
            tally.units += 1;
            tally.terms += terms;
        }
    }

    fn leave(&mut self, slot: u32) {
        let place = self.place(slot);
        if let Entry::Occupied(mut units) = self.participants.entry((place.session, place.speaker))
        {
            *units.get_mut() -= 1;
            if *units.get() == 0 {
                units.remove();
            }
        }
        if let Some(tally) = self.sessions.at_mut(place.session) {
            tally.units -= 1;
            tally.terms -= u64::from(place.terms);
            if tally.units == 0 {
                self.begins.remove(&(tally.begun_at, place.session));
                self.free_sessions.push(place.session);
            }
        }
    }

    /// The session that spans both sides: one of theirs, into which the smaller one moves, or a new one.
    fn merged(&mut self, before: u32, after: u32) -> u32 {
        match (self.place(before).session, self.place(after).session) {
            (NONE, NONE) => self.new_session(),
            (one, NONE) | (NONE, one) => one,
            (one, other) if one == other => one,
            (left, right) if self.session(left).units >= self.session(right).units => {
                let moving: Vec<u32> = self.forwards(after).collect();
                self.move_to(&moving, left);
                left
            }
            (_, right) => {
                // The new unit links both sides already: stay on the left one.
                let moving: Vec<u32> = self.backwards(before).collect();
                self.move_to(&moving, right);
                right
            }
        }
    }

    /// Gives the smaller side of a session that has fallen apart a session of its own.
    fn split(&mut self, left: u32, right: u32) {
        let smaller: Vec<u32> = {
            let (mut lefts, mut rights) = (self.backwards(left), self.forwards(right));
            loop {
                // In step, so that the work is bounded by the smaller side.
                match (lefts.next(), rights.next()) {
                    (Some(_), Some(_)) => {}
                    (None, _) => break self.backwards(left).collect(),
                    (_, None) => break self.forwards(right).collect(),
                }
            }
        };
        let session = self.new_session();
        self.move_to(&smaller, session);
    }

    fn move_to(&mut self, slots: &[u32], session: u32) {
        for &slot in slots {
            self.leave(slot);
            self.join(slot, session);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        // A tree's nodes are about three quarters full.
        let units: usize = self.orders.iter().map(Order::len).sum();
        let orders = units * 27 + self.begins.len() * 22;
        let participants = self.participants.capacity() * (size_of::<(u32, u32, u32)>() + 1);
        self.names.bytes() + orders + participants + self.places.bytes() + self.sessions.bytes()
    }
}

/// `slot`, the one that `step` leads to, and so on.
fn chain(slot: u32, step: impl Fn(u32) -> u32) -> impl Iterator<Item = u32> {
    let known = |slot: u32| (slot != NONE).then_some(slot);
    std::iter::successors(known(slot), move |slot| known(step(*slot)))
}

#[cfg(test)]
mod tests;
