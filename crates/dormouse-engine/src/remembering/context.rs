//! What a place in a log is about: the message that is worked on there, and the act under way.

use dormouse_contracts::{Attested, Seq, StoredEvent};
use dormouse_memory::LogPosition;

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

    /// Where it is in its log.
    pub(super) fn position(&self) -> LogPosition {
        LogPosition {
            seq: self.stored.seq.0,
            at: self.stored.at,
        }
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

/// What is known at a place in the log of what went before, as far as the events behind it refer to it: the tick, and
/// the act under way. An act whose world was out of reach is settled by a later tick than the one that intended it.
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
                self.trigger = trigger(started.trigger);
            }
            Event::EffectIntended(intended) => self.intended = Some(intended.clone()),
            Event::EffectSettled(_) => self.intended = None,
            _ => {}
        }
    }
}
