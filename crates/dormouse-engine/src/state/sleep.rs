//! Whether the assistant is asleep, and what it does in its nights.

use std::{collections::VecDeque, time::Duration};

use dormouse_contracts::{Author, ChatReply, Origin, Seq, Timestamp};
use dormouse_entities::EntityChange;
use dormouse_journal::JournalChange;
use dormouse_memory::{MemoryChange, write::Decision};
use serde::{Deserialize, Serialize};

use super::trigger::{Occasion, OccasionKind};
use crate::{
    config::SleepSettings,
    event::{
        Consultation, Event, FellAsleep, GoalNote, NOOP, NightProbed, NightStepped, ProbeAnswer,
        ProbeResult, ProbeStage, StepFailure, StepOutcome, Verdict, WakeCause, WokeUp,
    },
    sleeping::{SLEEP_STEPS, SleepPhase, SleepStep},
};

/// The prompt of a turn in its sleep, unless the operator configured another.
const USUAL: &str = "(You are asleep, and the work of the night is done. Nobody waits for an answer, and nobody hears you. Look what \
                     happened lately with search_journal and recall_memories. Keep with store_memory what will be true for long, with \
                     add_entity_observation what you noticed about somebody, and with review_journal what you learn from it about the \
                     world and its people. If there is nothing to keep, call noop. If something cannot wait until the morning, call \
                     wake_up.)";

/// How many nights a state keeps.
const NIGHTS_KEPT: usize = 14;
/// How often a work step may fail in one night.
pub(crate) const STEP_ATTEMPTS: u32 = 3;
/// The longest pause after a failure is this many sleep ticks.
const MOST_PAUSES: u32 = 8;

/// Whether an assistant is awake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatingMode {
    /// It takes turns.
    #[default]
    Awake,
    /// It takes no turns for messages, and does the work of a night.
    Asleep,
}

/// Whether the assistant is asleep, and what it does in its nights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sleep {
    /// Whether it is awake.
    pub mode: OperatingMode,
    /// How many tools it used since it woke.
    pub activity_since_wake: u64,
    /// The last event up to which all work of the night is in the log. Here it can wake without losing work.
    commit_point: Seq,
    /// The last record for which links were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    linked_through: Option<Origin>,
    /// Unfinished work that began with probe questions: at most one for each step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    probed: Vec<ProbedPiece>,
    /// The last nights. While the assistant is asleep, the last one is this night.
    nights: VecDeque<Night>,
}

/// Unfinished work that began with probe questions. If it is interrupted, it continues, possibly in another night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProbedPiece {
    pub(crate) step: SleepStep,
    /// The event with the answers from before the work. The changes of the work come after this event.
    pub(crate) began: Seq,
    pub(crate) before: Vec<ProbeAnswer>,
    /// How many requests the work made.
    pub(crate) requests: u64,
    /// Whether the work changed anything.
    pub(crate) has_changed: bool,
    /// The answers from after the work, if it is finished.
    pub(crate) after: Option<ProbedAfter>,
}

/// The outcome of finished work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProbedAfter {
    pub(crate) answered: Vec<bool>,
    pub(crate) outcome: StepOutcome,
    pub(crate) through: Option<Origin>,
}

impl ProbedPiece {
    /// Whether a work step of this kind makes such a change.
    pub(crate) fn may_make(step: SleepStep, change: &MemoryChange) -> bool {
        match change {
            MemoryChange::Extracted { .. } => step == SleepStep::ConsolidateMemory,
            MemoryChange::Linked { .. } => step == SleepStep::LinkMemories,
            _ => false,
        }
    }
}

/// A night: the work that was done in it, and its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Night {
    /// Its number, counted from 1.
    pub number: u64,
    /// When the assistant first fell asleep in it.
    pub began: Timestamp,
    /// When the assistant last fell asleep in it.
    pub asleep_since: Timestamp,
    /// When the assistant wakes, or was to wake.
    pub until: Timestamp,
    /// Who decided that the assistant sleeps.
    pub author: Author,
    /// The reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<GoalNote>,
    /// The work steps that were begun, in order.
    pub steps: Vec<StepProgress>,
    /// Counts of the results.
    pub came_of_it: NightCounts,
    /// When and why the assistant woke last, if it is awake.
    pub woke: Option<(Timestamp, WakeCause)>,
    /// How many turns the assistant had in its sleep.
    #[serde(default, skip_serializing_if = "crate::event::is_zero")]
    pub turns: u32,
    /// The last event of this night outside a turn under way. It identifies the next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<(Seq, Timestamp)>,
}

