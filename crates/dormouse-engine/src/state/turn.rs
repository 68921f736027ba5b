//! One turn: a message and everything done about it until it is answered.

use dormouse_contracts::{EffectKey, ModelErrorKind, Outcome, Seq, ServiceName, Timestamp, Words};
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use super::{CallState, EffectState, Heard, Sources, Step, service::Blame};
use crate::event::{
    DelayCause, Delayed, EffectIntended, EffectSettled, Misread, NOOP, Narrowed, RecalledLine,
    Recollected, Replied, StopReason, TickEnded, ToolAnswered, Unanswered, UnansweredCause,
    Verdict, WorldFailed,
};

/// How much command output one effect collects, in bytes.
const CAPTURE_LIMIT: usize = 8 * 1024;
/// What stands behind output that was longer.
const CUT_OFF: &str = "\n(the output goes on)\n";

/// A message and everything done about it. It stays open over several ticks if it must.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The message it answers.
    pub trigger: Heard,
    /// What was looked up for it, until it is finished.
    pub recollected: Option<Recollected<RecalledLine>>,
    /// Where the least believed comes from of what was remembered and shown in it.
    pub sources: Sources,
    /// What the model did, in order.
    pub steps: Vec<Step>,
    /// How many steps were taken in the tick that is under way.
    pub steps_this_tick: u32,
    /// How many calls were made in the tick that is under way.
    pub calls_this_tick: u32,
    /// How many ticks it has taken since it began, or since somebody last cleared a stop; those that found the model left
    /// alone and did nothing are not among them, nor those that could not reach the world.
    pub ticks: u32,
    /// How many errors have come of it in a row.
    pub failures: u32,
    /// How many model calls for it failed in a row.
    pub failed_calls: u32,
    /// Whether a model call for it has failed since anybody was last answered, in a way that it may be the cause of. If the next one to be answered is another
    /// message, the failure was this message's.
    pub is_suspect: bool,
    /// Since when all model calls for it failed in a way that it may be the cause of; those that were not made do not count.
    #[serde(default)]
    pub failing_since: Option<Timestamp>,
    /// Why it ends without an answer, once that is decided.
    pub unanswered: Option<UnansweredCause>,
    /// How often in a row its world could not be reached.
    pub unreached: u32,
    /// How often meanwhile its world was there, and did not answer its act.
    pub silences: u32,
    /// Why the world could not be reached the last time, if it could not be.
    pub obstacle: Option<String>,
    /// How often the provider refused the prompt for good.
    pub refusals: u32,
    /// How long its prompts may be, where one was too long.
    pub narrowed: Option<Narrowed>,
    /// How often in a row its prompt was made shorter.
    pub narrowings: u32,
    /// Whether its sender was told that the model gives no answers.
    #[serde(default)]
    pub knows_of_outage: bool,
    /// True between the start and the end of a tick.
    pub ticking: bool,
    /// When to go on with it, between two ticks.
    pub resume_at: Option<Timestamp>,
    /// The service whose failure it waits after. With other services it need not wait.
    #[serde(default)]
    pub waits_for: Option<ServiceName>,
    /// Why its last tick ended.
    pub last_stop: Option<StopReason>,
}

impl Turn {
    pub(super) fn new(trigger: Heard) -> Self {
        Self {
            trigger,
            recollected: None,
            sources: Sources::default(),
            steps: Vec::new(),
            steps_this_tick: 0,
            calls_this_tick: 0,
            ticks: 0,
            failures: 0,
            failed_calls: 0,
            is_suspect: false,
            failing_since: None,
            unanswered: None,
            unreached: 0,
            silences: 0,
            obstacle: None,
            refusals: 0,
            narrowed: None,
            narrowings: 0,
            knows_of_outage: false,
            ticking: false,
            resume_at: None,
            waits_for: None,
            last_stop: None,
        }
    }

    pub(super) fn begin_tick(&mut self) {
        self.ticking = true;
        // A call that waits for its world belongs to the step that made it, whichever tick carries it out.
        if self.open_call().is_none() {
            self.steps_this_tick = 0;
            self.calls_this_tick = 0;
        }
        self.ticks = self.ticks.saturating_add(1);
        self.resume_at = None;
        self.waits_for = None;
        // What could not be looked up is looked up again.
        self.recollected
            .take_if(|recollected| recollected.failure.is_some());
    }

