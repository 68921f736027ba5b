//! How interactions change a relationship.
//!
//! Text never counts here, because it is only a claim. What counts is *that* something was said, how far the server
//! attests it, and the assistant's explicit judgements.

use std::cmp::Ordering;

use dormouse_contracts::{Audience, Sources, Timestamp, Trust, invariant};
use serde::{Deserialize, Serialize};

use super::{Judgement, Rapport, Relationship, measure::trust_moved};

const DAY_SECONDS: u64 = 86_400;
const DAY_MICROS: i64 = 86_400_000_000;
/// After this many days so little of the rapport is left that no score shows it.
const MOST_DAYS: u64 = 1_000;

/// The rule by which interactions change a relationship. It consists of constants, because a log must be folded again
/// by the same rule.
///
/// - Each interaction moves the rapport towards 1 by [`RAPPORT_STEP`](Self::RAPPORT_STEP) of the rest.
///
/// - Each interaction moves the trust towards the attested trust of the message by [`TRUST_STEP`](Self::TRUST_STEP) of
///   the difference.
///
/// - Only a judgement, or setting it, moves the favorability. A judgement made from text with a trust below 0.5 moves
///   nothing. The effect of a judgement is shown only to those who perceived its sources.
///
/// - Within one day (UTC) each of the three moves at most by its `_A_DAY` constant. A late event counts for the current
///   day.
/// - The rapport fades by [`FADES_A_DAY`](Self::FADES_A_DAY) for each whole day without interaction. It fades when it is
///   read or at the next interaction; nothing happens meanwhile.
///
/// So a flood of messages within a day raises the score by at most 0.025. Without a judgement, an entity whose messages
/// are attested with a trust of at most 0.9 never becomes a friend: trust and rapport contribute at most 0.47.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct InteractionRule;

impl InteractionRule {
    /// The share of the missing rapport that one interaction adds.
    pub const RAPPORT_STEP: f32 = 0.02;
    /// The largest gain of rapport within a day.
    pub const RAPPORT_A_DAY: f32 = 0.05;
    /// The share of the difference in trust that one interaction closes.
    pub const TRUST_STEP: f32 = 0.05;
    /// The largest movement of trust within a day, in both directions together.
    pub const TRUST_A_DAY: f32 = 0.05;
    /// The largest movement of favorability within a day, in both directions together.
    pub const FAVORABILITY_A_DAY: f32 = 0.2;
    /// The share of the rapport lost per whole day without interaction; half of it in 34 days.
    pub const FADES_A_DAY: f32 = 0.02;
}

/// The movements of the current day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Today {
    /// Days since the epoch.
    day: i64,
    rapport: f32,
    trust: f32,
    favorability: f32,
}

impl Today {
    /// Starts a new day if `at` is on a later one.
    fn turn(&mut self, at: Timestamp) {
        let day = at.as_micros().div_euclid(DAY_MICROS);
        if day > self.day {
            *self = Self {
                day,
                ..Self::default()
            };
        }
    }
}

impl Today {
    /// The combination of two records: the later day, and within a day the larger movements.
    pub(crate) fn strictest(self, other: Self) -> Self {
        match self.day.cmp(&other.day) {
            Ordering::Less => other,
            Ordering::Greater => self,
            Ordering::Equal => Self {
                day: self.day,
                rapport: self.rapport.max(other.rapport),
                trust: self.trust.max(other.trust),
                favorability: self.favorability.max(other.favorability),
            },
        }
    }
}

/// Takes as much of `step` as the day allows, and counts it.
fn spend(step: f32, spent: &mut f32, limit: f32) -> f32 {
    let room = (limit - *spent).max(0.0);
    let step = step.clamp(-room, room);
    *spent += step.abs();
    step
}

impl Relationship {
    /// The rapport at a time: the stored value without what has faded since.
    #[must_use]
    pub fn rapport_at(&self, now: Timestamp) -> Rapport {
        let days = now.since(self.rapport_at).as_secs() / DAY_SECONDS;
        if days > MOST_DAYS {
            return Rapport::default();
        }
        // Repeated multiplication instead of a power, whose last digit differs between machines.
        let kept = (0..days).fold(self.rapport.value(), |rapport, _| {
            rapport * (1.0 - InteractionRule::FADES_A_DAY)
        });
        invariant!(
            Rapport::try_new(kept),
            "a faded rapport stays within its bounds"
        )
    }

    /// Records an interaction with this attested trust, by [`InteractionRule`].
    pub fn interact(&mut self, trust: Trust, at: Timestamp) {
        self.today.turn(at);
        self.interaction_count = self.interaction_count.saturating_add(1);
        self.last_interaction_at = self.last_interaction_at.max(Some(at));

        let rapport = self.rapport_at(at);
        let step = InteractionRule::RAPPORT_STEP * (1.0 - rapport.value());
        let step = spend(
            step,
            &mut self.today.rapport,
            InteractionRule::RAPPORT_A_DAY,
        );
        self.rapport = rapport.moved(step);
        self.rapport_at = self.rapport_at.max(at);

        let step = InteractionRule::TRUST_STEP * (trust.score() - self.trust.score());
        let step = spend(step, &mut self.today.trust, InteractionRule::TRUST_A_DAY);
        self.trust = trust_moved(self.trust, step);
    }

    /// Records a judgement: as much of `step` as the day allows, for those who perceived its sources.
    pub(crate) fn judge(
        &mut self,
        step: f32,
        audience: Audience,
        sources: &Sources,
        at: Timestamp,
    ) {
        self.today.turn(at);
        let limit = InteractionRule::FAVORABILITY_A_DAY;
        let step = spend(step, &mut self.today.favorability, limit);
        let before = self.favorability;
        self.favorability = before.moved(step);
        self.judged(Judgement {
            by: self.favorability.value() - before.value(),
            audience,
            sources: sources.clone(),
        });
    }
}
