//! The goals of the assistant.

use std::cmp::Reverse;

use dormouse_contracts::{EntityId, FORGOTTEN, Seq, Timestamp};
use dormouse_text::{escape_template_tokens, one_line};
use serde::{Deserialize, Serialize};

use super::{
    Identities,
    trigger::{DueGoal, Occasion, OccasionKind},
};
use crate::{
    config::GoalSettings,
    event::{
        ContextType, Event, GoalBlock, GoalCompleted, GoalCreated, GoalId, GoalMoment, GoalNote,
        GoalPursued, GoalStatus, GoalUpdated, GoalWait, Pursuit,
    },
};

/// How many closed goals a state keeps.
const CLOSED_KEPT: usize = 100;
/// A clock that goes back by less than this counts as corrected, not as set back.
const CORRECTION: std::time::Duration = std::time::Duration::from_secs(3_600);

/// The goals of the assistant, as a tree: a goal may be a part of another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Goals {
    /// Grows with each change.
    version: u64,
    last_id: GoalId,
    /// By number.
    all: Vec<Goal>,
    /// Notes that were replaced since the last reply: the prompt of that reply showed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<GoalNote>,
}

/// A goal: something that the assistant wants to achieve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Its number.
    pub id: GoalId,
    /// The event that set it.
    pub seq: Seq,
    /// When that event was written.
    pub created_at: Timestamp,
    /// What is to be achieved.
    pub description: GoalNote,
    /// How important it is, 1 to 10.
    pub priority: u8,
    /// The goal that it is a part of.
    pub parent: Option<GoalId>,
    /// Its status.
    pub status: GoalStatus,
    /// When the goal gets turns.
    pub moment: GoalMoment,
    /// Its progress, why it is blocked, or its outcome.
    pub note: Option<GoalNote>,
    /// The last event with which somebody, or a call, changed it.
    pub changed: Seq,
    /// The turns for this goal.
    pub turns: GoalTurns,
}

/// The turns for a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalTurns {
    /// When the next turn is due.
    pub next_at: Option<Timestamp>,
    /// When `next_at` was computed, if it was counted from that moment: so setting the clock back does not postpone the
    /// turn.
    pub counted_from: Option<Timestamp>,
    /// The event that set `next_at`; it identifies the turn.
    pub trigger: Seq,
    /// The event with which the turn under way began.
    pub under_way: Option<Seq>,
    /// How many turns there were since somebody opened the goal.
    pub taken: u32,
    /// How many of the last turns in a row achieved nothing.
    pub in_vain: u32,
    /// Whether there was a turn to divide the goal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_divided: bool,
}

impl GoalTurns {
    fn set_next(&mut self, seq: Seq, next_at: Option<Timestamp>, counted_from: Option<Timestamp>) {
        self.trigger = seq;
        self.next_at = next_at;
        self.counted_from = counted_from;
    }

    fn schedule(&mut self, seq: Seq, at: Timestamp, moment: GoalMoment) {
        match moment {
            GoalMoment::Never => self.set_next(seq, None, None),
            GoalMoment::At(moment) => self.set_next(seq, Some(moment), None),
            GoalMoment::Repeating { first, .. } if first > at => {
                self.set_next(seq, Some(first), Some(at));
            }
            GoalMoment::Repeating { every, .. } => {
                self.set_next(seq, Some(every.first_after(at)), Some(at));
            }
        }
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let is_set_back = |from: Timestamp| from.since(now) > CORRECTION;
        self.next_at
            .is_some_and(|at| at <= now || self.counted_from.is_some_and(is_set_back))
    }
}

