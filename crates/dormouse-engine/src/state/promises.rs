//! Promises: what the assistant intends to do for somebody at a moment, or when its world attests something.

use std::collections::VecDeque;

use dormouse_contracts::{Audience, Awaited, EntityId, FORGOTTEN, Seq, Timestamp, Trust};
use dormouse_entities::{Completion, EntityChange};
use dormouse_text::shortened;
use serde::{Deserialize, Serialize};

use super::{
    Heard, Identities, Overheard, People, Turns,
    awaiting::Fact,
    promise::{MetCondition, Promise},
    trigger::{Occasion, Trigger},
    undos::{Undos, undone},
};
use crate::{
    config::Privacy,
    event::{BrokenCause, CommitmentEnded, CommitmentOutcome, Event},
};

/// Promises: the pending actions that wait for a moment or a condition. Each stays until its turn begins, it is too
/// late, or the action is completed or withdrawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Promises {
    /// Ordered by moment, those without one last; for equal moments, in the order in which they were noted.
    pending: Vec<Promise>,
    /// The withdrawn ones, which may be restored.
    #[serde(default)]
    taken_back: Vec<Promise>,
    /// Those whose turn has begun and is not over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    begun: Vec<BegunPromise>,
    /// The ended ones, the latest last.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    ended: VecDeque<EndedPromise>,
}

/// A promise whose turn has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BegunPromise {
    pub(crate) promise: Promise,
    /// How a call completed it, if one did.
    pub(crate) completion: Option<Completion>,
}

/// A promise that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndedPromise {
    /// What it was.
    pub promise: Promise,
    /// How it ended.
    pub outcome: CommitmentOutcome,
    /// When.
    pub at: Timestamp,
}

/// The parts of the state that promises depend on.
pub(super) struct Surroundings<'a> {
    pub(super) identities: &'a Identities,
    pub(super) undos: &'a Undos,
    pub(super) privacy: Privacy,
    pub(super) overheard: &'a Overheard,
    pub(super) turns: &'a Turns,
}

impl Surroundings<'_> {
    /// What was heard since the trigger of the current turn, oldest first. For the turn of a promise, that is since the
    /// promise became due: the message that made it due does not count again for a promise that is noted in this turn.
    fn lately(&self) -> Vec<&Heard> {
        let Some(turn) = self.turns.current() else {
            return Vec::new();
        };
        let is_since = |it: &&Heard| match turn.trigger.promise() {
            Some((_, promise)) => match &promise.met {
                Some(met) => it.seq > met.seq,
                None => it.heard_at > turn.trigger.since(),
            },
            None => it.seq > turn.trigger_seq(),
        };
        let waiting = self.turns.waiting().filter_map(Trigger::message);
        let all = self.overheard.iter().chain(waiting);
        let mut lately: Vec<_> = all.filter(is_since).collect();
        lately.sort_by_key(|it| it.seq);
        lately
    }
}

impl Promises {
    /// The maximum number of pending promises. Further ones are refused.
    pub const MOST: usize = 1_000;
    /// The maximum number of ended promises that are kept.
    pub const MOST_ENDED: usize = 50;

    pub(super) fn apply(
        &mut self,
        seq: Seq,
        at: Timestamp,
        event: &Event,
        around: &Surroundings<'_>,
    ) {
        if let Some(undone) = undone(event) {
            self.toggle(around.undos.root(undone), at);
        }
        match event {
            Event::Perceived(perceived) if self.pending.iter().any(|it| !it.when.is_empty()) => {
                self.perceive(&Heard::new(seq, at, perceived), around);
            }
            Event::EntityChanged(changed) => self.change(seq, at, &changed.change, around),
            Event::CommitmentEnded(ended) => self.end(ended, at),
            Event::Forgotten(forgotten) => {
                let ids: Vec<_> = forgotten.selected.ids().collect();
                self.keep(|it| {
                    let mut who = it.when.iter().filter_map(|one| one.who.as_ref());
                    !ids.contains(&&it.entity) && !who.any(|who| ids.contains(&who))
                });
            }
            _ => {}
        }
    }