/// The progress of a work step in a night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepProgress {
    /// The step.
    pub step: SleepStep,
    /// How many sleep ticks worked on it.
    pub ticks: u32,
    /// How often it failed.
    pub failures: u32,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<StepFailure>,
    /// How it ended; `None` if there is more to do.
    pub end: Option<StepEnd>,
    /// When it was worked on last.
    pub at: Timestamp,
}

/// How a work step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    /// It is done.
    Done,
    /// It failed too often, and is left to another night.
    Skipped,
    /// The budgets were used up.
    OverBudget,
    /// Its changes were taken back.
    TakenBack(ProbeResult),
}

/// Counts of what a night did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NightCounts {
    /// Added facts.
    pub consolidated: u64,
    /// Added links.
    pub linked: u64,
    /// People whose attributes were rewritten.
    pub people: u64,
    /// Journal entries that a model scored.
    pub rescored: u64,
    /// Conclusions that were drawn from the journal.
    pub concluded: u64,
    /// Entries removed from the journal.
    pub pruned: u64,
    /// Changes that were taken back.
    pub taken_back: u64,
    /// How often earlier turns were shortened.
    pub compacted: u64,
    /// Replies of the model.
    pub requests: u64,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens of the replies.
    pub completion_tokens: u64,
}

impl NightCounts {
    fn written_down(&mut self, change: &JournalChange) {
        let many = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        match change {
            JournalChange::Rescored { scores, .. } => self.rescored += many(scores.len()),
            JournalChange::Reflected { insights } => self.concluded += many(insights.len()),
            JournalChange::Pruned { entries, .. } => self.pruned += many(entries.len()),
            _ => {}
        }
    }

    fn replied(&mut self, reply: &ChatReply, prompt_tokens: u32, tokens: u32) {
        let usage = reply.usage;
        self.requests += 1;
        self.prompt_tokens += u64::from(usage.map_or(prompt_tokens, |usage| usage.prompt_tokens));
        self.completion_tokens += u64::from(usage.map_or(tokens, |usage| usage.completion_tokens));
    }
}

