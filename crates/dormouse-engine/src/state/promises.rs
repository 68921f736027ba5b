//! What the assistant means to do for somebody at a moment that is still to come.

use dormouse_contracts::{Audience, EntityId, FORGOTTEN, Seq, Timestamp, Trust};
use dormouse_entities::EntityChange;
use dormouse_text::{escape_template_tokens, one_line};
use serde::{Deserialize, Serialize};

use super::{
    Identities, People,
    trigger::{Occasion, OccasionKind},
    undos::{Undos, undone},
};
use crate::event::Event;

/// What the assistant means to do for somebody at a moment, and has not begun: the pending actions that are due at a
/// moment, each until the moment calls for a turn or somebody takes the action off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Promises {
    /// In the order of their moments; of one moment, in the order in which they were made.
    pending: Vec<Promise>,
    /// What somebody took back, and may bring back.
    #[serde(default)]
    taken_back: Vec<Promise>,
}

/// Something to do for somebody, and the moment for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// The event that noted it.
    pub seq: Seq,
    /// When that was.
    pub noted_at: Timestamp,
    /// The moment.
    pub due_at: Timestamp,
    /// For whom.
    pub entity: EntityId,
    /// What is to be done.
    pub description: String,
    /// How far that is believed.
    pub trust: Trust,
    /// Who was party to what it was made from, other than the assistant.
    pub audience: Audience,
}

impl Promises {
    /// How many a state keeps. Further ones are refused.
    pub const MOST: usize = 1_000;

    pub(super) fn apply(
        &mut self,
        seq: Seq,
        at: Timestamp,
        event: &Event,
        identities: &Identities,
        undos: &Undos,
    ) {
        if let Some(undone) = undone(event) {
            self.toggle(undos.root(undone));
        }
        let Event::EntityChanged(changed) = event else {
            return;
        };
        match &changed.change {
            EntityChange::ActionAdded {
                entity,
                description,
                due_at: Some(due_at),
                trust,
                audience,
                ..
            } if description.as_str() != FORGOTTEN => {
                self.put(Promise {
                    seq,
                    noted_at: at,
                    due_at: *due_at,
                    entity: entity.clone(),
                    description: description.to_string(),
                    trust: trust.unwrap_or(Trust::NONE),
                    audience: audience.clone().unwrap_or(Audience::nobody()),
                });
            }
            EntityChange::ActionCompleted {
                entity,
                noted_at: Some(noted_at),
                ..
            } => {
                let is_it = |it: &Promise| {
                    it.noted_at == *noted_at
                        && identities.id_of(&it.entity) == identities.id_of(entity)
                };
                if let Some(place) = self.pending.iter().position(is_it) {
                    self.pending.remove(place);
                }
            }
            // Nobody is reminded of what was noted about somebody who is not known any more.
            EntityChange::Deleted { entity } | EntityChange::Purged { entity } => {
                let is_other =
                    |it: &Promise| identities.id_of(&it.entity) != identities.id_of(entity);
                self.pending.retain(is_other);
                self.taken_back.retain(is_other);
            }
            _ => {}
        }
    }

    fn put(&mut self, promise: Promise) {
        let place = self
            .pending
            .partition_point(|it| (it.due_at, it.seq) < (promise.due_at, promise.seq));
        self.pending.insert(place, promise);
    }

    /// What this event noted is taken back, or brought back if it was.
    fn toggle(&mut self, noted: Seq) {
        let is_it = |it: &Promise| it.seq == noted;
        if let Some(place) = self.pending.iter().position(is_it) {
            if self.taken_back.len() >= Self::MOST {
                self.taken_back.remove(0);
            }
            self.taken_back.push(self.pending.remove(place));
        } else if let Some(place) = self.taken_back.iter().position(is_it) {
            let promise = self.taken_back.remove(place);
            self.put(promise);
        }
    }

    /// Takes out what a turn begins for.
    pub(super) fn take(&mut self, seq: Seq, people: &People) -> Option<Occasion> {
        let place = self.pending.iter().position(|it| it.seq == seq)?;
        let promise = self.pending.remove(place);
        Some(promise.occasion(people))
    }

    /// The first whose moment has come.
    pub(crate) fn due(&self, now: Timestamp) -> Option<&Promise> {
        self.pending.first().filter(|it| it.due_at <= now)
    }

    /// The next moment after `now`.
    pub(crate) fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let mut moments = self.pending.iter().map(|it| it.due_at);
        moments.find(|at| *at > now)
    }

    /// What is still to come, the nearest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Promise> {
        self.pending.iter()
    }
}

impl Promise {
    fn occasion(self, people: &People) -> Occasion {
        let known = people.attribution(self.entity.as_str());
        let name = known.name().unwrap_or(self.entity.as_str()).to_owned();
        let shown = |text: &str| one_line(&escape_template_tokens(text));
        let text = format!(
            "(The moment has come for something that you meant to do for {} ({}). It was due at {}. Do it now, and only for them: \
             {})",
            shown(&name),
            self.entity,
            self.due_at,
            shown(&self.description),
        );
        Occasion {
            seq: self.seq,
            at: self.due_at,
            kind: OccasionKind::Promise,
            // No tokenizer makes more tokens than bytes.
            tokens: u32::try_from(text.len()).unwrap_or(u32::MAX),
            text,
            trust: self.trust,
            promise: Some(Box::new(self)),
            name,
        }
    }
}
