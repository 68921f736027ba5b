//! A group of changes that is written as one transaction, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_contracts::{
    Attested, Audience, Delivery, Effect, EffectKey, EntityId, Outcome, Perception, Receipt,
    Rejection, SourceKind, Timestamp, WorldId, invariant,
};
use redb::{ReadableTable, WriteTransaction};

use crate::{
    act::{Act, ActRefusal, Acted, ActedOnce},
    character::{Character, JoinRefusal},
    decide::{Decision, Heard, Tuning, arrival, decide, farewell},
    records::{
        ACTS, ACTS_REMEMBERED, CHARACTERS, CharacterRecord, EFFECT_ORDER, EFFECTS, EffectRecord,
        FEEDS, HEARD, KEYED, KEYED_ACTS, KEYS_REMEMBERED, KeyedAct, META, REVISION_KEY, StoreError,
    },
    room_view::NAMED,
    roster::{Joining, Present, Roster},
    tools,
};

/// A group of changes in progress. Nothing of it is visible before [`WorldTransaction::commit`] has returned.
pub(crate) struct WorldTransaction<'a> {
    writing: WriteTransaction,
    roster: &'a mut Roster,
    touched: BTreeSet<EntityId>,
    recorded: bool,
    world: &'a WorldId,
}

/// What the world knows of an act, apart from who notices it.
struct Circumstances<'a> {
    at: Timestamp,
    /// The assistant's character and effect that caused it, if one did.
    cause: Option<(&'a EntityId, &'a EffectKey)>,
    /// The number of the act that it answers, if it answers one.
    answers: Option<u64>,
}

impl Circumstances<'_> {
    /// An act of a player.
    fn at(at: Timestamp) -> Self {
        Self {
            at,
            cause: None,
            answers: None,
        }
    }
}

/// An act that was carried out.
struct CarriedOut {
    acted: Acted,
    /// The last delivery of its output to the acting assistant.
    last_output: Option<Delivery>,
}

