//! One turn: what called for it, and everything done about that until it is over.

mod phase;

use dormouse_contracts::{
    Audience, EffectKey, FORGOTTEN, ModelErrorKind, Outcome, Rejection, Seq, Timestamp, Words,
};
use dormouse_memory::RecordId;
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use super::{
    heard::Heard,
    service::Blame,
    step::{CallState, EffectState, Step, StepKind},
    trigger::Trigger,
};
use crate::{
    assessment::Assessment,
    builtin::{GET_ENTITY_PROFILE, lists_lines},
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
/// What follows output that was cut off.
const CUT_OFF: &str = "\n(the output goes on)\n";

/// What called for it, and everything done about that. It stays open over several ticks if it must.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// What called for it.
    pub trigger: Trigger,
    /// Which kind of tick it is worked on in.
    #[serde(default, skip_serializing_if = "ContextType::is_of_an_event")]
    pub context: ContextType,
    /// How its task was assessed, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
    /// How far it has come.
    pub phase: Phase,
    /// What was looked up for it, until it is finished.
    pub recollected: Option<Recollected<RecalledLine>>,
    /// What the model did, in order.
    pub steps: Vec<Step>,
    /// How many steps were taken in the tick that is under way.
    pub steps_this_tick: u32,
    /// How many ticks it has taken since it began, or since somebody last cleared a stop. Ticks that did nothing
    /// because the model gave no reply, and ticks that could not reach the world, do not count.
    pub ticks: u32,
    /// What went wrong in it.
    pub failures: TurnFailures,
    /// How its world was reached lately.
    pub world: WorldReach,
    /// How long its prompts may be, if one was too long.
    pub context_limit: Option<ContextLimit>,
    /// How often in a row its prompt was made shorter.
    pub narrowings: u32,
    /// From which step on only trusted text is shown, if a dangerous call was deferred.
    pub careful_from: Option<usize>,
    /// Who else listens by now, if the world did not let something be said because of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widened: Option<Widened>,
    /// Whether the memory has changed since something was looked up, so that it is looked up again before the model is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_outdated: bool,
    /// How much of it prompts show, once it is over.
    #[serde(default, skip_serializing_if = "TurnView::is_whole")]
    pub view: TurnView,
}

/// How much of a finished turn prompts show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnView {
    /// All of it.
    #[default]
    Whole,
    /// All but the results of its calls, each of which is one line.
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

/// More listen than when a turn began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Widened {
    /// Everyone who has listened, since the message that is answered.
    pub listeners: Audience,
    /// From which step on the steps are shown: those before it were made for fewer listeners.
    pub from: usize,
}

/// What went wrong in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailures {
    /// How many errors in a row it caused.
    pub errors: u32,
    /// How many model calls for it failed in a row.
    pub calls: u32,
    /// How often the provider refused the prompt for good.
    pub refusals: u32,
    /// Whether a model call for it has failed since the last answer to anybody, in a way that it may have caused. If
    /// the next answered message is another one, this message caused the failure.
    pub is_suspect: bool,
    /// The time since which all model calls for it failed in a way that it may have caused. Calls that were not sent do
    /// not count.
    pub since: Option<Timestamp>,
}

impl TurnFailures {
    /// It caused an error.
    fn add(&mut self) {
        self.errors = self.errors.saturating_add(1);
    }

    /// The call was sent, and got no reply.
    fn no_reply(&mut self, kind: ModelErrorKind, blame: Blame, at: Timestamp) {
        self.calls = self.calls.saturating_add(1);
        self.is_suspect |= blame == Blame::ServiceOrMessage;
        let since = self.since.unwrap_or(at);
        self.since = kind.may_depend_on_the_prompt().then_some(since);
    }

    /// The model replied.
    fn replied(&mut self) {
        self.calls = 0;
        self.is_suspect = false;
        self.since = None;
    }
}

