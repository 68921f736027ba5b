//! How much each sender has asked of the assistant lately, and what was refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Attested, EntityId, Sender, Seq, SourceKind, Timestamp};
use serde::{Deserialize, Serialize};

use super::{identities::Identities, trigger::Trigger, turns::Turns};
use crate::{
    config::{AdmissionSettings, Rate},
    event::{Event, LinesDropped, Perceived, Refusal},
};

/// How many senders are remembered. Quiet ones are forgotten first: only their place in the order is lost.
const SENDERS_KEPT: usize = 512;

/// A longer line counts as several.
const CHARACTERS_OF_A_LINE: usize = 500;

/// How much each sender has asked of the assistant lately, and what was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderLoads {
    senders: BTreeMap<String, SenderLoad>,
    /// The assistants that heard a farewell since a person last said something.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    farewells: BTreeSet<EntityId>,
    /// How many messages were overheard instead of answered, in its whole life.
    pub overheard: u64,
    /// How many lines were only counted, in its whole life.
    pub dropped: u64,
    /// Who was refused last, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastRefusal>,
}

/// The last refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRefusal {
    /// Whose lines were refused; `None` if the world cannot name the sender.
    pub sender: Option<EntityId>,
    /// When.
    pub at: Timestamp,
}

/// Whether it is output of the assistant's own acts, of which it may have as much as it likes.
pub(crate) fn is_output(attested: &Attested) -> bool {
    attested.source == SourceKind::CommandOutput && attested.cause.is_some()
}

/// As how many lines a text counts.
fn lines_of(text: &str) -> u32 {
    let more = text.chars().count() / CHARACTERS_OF_A_LINE;
    u32::try_from(more).unwrap_or(u32::MAX).saturating_add(1)
}

/// What one sender has used. Both limits are kept as the moment at which everything is available again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SenderLoad {
    answers_free_at: Timestamp,
    lines_free_at: Timestamp,
    /// Whether the sender heard the refusal notice since they were last quiet.
    is_told: bool,
    /// The tick that last took up a message of the sender.
    taken: Seq,
}

impl SenderLoad {
    fn is_quiet(&self, at: Timestamp) -> bool {
        self.answers_free_at <= at && self.lines_free_at <= at
    }
}

/// Whether a line is within the limits of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Within,
    /// It is not answered. The sender has to be notified, unless that happened already.
    NotAnswered {
        cause: Refusal,
        is_told: bool,
    },
    /// It is not even kept.
    Dropped,
}

impl Rate {
    fn window(self) -> Duration {
        self.each.saturating_mul(self.burst)
    }

    /// How much is in use. No use exceeds the window, so a longer one shows that the clock was set back.
    fn used(self, free_at: Timestamp, now: Timestamp) -> Duration {
        let used = free_at.since(now);
        match used > self.window() {
            true => Duration::ZERO,
            false => used,
        }
    }

    fn allows(self, free_at: Timestamp, now: Timestamp) -> bool {
        self.used(free_at, now).saturating_add(self.each) <= self.window()
    }

    fn is_half_used(self, free_at: Timestamp, now: Timestamp) -> bool {
        self.used(free_at, now) > self.window() / 2
    }

    fn after_one_more(self, free_at: Timestamp, now: Timestamp) -> Timestamp {
        self.after_more(1, free_at, now)
    }

    fn after_more(self, count: u32, free_at: Timestamp, now: Timestamp) -> Timestamp {
        let used = self.used(free_at, now);
        let all = used.saturating_add(self.each.saturating_mul(count));
        // Not more than the window, which would count as a clock that was set back.
        now.plus(all.min(self.window()))
    }
}

impl SenderLoads {
    /// Judges a line of a sender of whom `waiting` messages wait for an answer.
    pub(crate) fn judge(
        &self,
        settings: &AdmissionSettings,
        person: &str,
        verdict: MessageVerdict,
        waiting: usize,
        now: Timestamp,
    ) -> Judgement {
        let load = self.senders.get(person).copied().unwrap_or_default();
        let lines = settings.lines();
        if lines.is_some_and(|rate| !rate.allows(load.lines_free_at, now)) {
            return Judgement::Dropped;
        }
        if verdict != MessageVerdict::Trigger {
            return Judgement::Within;
        }
        let most = usize::try_from(settings.waiting).unwrap_or(usize::MAX);
        // A flood refills its limit of lines slowly and uses each line at once. Without this check, each of those
        // would call for an answer.
        let cause = if lines.is_some_and(|rate| rate.is_half_used(load.lines_free_at, now)) {
            Refusal::Flood
        } else if most > 0 && waiting >= most {
            Refusal::Waiting
        } else if settings
            .answers()
            .is_some_and(|rate| !rate.allows(load.answers_free_at, now))
        {
            Refusal::CoolDown
        } else {
            return Judgement::Within;
        };
        Judgement::NotAnswered {
            cause,
            is_told: load.is_told,
        }
    }

