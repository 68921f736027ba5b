//! A promise: something that the assistant intends to do for somebody, and what it waits for.

use dormouse_contracts::{Audience, Awaited, EntityId, Seq, Timestamp, Trust};
use dormouse_text::{escape_template_tokens, one_line};
use serde::{Deserialize, Serialize};

use super::{
    People,
    trigger::{Occasion, OccasionKind},
};

/// Something to do for somebody, at a moment or once something has happened, whichever comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// The event that noted it.
    pub seq: Seq,
    /// When that event was written.
    pub noted_at: Timestamp,
    /// The moment at which it is due, if it has one.
    #[serde(default)]
    pub due_at: Option<Timestamp>,
    /// The entity it is for.
    pub entity: EntityId,
    /// What is to be done.
    pub description: String,
    /// Its trust.
    pub trust: Trust,
    /// Who perceived what it was made from, other than the assistant.
    pub audience: Audience,
    /// Conditions it waits for. Any of them makes it due.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Awaited>,
    /// The moment after which it is too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The condition that was met, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<MetCondition>,
}

/// A condition that was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetCondition {
    /// The message that shows it.
    pub seq: Seq,
    /// When that message was accepted.
    pub at: Timestamp,
    /// The condition, with the entity that met it.
    pub awaited: Awaited,
    /// How the world describes that the entity of the promise came or left, if that met it. What others did is not
    /// described, because not everybody may learn it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movement: Option<String>,
}

impl MetCondition {
    /// The most characters that are kept of the description of a movement.
    pub(super) const LONGEST_MOVEMENT: usize = 120;
}

impl Promise {
    /// When it becomes due, if known.
    pub(super) fn comes_up_at(&self) -> Option<Timestamp> {
        self.met.as_ref().map(|met| met.at).or(self.due_at)
    }

    /// Whether its turn may begin. A met condition stays met, even if the clock is set back.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let has_come = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        self.met.is_some() || (has_come(self.due_at) && !has_come(self.until))
    }

    /// Whether it is too late, and nothing happened in time.
    pub(crate) fn has_expired(&self, now: Timestamp) -> bool {
        self.met.is_none() && self.until.is_some_and(|until| until <= now)
    }

    /// What it waits for, as text for people and models: "at 2026-11-23T18:00:00Z or when player:bob arrives".
    #[must_use]
    pub fn condition(&self) -> String {
        Awaited::condition(self.due_at, &self.when, self.until)
    }

    /// The occasion for its turn.
    pub(super) fn occasion(self, people: &People) -> Occasion {
        let known = people.attribution(self.entity.as_str());
        let name = known.name().unwrap_or(self.entity.as_str()).to_owned();
        let shown = |text: &str| one_line(&escape_template_tokens(text));
        let at = self.comes_up_at().unwrap_or(self.noted_at);
        let why = match &self.met {
            // Only ids and words of the promise itself, and how the world says that its own entity moved: other
            // people's words about it are not for everybody.
            Some(met) => {
                let movement = met.movement.as_deref();
                let movement = movement.map(|words| format!(" ({:?})", shown(words)));
                format!(
                    "You waited for this, and it happened at {at}: {}{}.",
                    shown(&met.awaited.to_string()),
                    movement.unwrap_or_default()
                )
            }
            None => format!("It was due at {at}."),
        };
        let text = format!(
            "(The moment has come for something that you meant to do for {} ({}). {why} Do it now, and only for them: {})",
            shown(&name),
            self.entity,
            shown(&self.description),
        );
        Occasion {
            task: None,
            seq: self.seq,
            at,
            kind: OccasionKind::Promise,
            // No tokenizer makes more tokens than bytes.
            tokens: u32::try_from(text.len()).unwrap_or(u32::MAX),
            text,
            trust: self.trust,
            audience: None,
            promise: Some(Box::new(self)),
            goal: None,
            name,
        }
    }
}
