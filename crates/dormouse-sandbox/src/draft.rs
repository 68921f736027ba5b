//! A group of changes on its way into the file: written as one transaction, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{
    Attested, Delivery, Effect, EntityId, Outcome, Perception, Receipt, Rejection, Timestamp,
    WorldId,
};
use dormouse_database::{Database, begin_write};
use redb::{ReadableTable, WriteTransaction};

use crate::{
    act::{Act, Acted, Refusal},
    character::{Character, JoinRefusal},
    decide::{Decision, Heard, arrival, decide},
    records::{
        CHARACTERS, CharacterRecord, EFFECT_ORDER, EFFECTS, EffectRecord, FEEDS, META,
        REVISION_KEY, StoreError,
    },
    roster::{Joining, Roster},
    tools,
};

/// A group of changes being made. Nothing of it is visible to anybody before [`Draft::commit`] has answered.
pub(crate) struct Draft<'a> {
    writing: WriteTransaction,
    roster: Roster,
    touched: BTreeSet<EntityId>,
    recorded: bool,
    world: &'a WorldId,
}

impl<'a> Draft<'a> {
    /// Begins a group on top of `roster`, which is what the file holds.
    pub(crate) fn begin(
        database: &Database,
        roster: &Roster,
        world: &'a WorldId,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            writing: begin_write(database)?,
            roster: roster.clone(),
            touched: BTreeSet::new(),
            recorded: false,
            world,
        })
    }

    /// Lets a character in; those in the room see it arrive.
    pub(crate) fn join(
        &mut self,
        character: &Character,
        at: Timestamp,
    ) -> Result<Result<(), JoinRefusal>, StoreError> {
        match self.roster.join(character) {
            Err(refusal) => return Ok(Err(refusal)),
            Ok(Joining::AlreadyHere) => return Ok(Ok(())),
            Ok(Joining::Renamed) => {}
            Ok(Joining::Arrived) => {
                let heard = arrival(&self.roster, &character.id).unwrap_or_default();
                self.deliver(heard, at)?;
            }
        }
        self.touched.insert(character.id.clone());
        Ok(Ok(()))
    }

    /// Carries out an act of a character.
    pub(crate) fn act(
        &mut self,
        actor: &EntityId,
        act: &Act,
        at: Timestamp,
    ) -> Result<Result<Acted, Refusal>, StoreError> {
        match decide(&self.roster, actor, act) {
            Err(refusal) => Ok(Err(refusal)),
            Ok(decision) => Ok(Ok(self.carry_out(actor, decision, at)?)),
        }
    }

    /// Carries out an effect, unless its key was seen before; either way its outcome is on record afterwards.
    pub(crate) fn perform(
        &mut self,
        effect: &Effect,
        at: Timestamp,
    ) -> Result<Outcome, StoreError> {
        if let Some(record) = self.recorded(effect)? {
            return Ok(if record.effect == *effect {
                record.outcome
            } else {
                Outcome::Rejected(Rejection {
                    reason: format!(
                        "the key {:?} was used before for another call, of {} by {}: nothing was done",
                        effect.key.as_str(),
                        record.effect.tool,
                        record.effect.actor
                    ),
                })
            });
        }
        let outcome = match self.decide_effect(effect) {
            Err(rejection) => Outcome::Rejected(rejection),
            Ok((actor, decision, receipt)) => {
                self.carry_out(&actor, decision, at)?;
                Outcome::Done(receipt)
            }
        };
        self.record(effect, &outcome, at)?;
        Ok(outcome)
    }

    fn decide_effect(&self, effect: &Effect) -> Result<(EntityId, Decision, Receipt), Rejection> {
        let rejection = |reason: String| Rejection { reason };
        let act =
            tools::act(&effect.tool, &effect.arguments).map_err(|e| rejection(e.to_string()))?;
        let actor = (self.roster.embodies(&effect.actor))
            .ok_or_else(|| rejection(Refusal::NotJoined.to_string()))?;
        let decision = decide(&self.roster, actor, &act).map_err(|e| rejection(e.to_string()))?;
        let receipt = tools::receipt(&effect.tool, &decision, &self.roster, actor);
        Ok((actor.clone(), decision, receipt))
    }

    fn recorded(&self, effect: &Effect) -> Result<Option<EffectRecord>, StoreError> {
        let effects = self.writing.open_table(EFFECTS)?;
        let found = effects.get(effect.key.as_str())?;
        Ok(found
            .map(|record| serde_json::from_str(record.value()))
            .transpose()?)
    }

    fn record(
        &mut self,
        effect: &Effect,
        outcome: &Outcome,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.recorded = true;
        let mut order = self.writing.open_table(EFFECT_ORDER)?;
        let number = order.last()?.map_or(0, |(number, _)| number.value()) + 1;
        order.insert(number, effect.key.as_str())?;
        let record = EffectRecord {
            number,
            at,
            effect: effect.clone(),
            outcome: outcome.clone(),
        };
        let mut effects = self.writing.open_table(EFFECTS)?;
        effects.insert(
            effect.key.as_str(),
            serde_json::to_string(&record)?.as_str(),
        )?;
        Ok(())
    }

    fn carry_out(
        &mut self,
        actor: &EntityId,
        decision: Decision,
        at: Timestamp,
    ) -> Result<Acted, StoreError> {
        if let (Some(room), Some(present)) = (decision.moves_to, self.roster.find_mut(actor)) {
            present.room = room;
            self.touched.insert(actor.clone());
        }
        Ok(Acted {
            deliveries: self.deliver(decision.heard, at)?,
            seen: decision.seen,
        })
    }

    /// Writes the entries into the observers' feeds, each under the observer's next number.
    fn deliver(
        &mut self,
        heard: Vec<Heard>,
        at: Timestamp,
    ) -> Result<Vec<(EntityId, u64)>, StoreError> {
        let mut feeds = self.writing.open_table(FEEDS)?;
        let mut deliveries = Vec::with_capacity(heard.len());
        for Heard {
            observer,
            source,
            sender,
            words,
        } in heard
        {
            let Some(present) = self.roster.find_mut(&observer) else {
                continue;
            };
            present.delivered += 1;
            let number = present.delivered;
            let delivery = Delivery {
                world: self.world.clone(),
                number,
            };
            let attested = Attested {
                delivery,
                source,
                sender,
                at,
            };
            let entry = serde_json::to_string(&Perception { attested, words })?;
            feeds.insert((observer.as_str(), number), entry.as_str())?;
            self.touched.insert(observer.clone());
            deliveries.push((observer, number));
        }
        Ok(deliveries)
    }

    /// Whether there is anything to write: refusals and looks need no commit.
    pub(crate) fn has_changes(&self) -> bool {
        self.recorded || !self.touched.is_empty()
    }

    /// Removes entries their observers have acknowledged.
    pub(crate) fn prune(
        &mut self,
        acknowledged: &BTreeMap<EntityId, u64>,
    ) -> Result<(), StoreError> {
        let mut feeds = self.writing.open_table(FEEDS)?;
        for (observer, up_to) in acknowledged {
            let observer = observer.as_str();
            feeds.retain_in((observer, 0)..=(observer, *up_to), |_, _| false)?;
        }
        Ok(())
    }

    /// Writes down who has changed, and the number of this group.
    pub(crate) fn finish(&mut self, revision: u64) -> Result<(), StoreError> {
        let mut characters = self.writing.open_table(CHARACTERS)?;
        for id in &self.touched {
            if let Some(record) = self.roster.find(id).and_then(CharacterRecord::of) {
                characters.insert(id.as_str(), serde_json::to_string(&record)?.as_str())?;
            }
        }
        self.writing
            .open_table(META)?
            .insert(REVISION_KEY, revision)?;
        Ok(())
    }

    /// Makes the group durable and answers what the roster is now.
    pub(crate) fn commit(self) -> Result<Roster, StoreError> {
        self.writing.commit()?;
        Ok(self.roster)
    }
}