impl Goal {
    /// Whether it is neither done nor dropped.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !matches!(self.status, GoalStatus::Done | GoalStatus::Dropped)
    }

    /// Whether it may call for a turn by itself.
    #[must_use]
    pub fn may_be_pursued(&self, settings: &GoalSettings) -> bool {
        let is_active = matches!(self.status, GoalStatus::Open | GoalStatus::Waiting(_));
        settings.pursue
            && is_active
            && self.turns.under_way.is_none()
            && self.description.trust >= settings.pursue_trust
    }

    /// Whether the goal recurs.
    #[must_use]
    pub fn comes_back(&self) -> bool {
        matches!(self.moment, GoalMoment::Repeating { .. })
    }

    /// Whether its next turn has this trigger.
    pub(crate) fn calls_by(&self, trigger: Seq) -> bool {
        let GoalTurns {
            next_at,
            under_way,
            trigger: own,
            ..
        } = self.turns;
        own == trigger && next_at.is_some() && under_way.is_none()
    }

    /// Sets a new note, if there is one, and returns the previous one.
    fn take_note(&mut self, note: Option<&GoalNote>) -> Option<GoalNote> {
        let note = note.filter(|note| note.text != FORGOTTEN)?;
        self.note.replace(note.clone())
    }

    fn occasion(&self) -> Occasion {
        let comes_back = match self.moment {
            GoalMoment::Repeating { every, .. } => format!(" It comes back: {every}."),
            GoalMoment::Never | GoalMoment::At(_) => String::new(),
        };
        let due_at = self.turns.next_at.unwrap_or(self.created_at);
        let description = one_line(&escape_template_tokens(&self.description.text));
        let text = format!(
            "(It is time for goal {} of yours, due at {due_at}.{comes_back} Nobody waits for an answer. Do now what can be done \
             for it, and record with update_goal how it stands: done, blocked, or waiting. If nothing can be done now, call \
             noop. The goal: {description})",
            self.id,
        );
        Occasion {
            task: None,
            seq: self.turns.trigger,
            at: due_at,
            kind: OccasionKind::GoalDue,
            // No tokenizer makes more tokens than bytes.
            tokens: u32::try_from(text.len()).unwrap_or(u32::MAX),
            text,
            trust: self.description.trust,
            audience: None,
            promise: None,
            goal: Some(Box::new(DueGoal {
                id: self.id,
                description: self.description.clone(),
            })),
            name: String::new(),
        }
    }
}

impl Goals {
    /// How many goals may be open. Further ones are refused.
    pub const MOST: usize = 100;
    /// How deep the tree may be.
    pub const DEEPEST: usize = 5;

    pub(super) fn apply(
        &mut self,
        seq: Seq,
        at: Timestamp,
        event: &Event,
        identities: &Identities,
    ) {
        match event {
            Event::GoalCreated(created) => self.created(seq, at, created),
            Event::GoalUpdated(updated) => self.updated(seq, at, updated),
            Event::GoalCompleted(completed) => self.completed(seq, completed),
            Event::GoalPursued(pursued) => self.pursued(seq, at, pursued),
            Event::Replied(_) => self.replaced.clear(),
            Event::Perceived(perceived) => {
                if let Some(id) = perceived.perception.attested.sender.id() {
                    self.heard(at, identities.id_of(id), identities);
                }
            }
            _ => {}
        }
    }

    fn created(&mut self, seq: Seq, at: Timestamp, created: &GoalCreated) {
        self.version += 1;
        self.last_id = self.last_id.max(created.id);
        if created.description.text == FORGOTTEN {
            return;
        }
        let mut turns = GoalTurns::default();
        turns.schedule(seq, at, created.moment);
        self.all.push(Goal {
            id: created.id,
            seq,
            created_at: at,
            description: created.description.clone(),
            priority: created.priority,
            parent: created.parent_id,
            status: GoalStatus::Open,
            moment: created.moment,
            note: None,
            changed: seq,
            turns,
        });
    }

    fn updated(&mut self, seq: Seq, at: Timestamp, updated: &GoalUpdated) {
        let Some(goal) = self.all.iter_mut().find(|goal| goal.id == updated.id) else {
            return;
        };
        self.version += 1;
        goal.changed = seq;
        goal.priority = updated.priority.unwrap_or(goal.priority);
        if let Some(parent) = updated.parent_id {
            goal.parent = (parent != GoalId(0)).then_some(parent);
        }
        self.replaced.extend(goal.take_note(updated.note.as_ref()));
        if let Some(moment) = updated.moment {
            goal.moment = moment;
            goal.turns.schedule(seq, at, moment);
        }
        let Some(status) = &updated.status else {
            return;
        };
        goal.status = status.clone();
        match status {
            GoalStatus::Open => {
                let GoalTurns {
                    under_way,
                    was_divided,
                    ..
                } = goal.turns;
                goal.turns = GoalTurns {
                    under_way,
                    was_divided,
                    ..GoalTurns::default()
                };
                goal.turns.schedule(seq, at, goal.moment);
            }
            GoalStatus::Waiting(GoalWait::Until(until)) => {
                goal.turns.set_next(seq, Some(*until), None);
            }
            GoalStatus::Waiting(GoalWait::Heard(_)) | GoalStatus::Blocked(_) => {
                goal.turns.set_next(seq, None, None);
            }
            GoalStatus::Done | GoalStatus::Dropped => self.close(seq, updated.id),
        }
    }

