//! A group of changes that is written as one transaction, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{
    Attested, Delivery, Effect, EntityId, Outcome, Perception, Receipt, Rejection, Timestamp,
    WorldId, invariant,
};
use redb::{ReadableTable, WriteTransaction};

use crate::{
    act::{Act, ActRefusal, Acted},
    character::{Character, JoinRefusal},
    decide::{Decision, Heard, arrival, decide},
    records::{
        CHARACTERS, CharacterRecord, EFFECT_ORDER, EFFECTS, EffectRecord, FEEDS, META,
        REVISION_KEY, StoreError,
    },
    roster::{Joining, Roster},
    tools,
};

/// A group of changes in progress. Nothing of it is visible before [`WorldTransaction::commit`] has returned.
pub(crate) struct WorldTransaction<'a> {
    writing: WriteTransaction,
    roster: Roster,
    touched: BTreeSet<EntityId>,
    recorded: bool,
    world: &'a WorldId,
}

impl<'a> WorldTransaction<'a> {
    /// Starts a group on top of `roster`, the state in the file.
    pub(crate) fn begin(writing: WriteTransaction, roster: &Roster, world: &'a WorldId) -> Self {
        Self {
            writing,
            roster: roster.clone(),
            touched: BTreeSet::new(),
            recorded: false,
            world,
        }
    }

    /// Adds a character; the characters in the room see its arrival.
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
                let heard = arrival(&self.roster, &character.id);
                let heard = invariant!(heard, "who has arrived is in the roster");
                self.deliver(heard, at)?;
            }
        }
        self.touched.insert(character.id.clone());
        Ok(Ok(()))
    }

    /// Performs an act of a character.
    pub(crate) fn act(
        &mut self,
        actor: &EntityId,
        act: &Act,
        at: Timestamp,
    ) -> Result<Result<Acted, ActRefusal>, StoreError> {
        match decide(&self.roster, actor, act) {
            Err(refusal) => Ok(Err(refusal)),
            Ok(decision) => Ok(Ok(self.carry_out(actor, decision, at)?)),
        }
    }

    /// Performs an effect, unless its key is known. In both cases its outcome is stored afterwards.
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
            .ok_or_else(|| rejection(ActRefusal::NotJoined.to_string()))?;
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

    /// Writes entries into the observers' feeds, each with the observer's next number.
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

    /// Removes acknowledged entries.
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

    /// Writes the changed characters and the number of this group.
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

    /// Commits the group and returns the new roster.
    pub(crate) fn commit(self) -> Result<Roster, StoreError> {
        self.writing.commit()?;
        Ok(self.roster)
    }
}
