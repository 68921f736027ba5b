//! One turn: its trigger, and everything that was done about it until the turn is over.

mod phase;

use dormouse_contracts::{
    Audience, EffectKey, FORGOTTEN, ModelErrorKind, Outcome, Rejection, Seq, Timestamp, Words,
};
use dormouse_memory::RecordId;
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use super::{
    derived::Derived,
    heard::Heard,
    service::Blame,
    step::{CallState, EffectState, Step, StepKind},
    trigger::Trigger,
};
use crate::{
    assessment::Assessment,
    builtin::{GET_ENTITY_PROFILE, ShownPart, ShownParts, lists_lines},
    config::Privacy,
    event::{
        ContextLimit, ContextType, DelayCause, Delayed, EffectIntended, EffectSettled, GoalId,
        ModelFailed, NOOP, ParseFailed, RecalledLine, Recollected, Replied, StopReason,
        ToolAnswered, Unanswered, Verdict, WorldFailed,
    },
    results::{left_out, without_records},
};
pub use phase::{Phase, Wait};

/// How much command output one effect collects, in bytes.
const CAPTURE_LIMIT: usize = 8 * 1024;
/// Appended to output that was cut off.
const CUT_OFF: &str = "\n(the output goes on)\n";

/// A trigger, and everything that was done about it. A turn can stay open over several ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// What the turn is about.
    pub trigger: Trigger,
    /// The kind of tick that works on it.
    #[serde(default, skip_serializing_if = "ContextType::is_of_an_event")]
    pub context: ContextType,
    /// The assessment of its task, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
    /// How far it has come.
    pub phase: Phase,
    /// What was looked up in the memory for it. Dropped when the turn is over.
    pub recollected: Option<Recollected<RecalledLine>>,
    /// What the model did, in order.
    pub steps: Vec<Step>,
    /// How many steps were taken in the current tick.
    pub steps_this_tick: u32,
    /// How many ticks worked on it since it began, or since somebody last cleared a stop. Ticks in which the model gave
    /// no reply or the world could not be reached are not counted.
    pub ticks: u32,
    /// The failures in it.
    pub failures: TurnFailures,
    /// The recent attempts to reach its world.
    pub world: WorldReach,
    /// How long its prompts may be, if one was too long.
    pub context_limit: Option<ContextLimit>,
    /// How many times in a row its prompt was shortened.
    pub narrowings: u32,
    /// The step from which only trusted text is shown, if a dangerous call was deferred.
    pub careful_from: Option<usize>,
    /// Who listens in addition by now, if the world refused an act because of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widened: Option<Widened>,
    /// Whether the memory changed after the look-up, so that it is repeated before the next model call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_outdated: bool,
    /// How much of it prompts show after it is over.
    #[serde(default, skip_serializing_if = "TurnView::is_whole")]
    pub view: TurnView,
    /// How the prompts of its steps show what was looked up for it.
    #[serde(skip)]
    looked_up: LookedUp,
}

/// How prompts show what was looked up in the memory for a turn. All its steps show the same.
#[derive(Clone, Debug, Default, PartialEq)]
struct LookedUp {
    lines: Derived<Vec<String>>,
    parts: Derived<ShownParts>,
}

/// How much of a finished turn prompts show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnView {
    /// All of it.
    #[default]
    Whole,
    /// All of it, with each result of a call shortened to one line.
    Masked,
    /// Nothing; it can be recalled.
    Dropped,
}

impl TurnView {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// The additional listeners since a turn began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Widened {
    /// Everyone who has listened since the message being answered.
    pub listeners: Audience,
    /// The first step that is shown: earlier steps were made for fewer listeners.
    pub from: usize,
}

/// The failures in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailures {
    /// How many errors in a row it caused.
    pub errors: u32,
    /// How many model calls for it failed in a row.
    pub calls: u32,
    /// How often the provider refused the prompt permanently.
    pub refusals: u32,
    /// Whether a model call for it has failed since the last answer to anybody, in a way that it may have caused. If
    /// the next answered message is another one, this message caused the failure.
    pub is_suspect: bool,
    /// The time since which all model calls for it failed in a way that it may have caused. Calls that were not sent do
    /// not count.
    pub since: Option<Timestamp>,
}