impl Sleep {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        match event {
            Event::FellAsleep(it) => self.fell_asleep(seq, at, it),
            Event::NightStepped(it) => self.stepped(seq, at, it),
            Event::NightProbed(it) => self.probed(seq, it),
            Event::WokeUp(it) => self.woke_up(at, it),
            Event::TickEnded(it) if it.resume_at.is_none() => self.turn_ended(seq, at),
            Event::ToolAnswered(it) if it.verdict == Verdict::Success && it.tool != NOOP => {
                self.activity_since_wake = self.activity_since_wake.saturating_add(1);
            }
            Event::EffectSettled(_) => {
                self.activity_since_wake = self.activity_since_wake.saturating_add(1);
            }
            other => {
                self.count_in_piece(other);
                if self.is_asleep() {
                    self.count(seq, other);
                }
            }
        }
    }

    fn fell_asleep(&mut self, seq: Seq, at: Timestamp, it: &FellAsleep) {
        self.mode = OperatingMode::Asleep;
        self.commit_point = seq;
        if let Some(night) = self
            .nights
            .back_mut()
            .filter(|night| night.number == it.night)
        {
            night.asleep_since = at;
            night.until = it.until;
            night.woke = None;
            night.last = Some((seq, at));
            return;
        }
        self.nights.push_back(Night {
            number: it.night,
            began: at,
            asleep_since: at,
            until: it.until,
            author: it.author.clone(),
            reason: it.reason.clone(),
            steps: Vec::new(),
            came_of_it: NightCounts::default(),
            woke: None,
            turns: 0,
            last: Some((seq, at)),
        });
        if self.nights.len() > NIGHTS_KEPT {
            self.nights.pop_front();
        }
    }

    fn stepped(&mut self, seq: Seq, at: Timestamp, it: &NightStepped) {
        self.commit_point = seq;
        if it.step == SleepStep::LinkMemories {
            self.linked_through = self.linked_through.max(it.through);
        }
        // If the memory or the log failed, the work continues where it was.
        let goes_on = |piece: &ProbedPiece| {
            let is_broken_off = matches!(&it.outcome, StepOutcome::Failed(why) if why.breaks_off());
            piece.step != it.step || piece.after.is_none() || is_broken_off
        };
        self.probed.retain(goes_on);
        let Some(night) = self
            .nights
            .back_mut()
            .filter(|night| night.number == it.night)
        else {
            return;
        };
        night.last = Some((seq, at));
        let place = night.steps.iter().position(|known| known.step == it.step);
        let place = place.unwrap_or_else(|| {
            night.steps.push(StepProgress {
                step: it.step,
                ticks: 0,
                failures: 0,
                failure: None,
                end: None,
                at,
            });
            night.steps.len() - 1
        });
        let Some(progress) = night.steps.get_mut(place) else {
            return;
        };
        progress.at = at;
        progress.ticks = progress.ticks.saturating_add(1);
        progress.end = match &it.outcome {
            StepOutcome::GoesOn => None,
            StepOutcome::Done => Some(StepEnd::Done),
            StepOutcome::OverBudget => Some(StepEnd::OverBudget),
            StepOutcome::TakenBack(result) => Some(StepEnd::TakenBack(*result)),
            StepOutcome::Failed(failure) => {
                progress.failures = progress.failures.saturating_add(1);
                progress.failure = Some(failure.clone());
                (progress.failures >= STEP_ATTEMPTS).then_some(StepEnd::Skipped)
            }
        };
    }

    fn probed(&mut self, seq: Seq, it: &NightProbed) {
        let place = self.probed.iter().position(|piece| piece.step == it.step);
        match &it.stage {
            ProbeStage::Before(before) => {
                // The questions are asked again, because the work was interrupted before it changed anything.
                let earlier = place.map(|place| self.probed.remove(place));
                self.probed.push(ProbedPiece {
                    step: it.step,
                    began: seq,
                    before: before.clone(),
                    requests: earlier.map_or(0, |earlier| earlier.requests),
                    has_changed: false,
                    after: None,
                });
            }
            ProbeStage::After {
                answered,
                outcome,
                through,
            } => {
                let piece = place.and_then(|place| self.probed.get_mut(place));
                if let Some(piece) = piece {
                    piece.after = Some(ProbedAfter {
                        answered: answered.clone(),
                        outcome: outcome.clone(),
                        through: *through,
                    });
                }
            }
        }
    }

    /// Counts an event for the work whose recall is compared before and after. A change may be written after the
    /// assistant woke.
    fn count_in_piece(&mut self, event: &Event) {
        let is_asleep = self.is_asleep();
        for piece in &mut self.probed {
            match event {
                Event::Consulted(it) if is_asleep && is_about_facts(&it.about) => {
                    piece.requests += 1;
                }
                Event::ConsultationFailed(it) if is_asleep && is_about_facts(&it.about) => {
                    piece.requests += u64::from(it.cause.is_refusal());
                }
                Event::MemoryChanged(it) if matches!(it.author, Author::Sleep(_)) => {
                    piece.has_changed |= ProbedPiece::may_make(piece.step, &it.change);
                }
                _ => {}
            }
        }
    }

    /// Notes the end of a turn in this night, after which the next one may begin.
    fn turn_ended(&mut self, seq: Seq, at: Timestamp) {
        let is_asleep = self.is_asleep();
        let night = self.nights.back_mut().filter(|_| is_asleep);
        if let Some(night) = night.filter(|night| night.last.is_none()) {
            night.last = Some((seq, at));
        }
    }

    /// When the next turn in this night may begin, and the event that identifies it, if there may be one.
    pub(crate) fn next_turn(
        &self,
        settings: &SleepSettings,
        now: Timestamp,
    ) -> Option<(Timestamp, Seq)> {
        let night = self.tonight()?;
        let (seq, at) = night.last?;
        let is_left = night.turns < settings.turns && night.next_step().is_none();
        let rate = settings.tick_rate();
        let next = at.plus(rate);
        // A moment further away than the longest pause was computed before the clock was set back.
        let is_set_back = next.since(now) > rate.saturating_mul(MOST_PAUSES);
        is_left.then_some((if is_set_back { now } else { next }, seq))
    }

    /// Whether the next turn in its sleep has this trigger.
    pub(crate) fn calls_by(&self, trigger: Seq) -> bool {
        let last = self.tonight().and_then(|night| night.last);
        last.is_some_and(|(seq, _)| seq == trigger)
    }

    /// Begins the turn that this event identifies.
    pub(super) fn take(
        &mut self,
        trigger: Seq,
        at: Timestamp,
        settings: &SleepSettings,
    ) -> Option<Occasion> {
        if !self.calls_by(trigger) {
            return None;
        }
        let night = self.nights.back_mut()?;
        night.turns = night.turns.saturating_add(1);
        night.last = None;
        let text = settings.turn_prompt.clone();
        Some(Occasion::for_itself(
            trigger,
            at,
            OccasionKind::Sleep,
            text.unwrap_or_else(|| USUAL.to_owned()),
        ))
    }

    fn woke_up(&mut self, at: Timestamp, it: &WokeUp) {
        self.mode = OperatingMode::Awake;
        self.activity_since_wake = 0;
        if let Some(night) = self.nights.back_mut() {
            night.woke = Some((at, it.cause.clone()));
        }
    }

    /// Counts an event for the results of the night.
    fn count(&mut self, seq: Seq, event: &Event) {
        let Some(night) = self.nights.back_mut() else {
            return;
        };
        let by_this_night = |author: &Author| *author == Author::Sleep(night.number);
        let counts = &mut night.came_of_it;
        match event {
            Event::Consulted(it) => {
                counts.replied(&it.reply, it.prompt_tokens, it.tokens);
                return;
            }
            Event::HistorySummarized(it) => {
                counts.replied(&it.reply, it.prompt_tokens, it.tokens);
            }
            Event::ConsultationFailed(_) => {}
            Event::Compacted(_) => counts.compacted += 1,
            Event::JournalChanged(it) if by_this_night(&it.author) => {
                for change in &it.changes {
                    counts.written_down(change);
                }
            }
            Event::MemoryChanged(it) if by_this_night(&it.author) => match &it.change {
                MemoryChange::Extracted { facts, .. } => {
                    let added = facts
                        .iter()
                        .filter(|fact| !matches!(fact.decision, Decision::Ignore { .. }));
                    counts.consolidated += added.count() as u64;
                }
                MemoryChange::Linked { .. } => counts.linked += 1,
                MemoryChange::Undone { .. } => counts.taken_back += 1,
                _ => {}
            },
            Event::EntityChanged(it) if by_this_night(&it.author) => {
                if let EntityChange::Consolidated { .. } = it.change {
                    counts.people += 1;
                }
            }
            _ => return,
        }
        self.commit_point = seq;
    }

    /// Whether it is asleep.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.mode == OperatingMode::Asleep
    }

    /// This night, if it is asleep.
    #[must_use]
    pub fn tonight(&self) -> Option<&Night> {
        self.last_night().filter(|_| self.is_asleep())
    }

    /// This night, or the last one.
    #[must_use]
    pub fn last_night(&self) -> Option<&Night> {
        self.nights.back()
    }

    /// The last nights, the oldest first.
    pub fn nights(&self) -> impl DoubleEndedIterator<Item = &Night> + ExactSizeIterator {
        self.nights.iter()
    }

    /// The number of the next night.
    pub(crate) fn next_night(&self) -> u64 {
        self.last_night()
            .map_or(1, |night| night.number.saturating_add(1))
    }

    /// The phase it is in, if it is asleep.
    #[must_use]
    pub fn phase(&self) -> Option<SleepPhase> {
        let next = self.tonight()?.next_step();
        Some(next.map_or(SleepPhase::Dreaming, SleepStep::phase))
    }

    /// When it wakes if nothing wakes it before, if it is asleep.
    #[must_use]
    pub fn scheduled_wake_time(&self) -> Option<Timestamp> {
        self.tonight().map(|night| night.until)
    }

    /// The last record for which links were looked for.
    pub(crate) fn linked_through(&self) -> Option<Origin> {
        self.linked_through
    }

    /// The unfinished work of this step that began with probe questions, if any.
    pub(crate) fn probed_piece(&self, step: SleepStep) -> Option<&ProbedPiece> {
        self.probed.iter().find(|piece| piece.step == step)
    }

    /// Whether a commit point came after this event, at which it could wake without losing work.
    pub(crate) fn has_committed_since(&self, seq: Seq) -> bool {
        self.commit_point > seq
    }
}