    pub(super) fn recollect(&mut self, recollected: Recollected<RecalledLine>) {
        self.sources.add_all(recollected.sources());
        self.recollected = Some(recollected);
    }

    pub(super) fn narrow(&mut self, narrowed: Narrowed) {
        self.narrowed = Some(narrowed);
        self.narrowings = self.narrowings.saturating_add(1);
    }

    /// The model gave no reply. A tick that came to nothing because of that is none.
    pub(super) fn got_no_reply(&mut self) {
        if self.steps_this_tick == 0 {
            self.ticks = self.ticks.saturating_sub(1);
        }
    }

    /// The call that got no reply was made.
    pub(super) fn model_failed(&mut self, kind: ModelErrorKind, blame: Blame, at: Timestamp) {
        self.failed_calls = self.failed_calls.saturating_add(1);
        self.is_suspect |= blame == Blame::ServiceOrMessage;
        let since = self.failing_since.unwrap_or(at);
        self.failing_since = kind.may_depend_on_the_prompt().then_some(since);
    }

    /// Another message was answered.
    pub(super) fn another_was_answered(&mut self) {
        if std::mem::take(&mut self.is_suspect) {
            self.failed();
        }
    }

    /// An error came of it.
    pub(super) fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// Other messages are dealt with before it goes on.
    pub(super) fn step_aside(mut self) -> Self {
        // What is worth knowing may be something else by then.
        self.recollected = None;
        self
    }

    /// Whether others may be dealt with while it waits: after an error that may be its own, and not where something is
    /// still to be done about it.
    pub(crate) fn may_step_aside(&self) -> bool {
        let after_error = matches!(
            self.last_stop,
            Some(StopReason::LlmError | StopReason::ParseError)
        );
        !self.ticking && self.resume_at.is_some() && after_error && self.open_call().is_none()
    }

    /// The world was out of reach. However long that lasts, it is not the message that takes so many ticks.
    pub(super) fn unreached(&mut self, failed: WorldFailed) {
        self.unreached = self.unreached.saturating_add(1);
        self.silences = self.silences.saturating_add(failed.silent.into());
        self.obstacle = failed.reason;
        self.ticks = self.ticks.saturating_sub(1);
    }

    fn reached(&mut self) {
        self.unreached = 0;
        self.silences = 0;
        self.obstacle = None;
    }

    pub(super) fn suspend(&mut self, ended: &TickEnded) {
        self.ticking = false;
        self.resume_at = ended.resume_at;
        self.last_stop = Some(ended.reason);
    }

    pub(super) fn resume_now(&mut self) {
        self.ticks = 0;
        self.wait_no_longer();
    }

    pub(super) fn wait_no_longer(&mut self) {
        self.failing_since = None;
        self.resume_at = self.resume_at.map(|_| Timestamp::EPOCH);
    }

    pub(super) fn replied(&mut self, replied: Replied) {
        let Replied {
            reply,
            calls,
            tokens,
            speech_only,
            ..
        } = replied;
        // Where the calls stood in the text, they say all that the text said.
        self.narrowings = 0;
        self.failed_calls = 0;
        self.is_suspect = false;
        self.failing_since = None;
        let text_is_call = reply.tool_calls.is_empty() && !calls.is_empty();
        self.steps_this_tick = self.steps_this_tick.saturating_add(1);
        self.steps.push(Step {
            content: if text_is_call {
                String::new()
            } else {
                reply.content
            },
            calls: calls.into_iter().map(CallState::new).collect(),
            misread: None,
            speech_only,
            is_notice: false,
            tokens,
        });
    }

    /// It ends without an answer; what says so is a step like one of the model's.
    pub(super) fn unanswered(&mut self, unanswered: Unanswered) {
        self.unanswered = Some(unanswered.cause);
        self.steps_this_tick = self.steps_this_tick.saturating_add(1);
        self.steps.push(Step {
            content: String::new(),
            calls: unanswered.calls.into_iter().map(CallState::new).collect(),
            misread: None,
            speech_only: true,
            is_notice: false,
            tokens: unanswered.tokens,
        });
    }