impl TurnFailures {
    /// Counts an error of the turn.
    fn add(&mut self) {
        self.errors = self.errors.saturating_add(1);
    }

    /// Counts a call that was sent and got no reply.
    fn no_reply(&mut self, kind: ModelErrorKind, blame: Blame, at: Timestamp) {
        self.calls = self.calls.saturating_add(1);
        self.is_suspect |= blame == Blame::ServiceOrMessage;
        let since = self.since.unwrap_or(at);
        self.since = kind.may_depend_on_the_prompt().then_some(since);
    }

    /// Clears the failed calls, because the model replied.
    fn replied(&mut self) {
        self.calls = 0;
        self.is_suspect = false;
        self.since = None;
    }
}

/// The recent attempts to reach the world of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldReach {
    /// How many times in a row the world could not be reached.
    pub failures: u32,
    /// How often during that time the world was reached but did not answer the act.
    pub silences: u32,
    /// Why the world could not be reached the last time, if so.
    pub obstacle: Option<String>,
}

impl Turn {
    /// A turn whose first tick begins.
    pub(super) fn new(trigger: Trigger) -> Self {
        Self {
            trigger,
            context: ContextType::TickEvent,
            assessment: None,
            phase: Phase::Working { failed: None },
            recollected: None,
            steps: Vec::new(),
            steps_this_tick: 0,
            ticks: 0,
            failures: TurnFailures::default(),
            world: WorldReach::default(),
            context_limit: None,
            narrowings: 0,
            careful_from: None,
            widened: None,
            is_outdated: false,
            view: TurnView::Whole,
            looked_up: LookedUp::default(),
        }
    }

    pub(super) fn begin_tick(&mut self, context: ContextType) {
        self.context = context;
        self.phase.begin_tick();
        // A call that waits for its world belongs to the step that made it, even if a later tick carries it out.
        if self.open_call().is_none() {
            self.steps_this_tick = 0;
        }
        self.ticks = self.ticks.saturating_add(1);
        // A failed look-up is repeated.
        self.recollected
            .take_if(|recollected| recollected.failure.is_some());
    }

    /// Whether a tick works on it.
    #[must_use]
    pub fn is_ticking(&self) -> bool {
        matches!(self.phase, Phase::Working { .. } | Phase::Ending(_))
    }

    /// What it waits for between two ticks.
    #[must_use]
    pub fn wait(&self) -> Option<&Wait> {
        match &self.phase {
            Phase::Waiting(wait) => Some(wait),
            Phase::Working { .. } | Phase::Ending(_) | Phase::Over(_) => None,
        }
    }

    /// Makes the next tick look up the memory again. A reply with open calls was based on the earlier results, so these
    /// are kept until all its calls are made, to judge what they say.
    pub(super) fn forget_recollected(&mut self) {
        if self.open_call().is_some() {
            self.is_outdated = true;
        } else {
            self.recollected = None;
        }
    }

    /// Drops the words of these records from what was looked up.
    pub(super) fn forget_records(&mut self, is_gone: impl Fn(RecordId) -> bool) {
        let items = self
            .recollected
            .iter_mut()
            .flat_map(|found| &mut found.items);
        for line in items.filter(|line| is_gone(line.record)) {
            FORGOTTEN.clone_into(&mut line.text);
        }
        self.looked_up = LookedUp::default();
        // The number of tokens stays: it is an upper bound for the shortened result.
        for call in self.results_of(lists_lines) {
            let shown = call.result.as_deref();
            if let Some(without) = shown.and_then(|shown| without_records(shown, &is_gone)) {
                call.set_result(without);
            }
        }
    }

    /// Drops the words of what was looked up about people.
    pub(super) fn forget_profiles(&mut self) {
        for call in self.results_of(|tool| tool == GET_ENTITY_PROFILE) {
            call.set_result(left_out());
        }
    }

