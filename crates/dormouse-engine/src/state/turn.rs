//! One turn: a message and everything done about it until it is answered.

use dormouse_contracts::{
    Arguments, CallId, EffectKey, Outcome, Seq, Timestamp, ToolCategory, ToolName, Words,
};
use serde::{Deserialize, Serialize};

use super::{Heard, Sources};
use crate::event::{
    Call, EffectIntended, EffectSettled, Misread, Narrowed, Recollected, Replied, StopReason,
    TickEnded, ToolAnswered, Verdict,
};

/// How much command output one effect collects, in bytes.
const CAPTURE_LIMIT: usize = 8 * 1024;
/// What stands behind output that was longer.
const CUT_OFF: &str = "\n(the output goes on)\n";

/// A message and everything done about it. It stays open over several ticks if it must.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// When it began.
    pub started_at: Timestamp,
    /// The message it answers.
    pub trigger: Heard,
    /// What was looked up for it, until it is finished.
    pub recollected: Option<Recollected>,
    /// Where the least believed comes from of what was remembered and shown in it.
    pub sources: Sources,
    /// What the model did, in order.
    pub steps: Vec<Step>,
    /// How many steps were taken in the tick that is under way.
    pub steps_this_tick: u32,
    /// How many calls were made in the tick that is under way.
    pub calls_this_tick: u32,
    /// How many ticks it has taken since it began, or since somebody last cleared a stop; those that found the model left
    /// alone and did nothing are not among them.
    pub ticks: u32,
    /// How often the provider refused the prompt for good.
    pub refusals: u32,
    /// How long its prompts may be, where one was too long.
    pub narrowed: Option<Narrowed>,
    /// How often in a row its prompt was made shorter.
    pub narrowings: u32,
    /// True between the start and the end of a tick.
    pub ticking: bool,
    /// When to go on with it, between two ticks.
    pub resume_at: Option<Timestamp>,
    /// Why its last tick ended.
    pub last_stop: Option<StopReason>,
}

/// One reply of the model and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The text of the reply.
    pub content: String,
    /// The calls of the reply, in order.
    pub calls: Vec<CallState>,
    /// What was wrong with the reply, if it could not be read.
    pub misread: Option<String>,
    /// How many tokens all of it takes in a prompt.
    pub tokens: u32,
}

/// A call and how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallState {
    /// The call.
    pub call: Call,
    /// The outward act it led to, if it led to one.
    pub effect: Option<EffectState>,
    /// Its result as the model sees it, once it has one.
    pub result: Option<String>,
    /// How it ended, once it has.
    pub verdict: Option<Verdict>,
    /// The tool's category, once that is known.
    pub category: Option<ToolCategory>,
}

/// An outward act of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectState {
    /// Its idempotency key.
    pub key: EffectKey,
    /// Which tool of the world.
    pub tool: ToolName,
    /// Its arguments.
    pub arguments: Arguments,
    /// What became of it, once that is known.
    pub outcome: Option<Outcome>,
    /// Where in the log that stands.
    pub settled: Option<Seq>,
    /// What the world printed meanwhile.
    pub captured: String,
}

impl Turn {
    pub(super) fn new(started_at: Timestamp, trigger: Heard) -> Self {
        Self {
            started_at,
            trigger,
            recollected: None,
            sources: Sources::default(),
            steps: Vec::new(),
            steps_this_tick: 0,
            calls_this_tick: 0,
            ticks: 0,
            refusals: 0,
            narrowed: None,
            narrowings: 0,
            ticking: false,
            resume_at: None,
            last_stop: None,
        }
    }

    pub(super) fn begin_tick(&mut self) {
        self.ticking = true;
        self.steps_this_tick = 0;
        self.calls_this_tick = 0;
        self.ticks = self.ticks.saturating_add(1);
        self.resume_at = None;
        // What could not be looked up is looked up again.
        self.recollected
            .take_if(|recollected| recollected.failure.is_some());
    }

    pub(super) fn recollect(&mut self, recollected: Recollected) {
        self.sources.add_all(recollected.sources());
        self.recollected = Some(recollected);
    }

    pub(super) fn narrow(&mut self, narrowed: Narrowed) {
        self.narrowed = Some(narrowed);
        self.narrowings = self.narrowings.saturating_add(1);
    }

    /// The model was left alone. A tick that came to nothing because of that is none.
    pub(super) fn left_alone(&mut self) {
        if self.steps_this_tick == 0 {
            self.ticks = self.ticks.saturating_sub(1);
        }
    }

    pub(super) fn suspend(&mut self, ended: &TickEnded) {
        self.ticking = false;
        self.resume_at = ended.resume_at;
        self.last_stop = Some(ended.reason);
    }

    pub(super) fn resume_now(&mut self) {
        self.ticks = 0;
        self.resume_at = self.resume_at.map(|_| Timestamp::EPOCH);
    }

    pub(super) fn replied(&mut self, replied: Replied) {
        let Replied {
            reply,
            calls,
            tokens,
            ..
        } = replied;
        // Where the calls stood in the text, they say all that the text said.
        self.narrowings = 0;
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
            tokens,
        });
    }

    pub(super) fn misread(&mut self, misread: Misread) {
        if let Some(step) = self.steps.last_mut() {
            step.misread = Some(misread.note);
            step.tokens = step.tokens.saturating_add(misread.tokens);
        }
    }

    pub(super) fn answered(&mut self, answered: ToolAnswered) {
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        step.tokens = step.tokens.saturating_add(answered.tokens);
        self.sources.add_all(answered.sources);
        if let Some(call) = step.calls.iter_mut().find(|c| c.call.id == answered.call) {
            call.result = Some(answered.content);
            call.verdict = Some(answered.verdict);
            call.category = answered.category;
            if answered.verdict != Verdict::Skipped {
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
        let Some(step) = self.steps.last_mut() else {
            return;
        };
        let Some(call) = step.calls.iter_mut().find(|c| c.has_effect(&settled.key)) else {
            return;
        };
        step.tokens = step.tokens.saturating_add(settled.tokens);
        call.result = Some(settled.content);
        call.verdict = Some(match settled.outcome {
            Outcome::Done(_) => Verdict::Success,
            Outcome::Rejected(_) | Outcome::Unknown => Verdict::Failure,
        });
        if let Some(effect) = &mut call.effect {
            effect.outcome = Some(settled.outcome);
            effect.settled = Some(seq);
        }
        self.calls_this_tick = self.calls_this_tick.saturating_add(1);
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
            let starts = words.char_indices().map(|(start, _)| start);
            let fits = starts.take_while(|start| *start <= room).last();
            let fits = fits.unwrap_or_default();
            effect
                .captured
                .push_str(words.get(..fits).unwrap_or_default());
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
        self.steps.iter().fold(self.trigger.tokens, |sum, step| {
            sum.saturating_add(step.tokens)
        })
    }
}

impl CallState {
    fn new(call: Call) -> Self {
        Self {
            call,
            effect: None,
            result: None,
            verdict: None,
            category: None,
        }
    }

    fn has_effect(&self, key: &EffectKey) -> bool {
        self.effect
            .as_ref()
            .is_some_and(|effect| effect.key == *key)
    }

    /// The id that ties the result to the call.
    #[must_use]
    pub fn id(&self) -> &CallId {
        &self.call.id
    }
}