    fn completed(&mut self, seq: Seq, completed: &GoalCompleted) {
        let Some(goal) = self.all.iter_mut().find(|goal| goal.id == completed.id) else {
            return;
        };
        self.version += 1;
        goal.changed = seq;
        goal.status = GoalStatus::Done;
        self.replaced
            .extend(goal.take_note(completed.outcome.as_ref()));
        self.close(seq, completed.id);
    }

    /// Closes a goal: it gets no more turns, and its open parts are dropped.
    fn close(&mut self, seq: Seq, id: GoalId) {
        let parts: Vec<_> = self.parts_of(id).map(|part| part.id).collect();
        for goal in &mut self.all {
            if goal.id == id {
                goal.turns.set_next(seq, None, None);
            } else if parts.contains(&goal.id) && goal.is_open() {
                goal.status = GoalStatus::Dropped;
                goal.turns.set_next(seq, None, None);
            }
        }
        let closed = || self.all.iter().filter(|goal| !goal.is_open());
        if closed().count() > CLOSED_KEPT
            && let Some(oldest) = closed().min_by_key(|goal| goal.changed).map(|goal| goal.id)
        {
            self.all.retain(|goal| goal.id != oldest);
        }
    }

    fn pursued(&mut self, seq: Seq, at: Timestamp, pursued: &GoalPursued) {
        let Some(goal) = self.all.iter_mut().find(|goal| goal.id == pursued.id) else {
            return;
        };
        self.version += 1;
        goal.turns.under_way = None;
        goal.turns.taken = goal.turns.taken.saturating_add(1);
        let is_in_vain = match pursued.pursuit {
            Pursuit::Progress => false,
            Pursuit::Nothing => !goal.comes_back(),
            Pursuit::Failed => true,
        };
        goal.turns.in_vain = match is_in_vain {
            true => goal.turns.in_vain.saturating_add(1),
            false => 0,
        };
        if let Some(block) = pursued.blocked {
            goal.status = GoalStatus::Blocked(block);
        }
        // If a call set the next turn, it stays as it is.
        let counted_from = match goal.turns.next_at == pursued.next_at {
            true => goal.turns.counted_from,
            false => Some(at),
        };
        goal.turns.set_next(seq, pursued.next_at, counted_from);
    }

    /// Makes goals due that wait for this person.
    fn heard(&mut self, at: Timestamp, who: &EntityId, identities: &Identities) {
        for goal in &mut self.all {
            let GoalStatus::Waiting(GoalWait::Heard(waits_for)) = &goal.status else {
                continue;
            };
            if identities.id_of(waits_for) == who {
                goal.status = GoalStatus::Open;
                goal.turns.next_at = Some(at);
                self.version += 1;
            }
        }
    }

    /// Begins the turn of the goal that this event identifies.
    pub(super) fn take(
        &mut self,
        trigger: Seq,
        begun: Seq,
        context: ContextType,
    ) -> Option<Occasion> {
        let mut all = self.all.iter_mut();
        let goal = all.find(|goal| goal.calls_by(trigger))?;
        let occasion = goal.occasion();
        goal.status = GoalStatus::Open;
        goal.turns.under_way = Some(begun);
        goal.turns.was_divided |= context == ContextType::GoalDecompose;
        goal.turns.next_at = None;
        Some(occasion)
    }

