//! One turn: a message and everything done about it until it is answered.

use dormouse_contracts::{EffectKey, ModelErrorKind, Outcome, Seq, ServiceName, Timestamp, Words};
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use super::{CallState, EffectState, Heard, Sources, Step, service::Blame};
use crate::event::{
    ContextLimit, DelayCause, Delayed, EffectIntended, EffectSettled, NOOP, ParseFailed,
    RecalledLine, Recollected, Replied, StopReason, TickEnded, ToolAnswered, Unanswered,
    UnansweredCause, Verdict, WorldFailed,
};

/// How much command output one effect collects, in bytes.
const CAPTURE_LIMIT: usize = 8 * 1024;
/// What follows output that was cut off.
const CUT_OFF: &str = "\n(the output goes on)\n";

/// A message and everything done about it. It stays open over several ticks if it must.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The message it answers.
    pub trigger: Heard,
    /// What was looked up for it, until it is finished.
    pub recollected: Option<Recollected<RecalledLine>>,
    /// The least trusted sources of the remembered lines that this turn showed.
    pub sources: Sources,
    /// What the model did, in order.
    pub steps: Vec<Step>,
    /// How many steps were taken in the tick that is under way.
    pub steps_this_tick: u32,
    /// How many calls were made in the tick that is under way.
    pub calls_this_tick: u32,
    /// How many ticks it has taken since it began, or since somebody last cleared a stop. Ticks that did nothing
    /// because the model gave no reply, and ticks that could not reach the world, do not count.
    pub ticks: u32,
    /// How many errors in a row it caused.
    pub failures: u32,
    /// How many model calls for it failed in a row.
    pub failed_calls: u32,
    /// Whether a model call for it has failed since the last answer to anybody, in a way that it may have caused. If
    /// the next answered message is another one, this message caused the failure.
    pub is_suspect: bool,
    /// The time since which all model calls for it failed in a way that it may have caused. Calls that were not sent do
    /// not count.
    #[serde(default)]
    pub failing_since: Option<Timestamp>,
    /// Why it ends without an answer, once that is decided.
    pub unanswered: Option<UnansweredCause>,
    /// How often in a row its world could not be reached.
    pub unreached: u32,
    /// How often during that time its world could be reached, but did not answer its act.
    pub silences: u32,
    /// Why the world could not be reached the last time, if it could not be.
    pub obstacle: Option<String>,
    /// How often the provider refused the prompt for good.
    pub refusals: u32,
    /// How long its prompts may be, if one was too long.
    pub context_limit: Option<ContextLimit>,
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
            context_limit: None,
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
        // A call that waits for its world belongs to the step that made it, even if a later tick carries it out.
        if self.open_call().is_none() {
            self.steps_this_tick = 0;
            self.calls_this_tick = 0;
        }
        self.ticks = self.ticks.saturating_add(1);
        self.resume_at = None;
        self.waits_for = None;
        // A look-up that failed is tried again.
        self.recollected
            .take_if(|recollected| recollected.failure.is_some());
    }

    pub(super) fn recollect(&mut self, recollected: Recollected<RecalledLine>) {
        self.sources.add_all(recollected.sources());
        self.recollected = Some(recollected);
    }

    pub(super) fn limit_context(&mut self, context_limit: ContextLimit) {
        self.context_limit = Some(context_limit);
        self.narrowings = self.narrowings.saturating_add(1);
    }

    /// The model gave no reply. A tick that did nothing for that reason does not count.
    pub(super) fn got_no_reply(&mut self) {
        if self.steps_this_tick == 0 {
            self.ticks = self.ticks.saturating_sub(1);
        }
    }

    /// The call was sent, and got no reply.
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

    /// It caused an error.
    pub(super) fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// Other messages go before it.
    pub(super) fn step_aside(mut self) -> Self {
        // Other memories may be relevant by then.
        self.recollected = None;
        self
    }

    /// Whether other messages may go before it while it waits. They may after an error that it may have caused, if no
    /// call is open.
    pub(crate) fn may_step_aside(&self) -> bool {
        let after_error = matches!(
            self.last_stop,
            Some(StopReason::LlmError | StopReason::ParseError)
        );
        !self.ticking && self.resume_at.is_some() && after_error && self.open_call().is_none()
    }

    /// The world was out of reach. However long that lasts, the ticks do not count against the message.
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
        self.narrowings = 0;
        self.failed_calls = 0;
        self.is_suspect = false;
        self.failing_since = None;
        // If the calls were parsed out of the text, they already hold all that the text said.
        let text_is_call = reply.tool_calls.is_empty() && !calls.is_empty();
        self.steps_this_tick = self.steps_this_tick.saturating_add(1);
        self.steps.push(Step {
            content: if text_is_call {
                String::new()
            } else {
                reply.content
            },
            calls: calls.into_iter().map(CallState::new).collect(),
            parse_failed: None,
            speech_only,
            is_notice: false,
            tokens,
        });
    }

    /// It ends without an answer; the calls that say so form a step, like a step of the model.
    pub(super) fn unanswered(&mut self, unanswered: Unanswered) {
        self.unanswered = Some(unanswered.cause);
        self.steps_this_tick = self.steps_this_tick.saturating_add(1);
        self.steps.push(Step {
            content: String::new(),
            calls: unanswered.calls.into_iter().map(CallState::new).collect(),
            parse_failed: None,
            speech_only: true,
            is_notice: false,
            tokens: unanswered.tokens,
        });
    }

    /// Its answer takes long. The notice to its sender is a step that the model did not take, and does not count as one
    /// of the model's.
    pub(super) fn delayed(&mut self, delayed: Delayed) {
        self.knows_of_outage |= delayed.cause == DelayCause::Outage;
        self.steps.push(Step {
            content: String::new(),
            calls: delayed.calls.into_iter().map(CallState::new).collect(),
            parse_failed: None,
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

    pub(super) fn parse_failed(&mut self, parse_failed: ParseFailed) {
        self.failed();
        if let Some(step) = self.steps.last_mut() {
            step.parse_failed = Some(parse_failed.note);
            step.tokens = step.tokens.saturating_add(parse_failed.tokens);
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

    /// Counts how a call ended. A success clears the errors before it.
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