    /// Drops the words of what was looked up in the memory or about people.
    pub(super) fn forget_looked_up(&mut self) {
        self.forget_records(|_| true);
        self.forget_profiles();
    }

    /// The calls of these tools that found something.
    fn results_of(
        &mut self,
        is_tool: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &mut CallState> {
        let calls = self.steps.iter_mut().flat_map(|step| &mut step.calls);
        calls.filter(move |call| is_tool(&call.call.name) && call.verdict == Some(Verdict::Success))
    }

    pub(super) fn recollect(&mut self, recollected: Recollected<RecalledLine>) {
        self.recollected = Some(recollected);
        self.looked_up = LookedUp::default();
        self.is_outdated = false;
    }

    /// The remembered lines as prompts show them. `make` is called once for each look-up.
    pub(crate) fn remembered_lines(&self, make: impl FnOnce() -> Vec<String>) -> &[String] {
        self.looked_up.lines.get_or_make(make)
    }

    /// What the look-up shows. `make` is called once for each look-up.
    pub(crate) fn looked_up(
        &self,
        make: impl FnOnce(&Recollected<RecalledLine>) -> ShownParts,
    ) -> &[ShownPart<'static>] {
        match &self.recollected {
            Some(found) => self.looked_up.parts.get_or_make(|| make(found)),
            None => &[],
        }
    }

    /// Whether the memory is searched before the next model call.
    pub(crate) fn is_to_be_recollected(&self) -> bool {
        self.recollected.is_none() || self.is_outdated
    }

    /// Counts a failed model call.
    pub(super) fn model_failed(&mut self, failed: &ModelFailed, blame: Blame, at: Timestamp) {
        if let Some(context_limit) = failed.context_limit {
            self.context_limit = Some(context_limit);
            self.narrowings = self.narrowings.saturating_add(1);
            return;
        }
        if let Phase::Working { failed: service } = &mut self.phase {
            service.clone_from(&failed.service);
        }
        if blame == Blame::Prompt {
            self.failures.refusals = self.failures.refusals.saturating_add(1);
            return;
        }
        // A tick in which the model gave no reply is not counted.
        if self.steps_this_tick == 0 {
            self.ticks = self.ticks.saturating_sub(1);
        }
        if matches!(blame, Blame::Service | Blame::ServiceOrMessage) {
            self.failures.no_reply(failed.kind, blame, at);
        }
    }

    /// Notes that another message was answered.
    pub(super) fn another_was_answered(&mut self) {
        if std::mem::take(&mut self.failures.is_suspect) {
            self.failures.add();
        }
    }

    /// Lets other messages go first.
    pub(super) fn step_aside(mut self) -> Self {
        self.interrupt();
        // Other records may be relevant when it continues.
        self.recollected = None;
        self
    }

    /// Whether other messages may go first while it waits. They may if no call is open, after an error that this turn
    /// may have caused, or while the budgets allow no call.
    pub(crate) fn may_step_aside(&self) -> bool {
        let after = self.wait().and_then(|wait| wait.after);
        let may = matches!(
            after,
            Some(StopReason::LlmError | StopReason::ParseError | StopReason::BudgetSpent)
        );
        may && self.open_call().is_none()
    }

    /// Notes that the world could not be reached. No matter how long that lasts, its ticks do not count against the
    /// message.
    pub(super) fn unreached(&mut self, failed: &WorldFailed) {
        self.world.failures = self.world.failures.saturating_add(1);
        self.world.silences = self.world.silences.saturating_add(failed.silent.into());
        self.world.obstacle.clone_from(&failed.reason);
        self.ticks = self.ticks.saturating_sub(1);
    }

    /// Ends the tick; a later one continues the turn.
    pub(super) fn suspend(&mut self, reason: StopReason, resume_at: Timestamp) {
        if reason == StopReason::BudgetSpent && self.steps_this_tick == 0 {
            // Waiting for a budget does not count against the message, no matter how long.
            self.ticks = self.ticks.saturating_sub(1);
        }
        self.phase.wait(resume_at, Some(reason));
    }

    /// Ends the current tick early; the next one continues at once.
    pub(super) fn interrupt(&mut self) {
        self.phase.wait(Timestamp::EPOCH, None);
    }

    /// The turn in the form in which it is kept after its end.
    pub(super) fn closed(mut self, reason: StopReason) -> Self {
        self.phase = Phase::Over(reason);
        self.recollected = None;
        self.looked_up = LookedUp::default();
        self.is_outdated = false;
        self.context_limit = None;
        self.assessment = None;
        self
    }

    pub(super) fn resume_now(&mut self) {
        self.ticks = 0;
        self.wait_no_longer();
    }

    /// Whether it waits until the budgets allow a model call.
    pub(crate) fn waits_for_a_budget(&self) -> bool {
        let after = self.wait().and_then(|wait| wait.after);
        after == Some(StopReason::BudgetSpent)
    }

    /// Stops waiting for a budget, because the budgets may have changed.
    pub(super) fn wait_for_no_budget(&mut self) {
        if self.waits_for_a_budget() {
            self.wait_no_longer();
        }
    }

    pub(super) fn wait_no_longer(&mut self) {
        self.failures.since = None;
        if let Phase::Waiting(wait) = &mut self.phase {
            wait.until = Timestamp::EPOCH;
        }
    }

    pub(super) fn replied(&mut self, replied: &Replied, privacy: Privacy) {
        self.narrowings = 0;
        self.context_limit = None;
        self.failures.replied();
        let kind = match replied.speech_only {
            true => StepKind::Last,
            false => StepKind::Free,
        };
        let mut step = Step::new(kind, &replied.calls, replied.tokens);
        step.trust = replied.trust;
        step.least_shown = replied.least_shown;
        step.within.clone_from(&replied.within);
        step.omitted.clone_from(&replied.omitted);
        step.sources.clone_from(&replied.sources);
        // Everyone who hears the answer already knew everything that the prompt showed. A public message is known to
        // more people, but the prompt was not built for those.
        let heard_by = || {
            self.trigger
                .known_to()
                .intersection(&self.trigger.answer_reaches())
        };
        step.audience = (privacy == Privacy::Kept).then(heard_by);
        // If the calls were parsed from the text, they already contain all of it.
        if !replied.reply.tool_calls.is_empty() || replied.calls.is_empty() {
            step.content.clone_from(&replied.reply.content);
        }
        step.left_out = replied.left_out;
        self.take_step(step);
    }

    fn take_step(&mut self, step: Step) {
        self.steps_this_tick = self.steps_this_tick.saturating_add(1);
        self.steps.push(step);
    }

    /// Notes that it ends without an answer. The calls that say so form a step, like a step of the model.
    pub(super) fn unanswered(&mut self, unanswered: &Unanswered) {
        self.phase = Phase::Ending(unanswered.cause);
        let step = Step::new(StepKind::Apology, &unanswered.calls, unanswered.tokens);
        self.take_step(step);
    }

    /// Notes that its answer takes long. The notice to its sender is a step of the engine, and does not count as one of
    /// the model's.
    pub(super) fn delayed(&mut self, delayed: &Delayed) {
        let kind = StepKind::Notice(delayed.cause);
        self.steps
            .push(Step::new(kind, &delayed.calls, delayed.tokens));
    }

    /// Whether its sender was asked to wait.
    #[must_use]
    pub fn is_delayed(&self) -> bool {
        self.steps.iter().any(Step::is_notice)
    }

    /// Whether its sender was asked to wait for this reason.
    pub(crate) fn is_delayed_by(&self, cause: DelayCause) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| step.kind == StepKind::Notice(cause))
    }

    /// The steps of the current tick, the last one first.
    pub(crate) fn steps_of_this_tick(&self) -> impl Iterator<Item = &Step> {
        let steps = usize::try_from(self.steps_this_tick).unwrap_or(usize::MAX);
        self.own_steps().rev().take(steps)
    }

    /// The steps that the model took, in order.
    pub fn own_steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.is_notice())
    }

    /// The steps that a prompt shows, in order: those of the model, except steps from before a dangerous call was
    /// deferred and steps made for fewer listeners.
    pub(crate) fn shown_steps(&self) -> impl Iterator<Item = &Step> {
        let shown = self.steps.iter().skip(self.shown_from());
        shown.filter(|step| !step.is_notice())
    }

    /// The first step that a prompt shows.
    pub(crate) fn shown_from(&self) -> usize {
        let widened = self.widened.as_ref().map(|widened| widened.from);
        self.careful_from.max(widened).unwrap_or(0)
    }

    /// The goal that this turn divides into parts, if any.
    pub(crate) fn divides(&self) -> Option<GoalId> {
        let goal = self.trigger.goal()?;
        (self.context == ContextType::GoalDecompose).then_some(goal.id)
    }

    /// Whether a dangerous call was deferred, so that only trusted text is shown.
    pub(crate) fn is_careful(&self) -> bool {
        self.careful_from.is_some()
    }

    pub(super) fn parse_failed(&mut self, parse_failed: &ParseFailed) {
        self.failures.add();
        if let Some(step) = self.steps.last_mut() {
            step.parse_failed = Some(parse_failed.note.clone());
            step.tokens = step.tokens.saturating_add(parse_failed.tokens);
        }
    }

    pub(super) fn answered(&mut self, answered: &ToolAnswered) {
        self.world = WorldReach::default();
        let steps = self.steps.len();
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        step.tokens = step.tokens.saturating_add(answered.tokens);
        let is_notice = step.is_notice();
        if answered.verdict == Verdict::Deferred {
            // A second call of the same kind is judged by what is shown from this step on.
            self.careful_from = Some(steps);
        }
        if let Some(call) = step.calls.iter_mut().find(|c| c.call.id == answered.call) {
            call.set_result(answered.content.clone());
            call.verdict = Some(answered.verdict);
            call.category = answered.category;
            call.trust = answered.trust;
            call.tokens = answered.tokens;
        }
        if answered.tool != NOOP && !is_notice {
            self.note(answered.verdict);
        }
    }

    pub(super) fn intended(&mut self, intended: &EffectIntended) {
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        let mut calls = step.calls.iter_mut();
        if let Some(state) = calls.find(|call| call.call.id == intended.call) {
            state.category = Some(intended.category);
            state.trust = intended.result_trust;
            state.effect = Some(EffectState {
                key: intended.key.clone(),
                tool: intended.tool.clone(),
                arguments: intended.arguments.clone(),
                speech: intended.speech.clone(),
                audience: intended.audience.clone(),
                within: intended.within.clone(),
                outcome: None,
                settled: None,
                captured: String::new(),
            });
        }
    }

    pub(super) fn settled(&mut self, seq: Seq, settled: &EffectSettled) {
        self.world = WorldReach::default();
        let steps = self.steps.len();
        let reached = self.answer_reaches();
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        let Some(call) = step.calls.iter_mut().find(|c| c.has_effect(&settled.key)) else {
            return;
        };
        step.tokens = step.tokens.saturating_add(settled.tokens);
        call.set_result(settled.content.clone());
        call.tokens = settled.tokens;
        let verdict = Verdict::from(&settled.outcome);
        call.verdict = Some(verdict);
        if let Some(effect) = &mut call.effect {
            effect.outcome = Some(settled.outcome.clone());
            effect.settled = Some(seq);
            // An act for one person reaches only that person, no matter how many listen where the message was said.
            if let Outcome::Rejected(Rejection {
                heard_by: Some(heard_by),
                ..
            }) = &settled.outcome
                && !self.trigger.is_for_one()
                && !effect.said().is_some_and(|said| said.is_private())
            {
                self.widened = Some(Widened {
                    listeners: reached.union(heard_by),
                    from: steps,
                });
                // Other records may have to be left out for these listeners.
                self.recollected = None;
            }
        }
        if !step.is_notice() {
            self.note(verdict);
        }
    }

    /// Counts how a call ended. A success clears the errors before it.
    fn note(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Success => self.failures.errors = 0,
            Verdict::Failure => self.failures.add(),
            Verdict::Skipped | Verdict::Deferred => {}
        }
    }

    /// Keeps output of this effect, up to [`CAPTURE_LIMIT`], while it is open.
    pub(super) fn capture(&mut self, cause: &EffectKey, words: &Words) {
        let open = self.open_effect_mut();
        let Some(effect) = open.filter(|effect| effect.key == *cause) else {
            return;
        };
        let room = CAPTURE_LIMIT.saturating_sub(effect.captured.len());
        let words = words.as_claimed();
        if words.len() < room {
            effect.captured.push_str(words);
            effect.captured.push('\n');
        } else if room > 0 {
            effect.captured.push_str(beginning_bytes(words, room));
            effect.captured.push_str(CUT_OFF);
        }
    }

    fn open_effect_mut(&mut self) -> Option<&mut EffectState> {
        let calls = self.steps.last_mut()?.calls.iter_mut();
        calls
            .filter_map(|call| call.effect.as_mut())
            .find(|effect| effect.outcome.is_none())
    }

    /// The act in the world that was intended but not settled, if any.
    #[must_use]
    pub fn open_effect(&self) -> Option<&EffectState> {
        let calls = self.steps.last()?.calls.iter();
        calls
            .filter_map(|call| call.effect.as_ref())
            .find(|effect| effect.outcome.is_none())
    }

    /// The tool of the act in the world with this key.
    #[must_use]
    pub fn effect_tool(&self, key: &EffectKey) -> Option<&str> {
        let calls = self.steps.last()?.calls.iter();
        let effect = calls
            .filter_map(|call| call.effect.as_ref())
            .find(|effect| effect.key == *key)?;
        Some(effect.tool.as_str())
    }

    /// The first call of the last step that has no result yet.
    #[must_use]
    pub fn open_call(&self) -> Option<&CallState> {
        self.steps
            .last()?
            .calls
            .iter()
            .find(|call| call.result.is_none())
    }

    /// The place of the trigger in the log.
    #[must_use]
    pub fn trigger_seq(&self) -> Seq {
        self.trigger.seq()
    }

    /// The last event of this turn that is known: its last act, or its trigger.
    #[must_use]
    pub fn last_seq(&self) -> Seq {
        let calls = self.steps.iter().flat_map(|step| &step.calls);
        let settled = calls.filter_map(|call| call.effect.as_ref()?.settled);
        settled.fold(self.trigger_seq(), Seq::max)
    }

    /// The message that this turn answers, if somebody waits for an answer.
    #[must_use]
    pub fn message(&self) -> Option<&Heard> {
        self.trigger.message()
    }

    /// Who perceived the whole turn, other than the assistant: the trigger, what the model was shown, and what was
    /// said.
    pub(crate) fn known_to(&self) -> Audience {
        let steps = self.steps.iter().filter(|step| !step.is_of_the_engine());
        let audiences = steps.flat_map(|step| {
            let effects = step.calls.iter().filter_map(|call| call.effect.as_ref());
            let effects = effects.map(|effect| effect.audience.as_ref());
            effects.chain([step.audience.as_ref()])
        });
        let nobody = Audience::nobody();
        audiences.fold(self.trigger.known_to(), |known_to, audience| {
            known_to.intersection(audience.unwrap_or(&nobody))
        })
    }

    /// Who hears what is said in it.
    pub(crate) fn answer_reaches(&self) -> Audience {
        let widened = self.widened.as_ref();
        widened.map_or_else(
            || self.trigger.answer_reaches(),
            |widened| widened.listeners.clone(),
        )
    }

    /// How many tokens the turn takes in a prompt.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.own_steps().fold(self.trigger.tokens(), |sum, step| {
            sum.saturating_add(step.tokens)
        })
    }
}