    /// Whether the goal of this turn is to be divided in it: its turns achieved nothing, and it has no parts yet. That
    /// is tried once for each goal.
    pub(crate) fn is_to_be_divided(&self, trigger: Seq, settings: &GoalSettings) -> bool {
        let mut all = self.all.iter();
        let Some(goal) = all.find(|goal| goal.calls_by(trigger)) else {
            return false;
        };
        let after = settings.divide_after;
        let has_room = self.above(goal.id).count() + 1 < Self::DEEPEST
            && self.all.iter().filter(|goal| goal.is_open()).count() < Self::MOST;
        after > 0
            && goal.turns.in_vain >= after
            && !goal.turns.was_divided
            && !goal.comes_back()
            && has_room
            && self.children_of(goal.id).next().is_none()
    }

    /// The first due goal: the most important one, then the one that has waited longest.
    pub(crate) fn due(&self, now: Timestamp, settings: &GoalSettings) -> Option<&Goal> {
        let pursuable = self.all.iter().filter(|goal| goal.may_be_pursued(settings));
        let due = pursuable.filter(|goal| goal.turns.is_due(now));
        due.min_by_key(|goal| (Reverse(goal.priority), goal.turns.next_at, goal.id))
    }

    /// The next moment after `now` at which a goal is due.
    pub(crate) fn next_after(&self, now: Timestamp, settings: &GoalSettings) -> Option<Timestamp> {
        let pursuable = self.all.iter().filter(|goal| goal.may_be_pursued(settings));
        let moments = pursuable.filter_map(|goal| goal.turns.next_at);
        moments.filter(|at| *at > now).min()
    }

    /// Grows with each change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The number that the next goal gets.
    pub(crate) fn next_id(&self) -> GoalId {
        GoalId(self.last_id.0.saturating_add(1))
    }

    /// The goal with this number.
    #[must_use]
    pub fn get(&self, id: GoalId) -> Option<&Goal> {
        self.all.iter().find(|goal| goal.id == id)
    }

    /// All kept goals, by number: the open ones, and those closed lately.
    pub fn iter(&self) -> impl Iterator<Item = &Goal> {
        self.all.iter()
    }

    /// The goals that are direct parts of this one.
    pub fn children_of(&self, id: GoalId) -> impl Iterator<Item = &Goal> {
        self.all.iter().filter(move |goal| goal.parent == Some(id))
    }

    /// The goals that this one is a part of, the nearest first.
    pub fn above(&self, id: GoalId) -> impl Iterator<Item = &Goal> {
        let parent = |goal: &&Goal| self.get(goal.parent?);
        // No tree is that deep. A log from elsewhere might contain a cycle, which must not loop for ever.
        std::iter::successors(self.get(id), parent)
            .skip(1)
            .take(2 * Self::DEEPEST)
    }

    /// All parts of a goal, direct or not.
    pub fn parts_of(&self, id: GoalId) -> impl Iterator<Item = &Goal> {
        let is_part = move |goal: &&Goal| self.above(goal.id).any(|above| above.id == id);
        self.all.iter().filter(is_part)
    }

    /// How many leaf parts are done, and how many there are without dropped ones; `None` for a goal without parts.
    #[must_use]
    pub fn progress(&self, id: GoalId) -> Option<(usize, usize)> {
        let is_wanted = |goal: &&Goal| goal.status != GoalStatus::Dropped;
        let is_whole = |goal: &&Goal| self.children_of(goal.id).next().is_none();
        let parts: Vec<_> = self
            .parts_of(id)
            .filter(is_wanted)
            .filter(is_whole)
            .collect();
        let done = parts
            .iter()
            .filter(|part| part.status == GoalStatus::Done)
            .count();
        (!parts.is_empty()).then_some((done, parts.len()))
    }

    /// Notes that the prompt of the last reply showed and that were replaced since.
    pub(crate) fn replaced(&self) -> &[GoalNote] {
        &self.replaced
    }
}

impl GoalStatus {
    /// The status in a word or a few.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Open => "open".to_owned(),
            Self::Waiting(GoalWait::Until(until)) => format!("waiting until {until}"),
            Self::Waiting(GoalWait::Heard(who)) => format!("waiting for {who} to be heard"),
            Self::Blocked(GoalBlock::Reported) => "blocked".to_owned(),
            Self::Blocked(block) => block.to_string(),
            Self::Done => "done".to_owned(),
            Self::Dropped => "dropped".to_owned(),
        }
    }
}