impl<'a> WorldTransaction<'a> {
    /// Starts a group on top of `roster`, the state in the file. The group changes it, so the caller discards it unless
    /// the commit succeeds.
    pub(crate) fn begin(
        writing: WriteTransaction,
        roster: &'a mut Roster,
        world: &'a WorldId,
    ) -> Self {
        Self {
            writing,
            roster,
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
                let heard = arrival(self.roster, &character.id);
                let heard = invariant!(heard, "who has arrived is in the roster");
                self.deliver(heard, &Circumstances::at(at))?;
            }
        }
        self.touched.insert(character.id.clone());
        Ok(Ok(()))
    }

    /// Lets a character leave the world; the characters in the room see it. Does nothing if it is not there.
    pub(crate) fn leave(&mut self, id: &EntityId, at: Timestamp) -> Result<(), StoreError> {
        let Ok(heard) = farewell(self.roster, id) else {
            return Ok(());
        };
        self.deliver(heard, &Circumstances::at(at))?;
        self.roster.change(id, |present| present.is_away = true);
        self.touched.insert(id.clone());
        Ok(())
    }

    /// Performs an act of a character.
    pub(crate) fn act(
        &mut self,
        actor: &EntityId,
        act: &Act,
        at: Timestamp,
    ) -> Result<Result<Acted, ActRefusal>, StoreError> {
        match decide(self.roster, actor, act) {
            Err(refusal) => Ok(Err(refusal)),
            Ok(decision) => {
                let circumstances = Circumstances::at(at);
                Ok(Ok(self.carry_out(actor, decision, &circumstances)?.acted))
            }
        }
    }

    /// Performs an act of a character, unless its key is known.
    pub(crate) fn act_once(
        &mut self,
        actor: &EntityId,
        key: &str,
        act: &Act,
        at: Timestamp,
    ) -> Result<Result<ActedOnce, ActRefusal>, StoreError> {
        if let Some(deliveries) = self.keyed(actor, key)? {
            return Ok(Ok(ActedOnce {
                deliveries,
                is_repeated: true,
            }));
        }
        let deliveries = match self.act(actor, act, at)? {
            Ok(acted) => acted.deliveries,
            Err(refusal) => return Ok(Err(refusal)),
        };
        self.remember_key(actor, key, &deliveries)?;
        Ok(Ok(ActedOnce {
            deliveries,
            is_repeated: false,
        }))
    }

    /// The deliveries of the act with this key of this character, if it is remembered.
    fn keyed(
        &self,
        actor: &EntityId,
        key: &str,
    ) -> Result<Option<Vec<(EntityId, u64)>>, StoreError> {
        let keyed = self.writing.open_table(KEYED)?;
        let Some(number) = keyed.get((actor.as_str(), key))? else {
            return Ok(None);
        };
        let acts = self.writing.open_table(KEYED_ACTS)?;
        let Some(record) = acts.get((actor.as_str(), number.value()))? else {
            return Ok(None);
        };
        let record: KeyedAct = serde_json::from_str(record.value())?;
        Ok(Some(record.deliveries))
    }

    /// Remembers the key in the same commit as the act, and forgets the oldest one.
    fn remember_key(
        &mut self,
        actor: &EntityId,
        key: &str,
        deliveries: &[(EntityId, u64)],
    ) -> Result<(), StoreError> {
        self.recorded = true;
        let actor = actor.as_str();
        let mut keyed = self.writing.open_table(KEYED)?;
        let mut acts = self.writing.open_table(KEYED_ACTS)?;
        let last = acts.range((actor, 0)..=(actor, u64::MAX))?.next_back();
        let number = last.transpose()?.map_or(0, |(id, _)| id.value().1) + 1;
        let record = KeyedAct {
            key: key.to_owned(),
            deliveries: deliveries.to_vec(),
        };
        acts.insert((actor, number), serde_json::to_string(&record)?.as_str())?;
        keyed.insert((actor, key), number)?;
        let forgotten = number.saturating_sub(KEYS_REMEMBERED);
        let old = acts.remove((actor, forgotten))?;
        if let Some(old) = old {
            let old: KeyedAct = serde_json::from_str(old.value())?;
            keyed.remove((actor, old.key.as_str()))?;
        }
        Ok(())
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
                Outcome::Rejected(Rejection::new(format!(
                    "the key {:?} was used before for another call, of {} by {}: nothing was done",
                    effect.key.as_str(),
                    record.effect.tool,
                    record.effect.actor
                )))
            });
        }
        let outcome = match self.decide_effect(effect) {
            Err(rejection) => Outcome::Rejected(rejection),
            Ok((actor, decision, receipt)) => {
                let circumstances = Circumstances {
                    at,
                    cause: Some((&actor, &effect.key)),
                    answers: self.act_of(&actor, effect.reply_to.as_ref())?,
                };
                let CarriedOut { last_output, .. } =
                    self.carry_out(&actor, decision, &circumstances)?;
                Outcome::Done(Receipt {
                    last_output,
                    ..receipt
                })
            }
        };
        self.record(effect, &outcome, at)?;
        Ok(outcome)
    }

    fn decide_effect(&self, effect: &Effect) -> Result<(EntityId, Decision, Receipt), Rejection> {
        let rejection = |reason: String| Rejection::new(reason);
        let act =
            tools::act(&effect.tool, &effect.arguments).map_err(|e| rejection(e.to_string()))?;
        let actor = (self.roster.embodies(&effect.actor))
            .ok_or_else(|| rejection(ActRefusal::NotJoined.to_string()))?;
        let decision = decide(self.roster, actor, &act).map_err(|e| rejection(e.to_string()))?;
        if let (Some(within), Some(_)) = (&effect.within, act.words()) {
            self.check_within(within, &decision, actor)?;
        }
        let heard_by = act.words().and_then(|_| decision.perceived_by(actor));
        let receipt = Receipt {
            heard_by,
            ..tools::receipt(&effect.tool, &decision, self.roster, actor)
        };
        Ok((actor.clone(), decision, receipt))
    }

    /// Rejects an act if a character that may not perceive its words would perceive them.
    fn check_within(
        &self,
        within: &Audience,
        decision: &Decision,
        actor: &EntityId,
    ) -> Result<(), Rejection> {
        let listeners = decision.listeners(actor);
        if within.covers(&listeners) {
            return Ok(());
        }
        let heard = decision.heard.iter().map(|heard| &heard.observer);
        let others = heard.filter(|id| *id != actor);
        let names = others.filter_map(|id| Some(self.roster.find(id)?.name.clone()));
        let refusal = ActRefusal::Overheard {
            listeners: names.take(NAMED).collect(),
        };
        Err(Rejection {
            reason: refusal.to_string(),
            heard_by: Some(listeners),
        })
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
        circumstances: &Circumstances<'_>,
    ) -> Result<CarriedOut, StoreError> {
        if let Some(room) = decision.moves_to {
            self.roster.change(actor, |present| present.room = room);
            self.touched.insert(actor.clone());
        }
        if let Some(tuning) = decision.tunes {
            let tune = |present: &mut Present| match tuning {
                Tuning::In(channel) => present.channels_left.remove(channel),
                Tuning::Out(channel) => present.channels_left.insert(channel.to_owned()),
            };
            self.roster.change(actor, tune);
            self.touched.insert(actor.clone());
        }
        let is_output = |heard: &Heard| {
            heard.observer == *actor && matches!(heard.source, SourceKind::CommandOutput)
        };
        let output = decision.heard.iter().rposition(is_output);
        let deliveries = self.deliver(decision.heard, circumstances)?;
        // The acting character is in the roster, so all its entries are delivered, and in order.
        let last_output = output.and_then(|_| deliveries.iter().rfind(|(to, _)| to == actor));
        let last_output = last_output.map(|(_, number)| self.delivery(*number));
        let acted = Acted {
            deliveries,
            seen: decision.seen,
        };
        Ok(CarriedOut { acted, last_output })
    }

    fn delivery(&self, number: u64) -> Delivery {
        Delivery {
            world: self.world.clone(),
            number,
        }
    }

    /// The act that reached `observer` as this delivery, if it is remembered.
    fn act_of(
        &self,
        observer: &EntityId,
        delivery: Option<&Delivery>,
    ) -> Result<Option<u64>, StoreError> {
        let Some(delivery) = delivery.filter(|it| it.world == *self.world) else {
            return Ok(None);
        };
        let acts = self.writing.open_table(ACTS)?;
        let act = acts.get((observer.as_str(), delivery.number))?;
        Ok(act.map(|act| act.value()))
    }

    /// The number of the next act. Also removes the records of acts that are no longer remembered.
    fn begin_act(&mut self) -> Result<u64, StoreError> {
        let mut heard = self.writing.open_table(HEARD)?;
        let mut acts = self.writing.open_table(ACTS)?;
        let act = heard.last()?.map_or(0, |(key, _)| key.value().0) + 1;
        let forgotten = ..(act.saturating_sub(ACTS_REMEMBERED), "");
        let mut old = Vec::new();
        heard.retain_in(forgotten, |(_, observer), number| {
            old.push((observer.to_owned(), number));
            false
        })?;
        for (observer, number) in &old {
            acts.remove((observer.as_str(), *number))?;
        }
        Ok(act)
    }

    /// Writes entries into the observers' feeds, each with the observer's next number.
    fn deliver(
        &mut self,
        heard: Vec<Heard>,
        circumstances: &Circumstances<'_>,
    ) -> Result<Vec<(EntityId, u64)>, StoreError> {
        if heard.is_empty() {
            return Ok(Vec::new());
        }
        let act = self.begin_act()?;
        let mut feeds = self.writing.open_table(FEEDS)?;
        let mut acts = self.writing.open_table(ACTS)?;
        let mut heard_by = self.writing.open_table(HEARD)?;
        let mut deliveries = Vec::with_capacity(heard.len());
        for Heard {
            observer,
            source,
            sender,
            place,
            audience,
            movement,
            words,
        } in heard
        {
            let next = |present: &mut Present| {
                present.delivered += 1;
                present.delivered
            };
            let Some(number) = self.roster.change(&observer, next) else {
                continue;
            };
            let answered = match circumstances.answers {
                Some(act) => heard_by.get((act, observer.as_str()))?,
                None => None,
            };
            let cause = circumstances.cause.filter(|(actor, _)| **actor == observer);
            let attested = Attested {
                place,
                audience,
                cause: cause.map(|(_, key)| key.clone()),
                reply_to: answered.map(|number| self.delivery(number.value())),
                movement,
                ..Attested::new(self.delivery(number), source, sender, circumstances.at)
            };
            let entry = serde_json::to_string(&Perception { attested, words })?;
            feeds.insert((observer.as_str(), number), entry.as_str())?;
            acts.insert((observer.as_str(), number), act)?;
            heard_by.insert((act, observer.as_str()), number)?;
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

    /// Commits the group and returns which characters it changed.
    pub(crate) fn commit(self) -> Result<BTreeSet<EntityId>, StoreError> {
        self.writing.commit()?;
        Ok(self.touched)
    }
}
