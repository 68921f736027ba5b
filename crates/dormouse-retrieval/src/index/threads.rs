//! Threads, the sessions within them, and the links between neighbouring units.

use std::collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry};

use super::{column::Column, names::NameTable, number_hash::NumberHash};

/// The number of a missing slot, session, thread or speaker.
pub(crate) const NONE: u32 = u32::MAX;

/// The position of a unit in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitPosition {
    /// The neighbours within the session.
    pub(crate) prev: u32,
    pub(crate) next: u32,
    pub(crate) session: u32,
    /// How many terms the unit has.
    pub(crate) terms: u32,
    /// The number of the speaker.
    pub(crate) speaker: u32,
    /// The time in microseconds.
    pub(crate) at: i64,
}

impl Default for UnitPosition {
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

/// The totals of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionTotals {
    /// Its first unit, and the time of that unit.
    pub(crate) first: u32,
    pub(crate) begun_at: i64,
    pub(crate) units: u32,
    pub(crate) terms: u64,
}

impl Default for SessionTotals {
    fn default() -> Self {
        Self {
            first: NONE,
            begun_at: 0,
            units: 0,
            terms: 0,
        }
    }
}

/// A unit to be inserted into a thread, or removed from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) slot: u32,
    pub(crate) at: i64,
    pub(crate) id: u64,
    /// Which passage of the unit, from 0.
    pub(crate) passage: u32,
    pub(crate) terms: u32,
    pub(crate) speaker: u32,
}

impl Arrival {
    fn key(&self) -> Key {
        (self.at, self.id, self.passage)
    }
}

/// The place of a passage in its thread: the time and the id of its unit, and its number there.
type Key = (i64, u64, u32);
/// The slots of one thread.
type Order = BTreeMap<Key, u32>;

/// The units of each thread by time, and their division into sessions. Two units that follow each other in time are in
/// one session if they are at most `gap_micros` apart. `prev` and `next` of [`UnitPosition`] link the units of one
/// session in order.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    gap_micros: u64,
    names: NameTable,
    /// By the number of the thread.
    orders: Vec<Order>,
    places: Column<UnitPosition>,
    sessions: Column<SessionTotals>,
    /// The sessions by the time they begin.
    begins: BTreeSet<(i64, u32)>,
    /// How many units each speaker has in each session, by session and speaker.
    participants: HashMap<(u32, u32), u32, NumberHash>,
    session_numbers: u32,
    free_sessions: Vec<u32>,
    /// The units without a thread, and their terms.
    lone: usize,
    lone_terms: u64,
}

impl Threads {
    pub(crate) fn new(gap_micros: u64) -> Self {
        Self {
            gap_micros,
            names: NameTable::default(),
            orders: Vec::new(),
            places: Column::default(),
            sessions: Column::default(),
            begins: BTreeSet::new(),
            participants: HashMap::default(),
            session_numbers: 0,
            free_sessions: Vec::new(),
            lone: 0,
            lone_terms: 0,
        }
    }

    #[inline]
    pub(crate) fn position(&self, slot: u32) -> UnitPosition {
        self.places.at(slot)
    }

    #[inline]
    pub(crate) fn session(&self, number: u32) -> SessionTotals {
        self.sessions.at(number)
    }

    /// Whether a speaker has a unit in a session.
    pub(crate) fn takes_part(&self, speaker: u32, session: u32) -> bool {
        self.participants.contains_key(&(session, speaker))
    }

    /// The number of sessions.
    pub(crate) fn sessions(&self) -> usize {
        self.session_numbers as usize - self.free_sessions.len()
    }

    /// The number of sessions that belong to a thread, and the number of terms in them. `terms` is the number of all terms.
    /// `None` if all units belong to a thread, or none does.
    pub(crate) fn conversations(&self, terms: u64) -> Option<(usize, u64)> {
        let sessions = self.sessions() - self.lone;
        (self.lone > 0 && sessions > 0).then(|| (sessions, terms - self.lone_terms))
    }

    /// The number of units without a thread, and the number of their terms.
    pub(crate) fn notes(&self) -> (usize, u64) {
        (self.lone, self.lone_terms)
    }

