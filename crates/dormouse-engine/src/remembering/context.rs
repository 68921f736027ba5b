//! What a place in a log is about: the message that is worked on there, and the act under way.

use dormouse_contracts::{Attested, Seq, StoredEvent};

use crate::event::{DecodeError, EffectIntended, Event, Perceived};

/// An event with its place and time.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) stored: StoredEvent,
    pub(super) event: Event,
}

impl Read {
    pub(super) fn of(stored: StoredEvent) -> Result<Self, DecodeError> {
        let event = Event::decode(&stored)?;
        Ok(Self { stored, event })
    }
}

/// A message that is worked on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trigger {
    pub(super) seq: Seq,
    pub(super) attested: Attested,
}

impl Trigger {
    pub(super) fn of(seq: Seq, perceived: &Perceived) -> Self {
        Self {
            seq,
            attested: perceived.perception.attested.clone(),
        }
    }
}

/// What is known at a place in the log of what went before, as far as the events behind it refer to it. A tick is the
/// only thing they refer to: acts are settled within the tick in which they were intended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Context {
    pub(super) trigger: Option<Trigger>,
    pub(super) intended: Option<EffectIntended>,
}

impl Context {
    /// Goes on by one event. `trigger` finds the message at a place.
    pub(super) fn follow(&mut self, event: &Event, trigger: impl Fn(Seq) -> Option<Trigger>) {
        match event {
            Event::TickStarted(started) => {
                *self = Self {
                    trigger: trigger(started.trigger),
                    intended: None,
                };
            }
            Event::EffectIntended(intended) => self.intended = Some(intended.clone()),
            Event::EffectSettled(_) => self.intended = None,
            _ => {}
        }
    }
}
