//! When the assistant reflects on its journal in a turn of its own.

use std::time::Duration;

use dormouse_contracts::{Seq, Timestamp};
use dormouse_journal::EntryId;
use serde::{Deserialize, Serialize};

use super::trigger::{Occasion, OccasionKind};
use crate::{
    config::JournalConfig,
    event::{ContextType, Event},
};

/// The prompt of such a turn, unless the operator configured another.
const USUAL: &str = "(It is time to look back. Nobody waits for an answer. Search your journal for what happened lately, and keep with \
                     review_journal what you learn from it about the world and its people, or write down with add_journal_entry what is \
                     missing. If there is nothing to learn, call noop.)";

/// The ticks since the last reflection, and what triggers the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reflections {
    /// How many ticks had a reason since the last reflection.
    pub ticks: u32,
    /// The first of these ticks; its event identifies the next reflection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<(Seq, Timestamp)>,
    /// The command with which an operator requested a reflection, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<Seq>,
    /// The turn under way: the number of the next entry when it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_way: Option<EntryId>,
    /// How often it reflected.
    pub count: u64,
}

impl Reflections {
    pub(super) fn are_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        match event {
            Event::TickStarted(started) if !is_apart(started.context) => {
                self.ticks = self.ticks.saturating_add(1);
                self.since.get_or_insert((seq, at));
            }
            Event::ReflectionRequested(_) => self.requested = Some(seq),
            Event::ReflectionRecorded(_) => {
                self.under_way = None;
                self.count = self.count.saturating_add(1);
            }
            _ => {}
        }
    }

    /// The event that identifies the turn that is due at `now`.
    pub(super) fn due(&self, now: Timestamp, settings: &JournalConfig) -> Option<Seq> {
        let (seq, at) = self.since.unzip();
        let by_ticks = settings.reflection_interval.0;
        let is_worked = by_ticks > 0 && self.ticks >= by_ticks;
        let is_time = settings
            .reflection_after
            .is_some_and(|after| at.is_some_and(|at| now.since(at) >= after));
        self.requested.or(seq.filter(|_| is_worked || is_time))
    }

    /// The next moment after `now` at which a reflection becomes due by time.
    pub(super) fn next_after(&self, now: Timestamp, settings: &JournalConfig) -> Option<Timestamp> {
        let after: Duration = settings.reflection_after?;
        let (_, at) = self.since?;
        Some(at.plus(after)).filter(|next| *next > now)
    }

    /// Begins the turn that this event identifies.
    pub(super) fn take(
        &mut self,
        trigger: Seq,
        at: Timestamp,
        next_entry: EntryId,
        settings: &JournalConfig,
    ) -> Option<Occasion> {
        if !self.calls_by(trigger) {
            return None;
        }
        self.requested = None;
        self.since = None;
        self.ticks = 0;
        self.under_way = Some(next_entry);
        let text = settings.reflection_prompt.clone();
        let text = text.unwrap_or_else(|| USUAL.to_owned());
        Some(Occasion::for_itself(
            trigger,
            at,
            OccasionKind::Reflection,
            text,
        ))
    }

    /// Whether the next reflection has this trigger.
    pub(crate) fn calls_by(&self, trigger: Seq) -> bool {
        self.requested == Some(trigger) || self.since.is_some_and(|(since, _)| since == trigger)
    }
}

/// Whether ticks of this kind are not counted: those of a reflection, and those in its sleep.
fn is_apart(context: ContextType) -> bool {
    matches!(
        context,
        ContextType::Reflection | ContextType::ReflectionCont | ContextType::SleepConsolidate
    )
}