    /// Whether an assistant heard a farewell since a person last said something.
    pub(crate) fn has_parted(&self, assistant: &EntityId) -> bool {
        self.farewells.contains(assistant)
    }

    /// When a message of this person was last taken up.
    pub(crate) fn taken(&self, person: &str) -> Seq {
        self.senders.get(person).map_or(Seq(0), |load| load.taken)
    }

    /// Folds one event in. `turns` are as they were before it.
    pub(super) fn apply(
        &mut self,
        (seq, at): (Seq, Timestamp),
        event: &Event,
        settings: &AdmissionSettings,
        identities: &Identities,
        turns: &Turns,
    ) {
        match event {
            Event::Perceived(perceived) => self.hear(at, perceived, settings, identities),
            Event::LinesDropped(LinesDropped { entity, lines }) => {
                self.dropped = self.dropped.saturating_add(*lines);
                let sender = entity.clone();
                self.last = Some(LastRefusal { sender, at });
            }
            Event::TickStarted(started) if !settings.is_off() => {
                let mut waiting = turns.waiting();
                let taken = waiting.find(|it| it.seq() == started.trigger);
                if let Some(heard) = taken.and_then(Trigger::message) {
                    let person = identities.person(&heard.perception.attested.sender);
                    self.senders.entry(person.to_owned()).or_default().taken = seq;
                }
            }
            // A forgotten message no longer says whose it was, so decisions from here on must not depend on those before.
            Event::Forgotten(_) => {
                self.senders.clear();
                self.farewells.clear();
                self.last = None;
            }
            _ => {}
        }
    }

    /// Folds a message in. This depends on no turn, so messages of one batch can be judged before they are in the state.
    pub(crate) fn hear(
        &mut self,
        at: Timestamp,
        perceived: &Perceived,
        settings: &AdmissionSettings,
        identities: &Identities,
    ) {
        let attested = &perceived.perception.attested;
        let is_own = matches!(attested.sender, Sender::Myself { .. });
        if settings.is_off() || is_own || is_output(attested) {
            return;
        }
        if matches!(attested.sender, Sender::Entity { .. })
            && attested.source != SourceKind::Movement
        {
            self.farewells.clear();
        }
        let person = identities.person(&attested.sender).to_owned();
        let load = self.senders.entry(person).or_default();
        let was_quiet = load.is_quiet(at);
        if let Some(rate) = settings.lines() {
            let words = perceived.perception.words.as_claimed();
            load.lines_free_at = rate.after_more(lines_of(words), load.lines_free_at, at);
        }
        let is_trigger = perceived.classification.verdict == MessageVerdict::Trigger;
        match perceived.refused {
            None if is_trigger => {
                // Not by a refused line: it would make the next one hear the notice again.
                load.is_told &= !was_quiet;
                if let Some(rate) = settings.answers() {
                    load.answers_free_at = rate.after_one_more(load.answers_free_at, at);
                }
            }
            None => {}
            // A talk that ends is no load.
            Some(Refusal::Exchanges) => {
                if let Some(id) = attested.sender.id().filter(|_| is_trigger) {
                    self.farewells.insert(id.clone());
                }
            }
            Some(_) => {
                self.overheard = self.overheard.saturating_add(1);
                load.is_told |= is_trigger;
                let sender = attested.sender.id().cloned();
                self.last = Some(LastRefusal { sender, at });
            }
        }
        self.forget_quiet_ones(at);
    }

    fn forget_quiet_ones(&mut self, at: Timestamp) {
        if self.senders.len() <= SENDERS_KEPT {
            return;
        }
        self.senders.retain(|_, load| !load.is_quiet(at));
        // Only a crowd in which everybody speaks gets here. Who spoke least goes first.
        while self.senders.len() > SENDERS_KEPT {
            let least = self
                .senders
                .iter()
                .min_by_key(|(_, load)| load.lines_free_at.max(load.answers_free_at));
            let Some(person) = least.map(|(person, _)| person.clone()) else {
                break;
            };
            self.senders.remove(&person);
        }
    }

    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