fn is_about_facts(about: &Consultation) -> bool {
    matches!(
        about,
        Consultation::Extraction { .. } | Consultation::Judgement { .. }
    )
}

impl Night {
    /// The next work step; `None` if all are done or skipped.
    #[must_use]
    pub fn next_step(&self) -> Option<SleepStep> {
        let mut steps = SLEEP_STEPS.into_iter();
        steps.find(|step| self.progress(*step).is_none_or(|it| it.end.is_none()))
    }

    fn progress(&self, step: SleepStep) -> Option<&StepProgress> {
        self.steps.iter().find(|progress| progress.step == step)
    }

    /// When the next work step begins: one sleep tick after the last, and later after failures.
    pub(crate) fn next_tick(&self, rate: Duration, now: Timestamp) -> Option<Timestamp> {
        let next = self.next_step()?;
        let failures = self.progress(next).map_or(0, |it| it.failures);
        let pauses = 1_u32.checked_shl(failures).unwrap_or(MOST_PAUSES);
        let pause = rate.saturating_mul(pauses.min(MOST_PAUSES));
        let last = self.steps.last().map(|progress| progress.at.plus(pause));
        // A moment further away than the longest pause was computed before the clock was set back.
        let longest = rate.saturating_mul(MOST_PAUSES);
        let moments = last.into_iter().chain([self.asleep_since]);
        let moments = moments.filter(|at| at.since(now) <= longest);
        Some(moments.max().unwrap_or(now))
    }
}