    fn change(
        &mut self,
        seq: Seq,
        at: Timestamp,
        change: &EntityChange,
        around: &Surroundings<'_>,
    ) {
        let is_one = |one: &EntityId, other: &EntityId| {
            around.identities.id_of(one) == around.identities.id_of(other)
        };
        match change {
            EntityChange::ActionAdded {
                entity,
                description,
                due_at,
                when,
                until,
                trust,
                audience,
                ..
            } if description.as_str() != FORGOTTEN && (due_at.is_some() || !when.is_empty()) => {
                let mut promise = Promise {
                    seq,
                    noted_at: at,
                    due_at: *due_at,
                    entity: entity.clone(),
                    description: description.to_string(),
                    trust: trust.unwrap_or(Trust::NONE),
                    audience: audience.clone().unwrap_or(Audience::nobody()),
                    when: when.clone(),
                    until: *until,
                    met: None,
                };
                // What happened while the model was still thinking counts, too.
                for heard in around.lately() {
                    meet(&mut promise, heard, around);
                }
                self.put(promise);
            }
            EntityChange::ActionCompleted {
                entity,
                noted_at: Some(noted_at),
                completion,
                ..
            } => {
                let is_it = |it: &Promise| it.noted_at == *noted_at && is_one(&it.entity, entity);
                if let Some(begun) = self.begun.iter_mut().find(|it| is_it(&it.promise)) {
                    begun.completion = Some(*completion);
                } else if let Some(place) = self.pending.iter().position(is_it) {
                    let promise = self.pending.remove(place);
                    self.note_end(promise, completion_outcome(*completion), at);
                }
            }
            // Promises to a removed entity are dropped.
            EntityChange::Deleted { entity } | EntityChange::Purged { entity } => {
                self.keep(|it| !is_one(&it.entity, entity));
            }
            _ => {}
        }
    }

    fn perceive(&mut self, heard: &Heard, around: &Surroundings<'_>) {
        let is_met = |it: &mut Promise| it.met.is_none() && meet(it, heard, around);
        let met: Vec<_> = self.pending.extract_if(.., |it| is_met(it)).collect();
        met.into_iter().for_each(|it| self.put(it));
    }

    fn keep(&mut self, is_kept: impl Fn(&Promise) -> bool) {
        self.pending.retain(&is_kept);
        self.taken_back.retain(&is_kept);
        self.ended.retain(|it| is_kept(&it.promise));
    }

    fn put(&mut self, promise: Promise) {
        let place = |it: &Promise| (it.comes_up_at().is_none(), it.comes_up_at(), it.seq);
        let at = self
            .pending
            .partition_point(|it| place(it) < place(&promise));
        self.pending.insert(at, promise);
    }

    /// Withdraws the promise that this event noted, or restores it if it was withdrawn.
    fn toggle(&mut self, noted: Seq, at: Timestamp) {
        let is_it = |it: &Promise| it.seq == noted;
        if let Some(place) = self.pending.iter().position(is_it) {
            if self.taken_back.len() >= Self::MOST {
                self.taken_back.remove(0);
            }
            let promise = self.pending.remove(place);
            let withdrawn = CommitmentOutcome::Broken(BrokenCause::Withdrawn);
            self.note_end(promise.clone(), withdrawn, at);
            self.taken_back.push(promise);
        } else if let Some(place) = self.taken_back.iter().position(is_it) {
            self.ended.retain(|it| it.promise.seq != noted);
            let promise = self.taken_back.remove(place);
            self.put(promise);
        }
    }

    /// Removes the promise that a turn begins for, and returns its occasion.
    pub(super) fn take(&mut self, seq: Seq, people: &People) -> Option<Occasion> {
        let place = self.pending.iter().position(|it| it.seq == seq)?;
        let promise = self.pending.remove(place);
        self.begun.push(BegunPromise {
            promise: promise.clone(),
            completion: None,
        });
        Some(promise.occasion(people))
    }

