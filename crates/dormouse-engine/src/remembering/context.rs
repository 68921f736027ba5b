//! The context of a position in a log: the message under way there, and the open act.

use dormouse_contracts::{Attested, Seq, StoredEvent};
use dormouse_memory::{EventHash, LogPosition};
use sha2::{Digest, Sha256};

use crate::event::{DecodeError, EffectIntended, Event, Perceived};

/// The largest events that mean nothing to a memory. They are not decoded.
const WITHOUT_MEANING: [&str; 3] = ["replied", "tool_answered", "recollected"];

/// An event with its sequence number and time.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) stored: StoredEvent,
    /// Absent if it means nothing to a memory.
    pub(super) event: Option<Event>,
}

impl Read {
    pub(super) fn of(stored: StoredEvent) -> Result<Self, DecodeError> {
        let has_meaning = !WITHOUT_MEANING.contains(&stored.kind.as_str());
        let event = has_meaning.then(|| Event::decode(&stored)).transpose()?;
        Ok(Self { stored, event })
    }

    /// Where it is in its log.
    pub(super) fn position(&self) -> LogPosition {
        LogPosition {
            seq: self.stored.seq.0,
            hash: hash(&self.stored),
        }
    }
}

/// The hash by which a memory knows an event of its log.
pub(super) fn hash(stored: &StoredEvent) -> EventHash {
    let StoredEvent {
        seq,
        at,
        kind,
        schema,
        payload,
    } = stored;
    let mut hash = Sha256::new();
    hash.update(seq.0.to_le_bytes());
    hash.update(at.as_micros().to_le_bytes());
    hash.update(schema.to_le_bytes());
    // Its length separates the kind from the payload.
    hash.update((kind.len() as u64).to_le_bytes());
    hash.update(kind);
    hash.update(payload);
    let digest = hash.finalize();
    let half = digest.iter().take(16);
    half.fold(0, |hash, byte| hash << 8 | EventHash::from(*byte))
}

/// A message under way.
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

/// What later events need to know about earlier ones: the tick, and the open act. If the world could not be reached, a
/// later tick settles the act.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Context {
    pub(super) trigger: Option<Trigger>,
    pub(super) intended: Option<EffectIntended>,
}

impl Context {
    /// Advances by one event. `trigger` finds the message with a sequence number.
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