    /// Every session number is below this.
    pub(crate) fn session_bound(&self) -> usize {
        self.session_numbers as usize
    }

    /// The name of a thread.
    pub(crate) fn name(&self, thread: u32) -> Option<&str> {
        self.names.name(thread)
    }

    /// All threads with their numbers, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names.iter()
    }

    /// Inserts a unit into its thread, and returns the number of the thread.
    pub(crate) fn insert(&mut self, thread: Option<&str>, unit: Arrival) -> u32 {
        let place = UnitPosition {
            terms: unit.terms,
            speaker: unit.speaker,
            at: unit.at,
            ..UnitPosition::default()
        };
        self.places.set(unit.slot, place);
        // A unit without a thread is a session of its own.
        let Some(name) = thread else {
            let session = self.new_session();
            self.join(unit.slot, session);
            self.begin(session, unit.slot);
            self.lone += 1;
            self.lone_terms += u64::from(unit.terms);
            return NONE;
        };
        let (thread, is_new) = self.names.hold(name);
        // `names` reuses the numbers of released threads, whose order is empty, so a new name may need no new order.
        if is_new && thread as usize >= self.orders.len() {
            self.orders.push(Order::new());
        }
        self.link_in(thread, unit);
        thread
    }

    fn link_in(&mut self, thread: u32, unit: Arrival) {
        let Arrival { slot, at, .. } = unit;
        let key = unit.key();
        let Some(order) = self.orders.get_mut(thread as usize) else {
            return;
        };
        // Only the direct neighbours in time matter: if they are further away than the gap, so is every other unit.
        let before = order.range(..key).next_back();
        let before = before.filter(|((when, ..), _)| at.abs_diff(*when) <= self.gap_micros);
        let before = before.map_or(NONE, |(_, slot)| *slot);
        let after = order.range(key..).next();
        let after = after.filter(|((when, ..), _)| at.abs_diff(*when) <= self.gap_micros);
        let after = after.map_or(NONE, |(_, slot)| *slot);
        order.insert(key, slot);

        if let Some(place) = self.places.at_mut(slot) {
            (place.prev, place.next) = (before, after);
        }
        // Arrival order must not matter: an older unit is linked between two neighbours, and may join their sessions
        // into one.
        self.link(before, slot);
        self.link(slot, after);
        // Read before `merged`, which may move units of the left session into the right one.
        let first = match self.position(before).session {
            NONE => slot,
            left => self.session(left).first,
        };
        let session = self.merged(before, after);
        self.join(slot, session);
        self.begin(session, first);
    }

    /// Removes a unit from its thread.
    pub(crate) fn remove(&mut self, thread: u32, unit: Arrival) {
        let Arrival { slot, .. } = unit;
        let UnitPosition {
            prev,
            next,
            session,
            ..
        } = self.position(slot);
        // Must be read while the session still has its first unit; `leave` may free the session.
        let first = self.session(session).first;
        self.leave(slot);
        // The session stays one unless it has units on both sides and they are now too far apart.
        let stays_one = prev == NONE || next == NONE || self.within_gap(thread, unit.key());
        if let Some(place) = self.places.at_mut(prev) {
            place.next = if stays_one { next } else { NONE };
        }
        if let Some(place) = self.places.at_mut(next) {
            place.prev = if stays_one { prev } else { NONE };
        }
        if !stays_one {
            self.split(prev, next);
            // `split` may have moved the left side to a new session, so its first unit must be recorded again.
            self.begin(self.position(prev).session, first);
        }
        // The removed unit was the first of its session; the next one takes its place.
        if next != NONE && self.position(next).prev == NONE {
            self.begin(self.position(next).session, next);
        }
        self.places.set(slot, UnitPosition::default());
        // A unit without a thread has the thread number NONE, which has no order.
        if let Some(order) = self.orders.get_mut(thread as usize) {
            order.remove(&unit.key());
            self.names.release(thread);
        } else {
            self.lone -= 1;
            self.lone_terms -= u64::from(unit.terms);
        }
    }

    /// Whether the units before and after this position are within the gap.
    fn within_gap(&self, thread: u32, key: Key) -> bool {
        let Some(order) = self.orders.get(thread as usize) else {
            return false;
        };
        let before = order.range(..key).next_back();
        let after = order.range(key..).find(|(other, _)| **other != key);
        match (before, after) {
            (Some(((before, ..), _)), Some(((after, ..), _))) => {
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

    /// `slot` and the units before it in its session.
    pub(crate) fn backwards(&self, slot: u32) -> impl Iterator<Item = u32> {
        chain(slot, |slot| self.position(slot).prev)
    }

    /// `slot` and the units after it in its session.
    pub(crate) fn forwards(&self, slot: u32) -> impl Iterator<Item = u32> {
        chain(slot, |slot| self.position(slot).next)
    }

    fn new_session(&mut self) -> u32 {
        let number = self.free_sessions.pop().unwrap_or_else(|| {
            self.session_numbers += 1;
            self.session_numbers - 1
        });
        self.sessions.set(number, SessionTotals::default());
        number
    }

    /// Records the first unit of a session, and when the session begins.
    fn begin(&mut self, session: u32, first: u32) {
        let at = self.position(first).at;
        let Some(tally) = self.sessions.at_mut(session) else {
            return;
        };
        // Only a session of several units can be recorded already. A fresh number has the default totals, whose time 0
        // could equal a real time.
        if tally.units > 1 && (tally.first, tally.begun_at) == (first, at) {
            return;
        }
        // The old key must go first: `begins` is keyed by time, and two entries would make the session appear twice.
        self.begins.remove(&(tally.begun_at, session));
        (tally.first, tally.begun_at) = (first, at);
        self.begins.insert((at, session));
    }

    /// The sessions that begin within a time range, by time.
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
        let place = self.position(slot);
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
            // Session numbers are reused, so an empty session must vanish from `begins` before its number is free.
            if tally.units == 0 {
                self.begins.remove(&(tally.begun_at, place.session));
                self.free_sessions.push(place.session);
            }
        }
    }

    /// The session of a unit between `before` and `after`. If they are in two sessions, the smaller one moves into the
    /// other.
    fn merged(&mut self, before: u32, after: u32) -> u32 {
        match (self.position(before).session, self.position(after).session) {
            (NONE, NONE) => self.new_session(),
            (one, NONE) | (NONE, one) => one,
            (one, other) if one == other => one,
            (left, right) if self.session(left).units >= self.session(right).units => {
                let moving: Vec<u32> = self.forwards(after).collect();
                self.move_to(&moving, left);
                left
            }
            (_, right) => {
                // `link` ran before, so walking back from the new unit would leave its left side: start at `before`.
                let moving: Vec<u32> = self.backwards(before).collect();
                self.move_to(&moving, right);
                right
            }
        }
    }

    /// Moves the smaller side of a session that has fallen apart to a new session.
    fn split(&mut self, left: u32, right: u32) {
        let smaller: Vec<u32> = {
            let (mut lefts, mut rights) = (self.backwards(left), self.forwards(right));
            loop {
                // Both sides advance in step, so the work is bounded by the smaller side.
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
        // When its last unit leaves, the old session is freed.
        for &slot in slots {
            self.leave(slot);
            self.join(slot, session);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        // B-tree nodes are about three quarters full, which gives 38 and 22 bytes per entry.
        let units: usize = self.orders.iter().map(Order::len).sum();
        let orders = units * 38 + self.begins.len() * 22;
        let participants = self.participants.capacity() * (size_of::<(u32, u32, u32)>() + 1);
        self.names.bytes() + orders + participants + self.places.bytes() + self.sessions.bytes()
    }
}

/// `slot`, the slot after it by `step`, and so on.
fn chain(slot: u32, step: impl Fn(u32) -> u32) -> impl Iterator<Item = u32> {
    let known = |slot: u32| (slot != NONE).then_some(slot);
    std::iter::successors(known(slot), move |slot| known(step(*slot)))
}

#[cfg(test)]
mod tests;