    /// Its answer takes long. What asks the sender to wait is a step that the model did not take, and counts as none.
    pub(super) fn delayed(&mut self, delayed: Delayed) {
        self.knows_of_outage |= delayed.cause == DelayCause::Outage;
        self.steps.push(Step {
            content: String::new(),
            calls: delayed.calls.into_iter().map(CallState::new).collect(),
            misread: None,
            speech_only: false,
            is_notice: true,
            tokens: delayed.tokens,
        });
    }

    /// Whether its sender was asked to wait.
    #[must_use]
    pub fn is_delayed(&self) -> bool {
        self.steps.iter().any(|step| step.is_notice)
    }

    /// The steps that the model took, in order.
    pub fn own_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.is_notice)
    }

    pub(super) fn misread(&mut self, misread: Misread) {
        self.failed();
        if let Some(step) = self.steps.last_mut() {
            step.misread = Some(misread.note);
            step.tokens = step.tokens.saturating_add(misread.tokens);
        }
    }

    pub(super) fn answered(&mut self, answered: ToolAnswered) {
        self.reached();
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        step.tokens = step.tokens.saturating_add(answered.tokens);
        let is_notice = step.is_notice;
        if answered.tool != NOOP && !is_notice {
            self.note(answered.verdict);
        }
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        self.sources.add_all(answered.sources);
        if let Some(call) = step.calls.iter_mut().find(|c| c.call.id == answered.call) {
            call.result = Some(answered.content);
            call.verdict = Some(answered.verdict);
            call.category = answered.category;
            if answered.verdict != Verdict::Skipped && !call.call.continues && !is_notice {
                self.calls_this_tick = self.calls_this_tick.saturating_add(1);
            }
        }
    }

    pub(super) fn intended(&mut self, intended: EffectIntended) {
        let EffectIntended {
            key,
            call,
            tool,
            category,
            arguments,
            trust: _,
        } = intended;
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        if let Some(state) = step.calls.iter_mut().find(|c| c.call.id == call) {
            state.category = Some(category);
            state.effect = Some(EffectState {
                key,
                tool,
                arguments,
                outcome: None,
                settled: None,
                captured: String::new(),
            });
        }
    }

    pub(super) fn settled(&mut self, seq: Seq, settled: EffectSettled) {
        self.reached();
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        let Some(call) = step.calls.iter_mut().find(|c| c.has_effect(&settled.key)) else {
            return;
        };
        step.tokens = step.tokens.saturating_add(settled.tokens);
        let is_part = call.call.continues;
        call.result = Some(settled.content);
        let verdict = match settled.outcome {
            Outcome::Done(_) => Verdict::Success,
            Outcome::Rejected(_) | Outcome::Unknown => Verdict::Failure,
        };
        call.verdict = Some(verdict);
        if let Some(effect) = &mut call.effect {
            effect.outcome = Some(settled.outcome);
            effect.settled = Some(seq);
        }
        if step.is_notice {
            return;
        }
        // All parts of an answer are one call.
        let made = u32::from(!is_part);
        self.calls_this_tick = self.calls_this_tick.saturating_add(made);
        self.note(verdict);
    }

    /// Counts how a call ended. A success takes the errors before it back.
    fn note(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Success => self.failures = 0,
            Verdict::Failure => self.failed(),
            Verdict::Skipped => {}
        }
    }

    /// Keeps what the world printed while an effect was under way, up to [`CAPTURE_LIMIT`].
    pub(super) fn capture(&mut self, words: &Words) {
        let Some(effect) = self.open_effect_mut() else {
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
    pub fn effect_tool(&self, key: &EffectKey) -> Option<String> {
        let calls = self.steps.last()?.calls.iter();
        let effect = calls
            .filter_map(|call| call.effect.as_ref())
            .find(|effect| effect.key == *key)?;
        Some(effect.tool.as_str().to_owned())
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

    /// The place in the log of the message this turn answers.
    #[must_use]
    pub fn trigger_seq(&self) -> Seq {
        self.trigger.seq
    }

    /// How many tokens the turn takes in a prompt.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.own_steps().fold(self.trigger.tokens, |sum, step| {
            sum.saturating_add(step.tokens)
        })
    }
}
