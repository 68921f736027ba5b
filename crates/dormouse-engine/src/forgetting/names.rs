//! The names of a person who is forgotten, and whether a name means this person, because others may have the same name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dormouse_contracts::{EntityId, FORGOTTEN, Seq};
use serde_json::Value;

use super::{people::KnownPeople, selection::Selection};
use crate::event::{EffectIntended, Event};

/// Replaces a name that several people had. So it is not clear who was meant.
const UNCLEAR: &str = "[forgotten], or another of that name";

/// The names of a person, in lower case.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The names, and whether somebody else has the same.
    by_name: BTreeMap<String, bool>,
}

impl Names {
    /// The names of the person that is selected.
    pub(super) fn of(selection: &Selection, people: &KnownPeople) -> Self {
        let Some(person) = selection.person() else {
            return Self::default();
        };
        let names = people.names_of(&person.ids).into_iter();
        let names = names.chain(person.named.keys().cloned()).map(|name| {
            let mut named = people.named(&name).into_iter();
            let is_shared = named.any(|id| !person.ids.contains(id));
            (name.to_lowercase(), is_shared)
        });
        Self {
            by_name: names.collect(),
        }
    }

    /// Whether the person has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(&name.to_lowercase())
    }

    /// The names that mean the person. If the person cannot be meant here, only names that nobody else has.
    pub(super) fn meaning(&self, may_be_meant: bool) -> impl Iterator<Item = &str> {
        let names = self.by_name.iter();
        let names = names.filter(move |(_, is_shared)| may_be_meant || !**is_shared);
        names.map(|(name, _)| name.as_str())
    }

    /// Whether this name means the person.
    pub(super) fn means(&self, name: &str, may_be_meant: bool) -> bool {
        let is_shared = self.by_name.get(&name.to_lowercase());
        is_shared.is_some_and(|is_shared| may_be_meant || !is_shared)
    }
}

/// The people to whom the assistant spoke by name, as the memory understood it at that time.
#[derive(Debug)]
pub(super) struct Addressees<'s> {
    ids: Option<&'s BTreeSet<EntityId>>,
    names: &'s Names,
    people: KnownPeople,
    /// Messages by somebody with a name of the person.
    heard: HashMap<Seq, (EntityId, String)>,
    trigger: Option<Seq>,
}

impl<'s> Addressees<'s> {
    pub(super) fn new(selection: &'s Selection, names: &'s Names) -> Self {
        Self {
            ids: selection.person().map(|person| &person.ids),
            names,
            people: KnownPeople::default(),
            heard: HashMap::new(),
            trigger: None,
        }
    }

    /// Reads the next event.
    pub(super) fn take_in(&mut self, seq: Seq, event: &Event) {
        if self.ids.is_none() {
            return;
        }
        match event {
            Event::Perceived(perceived) => {
                let sender = &perceived.perception.attested.sender;
                if let Some(id) = sender.id()
                    && self.names.has(sender.name())
                {
                    self.people.name(id, sender.name());
                    let sender = (id.clone(), sender.name().to_owned());
                    self.heard.insert(seq, sender);
                }
            }
            Event::EntityChanged(changed) => self.people.change(&changed.change),
            Event::TickStarted(started) => self.trigger = Some(started.trigger),
            Event::TickEnded(_) => self.trigger = None,
            _ => {}
        }
    }

    /// The replacement for the name of an act's listener, if that may be the person.
    pub(super) fn mark_of(&self, intended: &EffectIntended) -> Option<&'static str> {
        let to = intended.arguments.get(intended.speech.listener_argument());
        let to = to.and_then(Value::as_str)?;
        let ids = self.ids.filter(|_| self.names.has(to))?;
        let trigger = self.trigger.and_then(|trigger| self.heard.get(&trigger));
        if let Some((sender, name)) = trigger
            && name.to_lowercase() == to.to_lowercase()
        {
            return ids.contains(sender).then_some(FORGOTTEN);
        }
        let known = self.people.named(to);
        let is_person = known.iter().any(|id| ids.contains(*id));
        match (is_person || known.is_empty(), known.len()) {
            (false, _) => None,
            (true, 0 | 1) => Some(FORGOTTEN),
            (true, _) => Some(UNCLEAR),
        }
    }
}