    fn end(&mut self, ended: &CommitmentEnded, at: Timestamp) {
        let is_it = |it: &Promise| it.seq == ended.commitment;
        let begun = self.begun.iter().position(|it| is_it(&it.promise));
        let begun = begun.map(|place| self.begun.remove(place).promise);
        let pending = self.pending.iter().position(is_it);
        let pending = pending.map(|place| self.pending.remove(place));
        if let Some(promise) = begun.or(pending) {
            self.note_end(promise, ended.outcome, at);
        }
    }

    fn note_end(&mut self, promise: Promise, outcome: CommitmentOutcome, at: Timestamp) {
        if self.ended.len() >= Self::MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(EndedPromise {
            promise,
            outcome,
            at,
        });
    }

    /// Drops the promise when its turn is over. Older programs recorded no other end.
    pub(super) fn close(&mut self, trigger: Seq) {
        self.begun.retain(|it| it.promise.seq != trigger);
    }

    /// The first promise that is due.
    pub(crate) fn due(&self, now: Timestamp) -> Option<&Promise> {
        self.pending.iter().find(|it| it.is_due(now))
    }

    /// A promise that has expired.
    pub(crate) fn expired(&self, now: Timestamp) -> Option<&Promise> {
        self.pending.iter().find(|it| it.has_expired(now))
    }

    /// The promise of the turn with this trigger, if the turn is not over.
    pub(crate) fn begun(&self, trigger: Seq) -> Option<&BegunPromise> {
        self.begun.iter().find(|it| it.promise.seq == trigger)
    }

    /// The next moment after `now`.
    pub(crate) fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let open = self.pending.iter().filter(|it| it.met.is_none());
        let moments = open.flat_map(|it| it.due_at.into_iter().chain(it.until));
        moments.filter(|at| *at > now).min()
    }

    /// The pending promises, the nearest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Promise> {
        self.pending.iter()
    }

    /// Those whose turn has begun and is not over.
    pub fn under_way(&self) -> impl ExactSizeIterator<Item = &Promise> {
        self.begun.iter().map(|it| &it.promise)
    }

    /// The ended promises, the latest last; at most [`Promises::MOST_ENDED`].
    pub fn ended(&self) -> impl DoubleEndedIterator<Item = &EndedPromise> + ExactSizeIterator {
        self.ended.iter()
    }
}

/// The outcome of a promise that a call completed or withdrew.
pub(crate) fn completion_outcome(completion: Completion) -> CommitmentOutcome {
    match completion {
        Completion::Done => CommitmentOutcome::Kept,
        Completion::Withdrawn => CommitmentOutcome::Broken(BrokenCause::Withdrawn),
    }
}

/// Marks the promise as met if it waits for this and has not expired. Returns whether it is met now.
fn meet(promise: &mut Promise, heard: &Heard, around: &Surroundings<'_>) -> bool {
    let is_late = promise.until.is_some_and(|until| heard.heard_at >= until);
    if is_late || promise.met.is_some() {
        return false;
    }
    let fact = Fact {
        perception: &heard.perception,
        is_public: heard.is_public || around.privacy == Privacy::Shared,
        identities: around.identities,
    };
    let found = promise
        .when
        .iter()
        .find(|it| fact.meets(it, &promise.entity));
    let Some(awaited) = found.cloned() else {
        return false;
    };
    // A text has the trust of its source. An arrival is attested by the world.
    if awaited.words.is_some() {
        promise.trust = promise.trust.lowest(heard.trust);
    }
    let attested = &heard.perception.attested;
    let by = attested.sender.id();
    let is_its_own = attested.movement.is_some() && by == Some(&promise.entity);
    let words = heard.perception.words.as_claimed();
    promise.met = Some(MetCondition {
        movement: is_its_own.then(|| shortened(words, MetCondition::LONGEST_MOVEMENT).into_owned()),
        seq: heard.seq,
        at: heard.heard_at,
        awaited: Awaited {
            who: awaited.who.or_else(|| by.cloned()),
            ..awaited
        },
    });
    true
}