/// How the world of a turn was reached lately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldReach {
    /// How often in a row it could not be reached.
    pub failures: u32,
    /// How often during that time it could be reached, but did not answer the act.
    pub silences: u32,
    /// Why it could not be reached the last time, if it could not be.
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
        // A look-up that failed is tried again.
        self.recollected
            .take_if(|recollected| recollected.failure.is_some());
    }

    /// Whether a tick works on it.
    #[must_use]
    pub fn is_ticking(&self) -> bool {
        matches!(self.phase, Phase::Working { .. } | Phase::Ending(_))
    }

    /// What it waits for, between two ticks.
    #[must_use]
    pub fn wait(&self) -> Option<&Wait> {
        match &self.phase {
            Phase::Waiting(wait) => Some(wait),
            Phase::Working { .. } | Phase::Ending(_) | Phase::Over(_) => None,
        }
    }

    /// What was looked up is looked up again. A reply whose calls are not all made yet was decided on what it showed, so that
    /// is kept until they are, to judge what they say.
    pub(super) fn forget_recollected(&mut self) {
        if self.open_call().is_some() {
            self.is_outdated = true;
        } else {
            self.recollected = None;
        }
    }

    /// No words of these records are kept of what was looked up.
    pub(super) fn forget_records(&mut self, is_gone: impl Fn(RecordId) -> bool) {
        let items = self
            .recollected
            .iter_mut()
            .flat_map(|found| &mut found.items);
        for line in items.filter(|line| is_gone(line.record)) {
            FORGOTTEN.clone_into(&mut line.text);
        }
        // Its number of tokens stays: it is the most that the result takes.
        for call in self.results_of(lists_lines) {
            let shown = call.result.as_deref();
            if let Some(without) = shown.and_then(|shown| without_records(shown, &is_gone)) {
                call.result = Some(without);
            }
        }
    }

    /// No words are kept of what was looked up about people.
    pub(super) fn forget_profiles(&mut self) {
        for call in self.results_of(|tool| tool == GET_ENTITY_PROFILE) {
            call.result = Some(left_out());
        }
    }

    /// No words are kept of what was looked up, in the memory or about people.
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
        self.is_outdated = false;
    }

    /// Whether the memory is asked before the model is.
    pub(crate) fn is_to_be_recollected(&self) -> bool {
        self.recollected.is_none() || self.is_outdated
    }

    /// A model call failed.
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
        // A tick that did nothing because the model gave no reply does not count.
        if self.steps_this_tick == 0 {
            self.ticks = self.ticks.saturating_sub(1);
        }
        if matches!(blame, Blame::Service | Blame::ServiceOrMessage) {
            self.failures.no_reply(failed.kind, blame, at);
        }
    }

    /// Another message was answered.
    pub(super) fn another_was_answered(&mut self) {
        if std::mem::take(&mut self.failures.is_suspect) {
            self.failures.add();
        }
    }

    /// Other messages go before it.
    pub(super) fn step_aside(mut self) -> Self {
        self.interrupt();
        // Other memories may be relevant by then.
        self.recollected = None;
        self
    }

    /// Whether other messages may go before it while it waits. They may after an error that it may have caused, and while
    /// the budgets allow no call, if no call is open.
    pub(crate) fn may_step_aside(&self) -> bool {
        let after = self.wait().and_then(|wait| wait.after);
        let may = matches!(
            after,
            Some(StopReason::LlmError | StopReason::ParseError | StopReason::BudgetSpent)
        );
        may && self.open_call().is_none()
    }

    /// The world was out of reach. However long that lasts, the ticks do not count against the message.
    pub(super) fn unreached(&mut self, failed: &WorldFailed) {
        self.world.failures = self.world.failures.saturating_add(1);
        self.world.silences = self.world.silences.saturating_add(failed.silent.into());
        self.world.obstacle.clone_from(&failed.reason);
        self.ticks = self.ticks.saturating_sub(1);
    }

    /// The tick is over, and a later one goes on.
    pub(super) fn suspend(&mut self, reason: StopReason, resume_at: Timestamp) {
        if reason == StopReason::BudgetSpent && self.steps_this_tick == 0 {
            // However long the budgets allow no call, that does not count against the message.
            self.ticks = self.ticks.saturating_sub(1);
        }
        self.phase.wait(resume_at, Some(reason));
    }

    /// The tick under way ends before its time; the next one goes on at once.
    pub(super) fn interrupt(&mut self) {
        self.phase.wait(Timestamp::EPOCH, None);
    }

    /// The turn as it is kept when it is over.
    pub(super) fn closed(mut self, reason: StopReason) -> Self {
        self.phase = Phase::Over(reason);
        self.recollected = None;
        self.is_outdated = false;
        self.context_limit = None;
        self.assessment = None;
        self
    }

    pub(super) fn resume_now(&mut self) {
        self.ticks = 0;
        self.wait_no_longer();
    }

    /// Whether it waits until the budgets allow a call of the model.
    pub(crate) fn waits_for_a_budget(&self) -> bool {
        let after = self.wait().and_then(|wait| wait.after);
        after == Some(StopReason::BudgetSpent)
    }

    /// There may be other budgets now.
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
        // Everything that the prompt showed was known to everyone who hears the answer. What is said in public is known to
        // more people than hear the answer, and the prompt was not made for those.
        let heard_by = || {
            self.trigger
                .known_to()
                .intersection(&self.trigger.answer_reaches())
        };
        step.audience = (privacy == Privacy::Kept).then(heard_by);
        // If the calls were parsed out of the text, they already hold all that the text said.
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

    /// It ends without an answer; the calls that say so form a step, like a step of the model.
    pub(super) fn unanswered(&mut self, unanswered: &Unanswered) {
        self.phase = Phase::Ending(unanswered.cause);
        let step = Step::new(StepKind::Apology, &unanswered.calls, unanswered.tokens);
        self.take_step(step);
    }

    /// Its answer takes long. The notice to its sender is a step that the model did not take, and does not count as one
    /// of the model's.
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

    /// The steps that were taken in the tick that is under way, the last one first.
    pub(crate) fn steps_of_this_tick(&self) -> impl Iterator<Item = &Step> {
        let steps = usize::try_from(self.steps_this_tick).unwrap_or(usize::MAX);
        self.own_steps().rev().take(steps)
    }

    /// The steps that the model took, in order.
    pub fn own_steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.is_notice())
    }

    /// The steps that a prompt shows, in order: those that the model took, without those before a dangerous call was
    /// deferred, or that were made for fewer listeners.
    pub(crate) fn shown_steps(&self) -> impl Iterator<Item = &Step> {
        let shown = self.steps.iter().skip(self.shown_from());
        shown.filter(|step| !step.is_notice())
    }

    /// From which step on a prompt shows the steps.
    pub(crate) fn shown_from(&self) -> usize {
        let widened = self.widened.as_ref().map(|widened| widened.from);
        self.careful_from.max(widened).unwrap_or(0)
    }

    /// The goal that is divided in it.
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
            // A second call of the same kind is then judged by what is shown from here on.
            self.careful_from = Some(steps);
        }
        if let Some(call) = step.calls.iter_mut().find(|c| c.call.id == answered.call) {
            call.result = Some(answered.content.clone());
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
        call.result = Some(settled.content.clone());
        call.tokens = settled.tokens;
        let verdict = Verdict::from(&settled.outcome);
        call.verdict = Some(verdict);
        if let Some(effect) = &mut call.effect {
            effect.outcome = Some(settled.outcome.clone());
            effect.settled = Some(seq);
            // An act for one person is heard by that person, however many listen where the message was said.
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
                // For these listeners other memories may be left out.
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

    /// The outward act that was intended and not settled, if there is one.
    #[must_use]
    pub fn open_effect(&self) -> Option<&EffectState> {
        let calls = self.steps.last()?.calls.iter();
        calls
            .filter_map(|call| call.effect.as_ref())
            .find(|effect| effect.outcome.is_none())
    }

    /// The tool of the outward act with this key.
    #[must_use]
    pub fn effect_tool(&self, key: &EffectKey) -> Option<&str> {
        let calls = self.steps.last()?.calls.iter();
        let effect = calls
            .filter_map(|call| call.effect.as_ref())
            .find(|effect| effect.key == *key)?;
        Some(effect.tool.as_str())
    }

    /// The first call that has no result yet, of the last step.
    #[must_use]
    pub fn open_call(&self) -> Option<&CallState> {
        self.steps
            .last()?
            .calls
            .iter()
            .find(|call| call.result.is_none())
    }

    /// The place in the log of what called for this turn.
    #[must_use]
    pub fn trigger_seq(&self) -> Seq {
        self.trigger.seq()
    }

    /// The last event of it that it knows: the last act, or what called for it.
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

    /// Who perceived all of it, other than the assistant: what called for it, what the model was shown, and what was
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
