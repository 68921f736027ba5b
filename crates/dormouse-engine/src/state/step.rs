//! One step of a turn: a reply of the model, its calls, and their results.

use dormouse_contracts::{
    Arguments, Audience, CallId, EffectKey, Outcome, Seq, Sources, ToolCategory, ToolName, Trust,
};
use serde::{Deserialize, Serialize};

use super::derived::Derived;
use crate::{
    builtin::{OwnWords, ShownParts},
    event::{ActSpeech, Call, DelayCause, Omitted, SpokenWords, Verdict},
};

/// One reply of the model and its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The text of the reply.
    pub content: String,
    /// The calls of the reply, in order.
    pub calls: Vec<CallState>,
    /// How many further calls of the reply were left out.
    pub left_out: u32,
    /// What was wrong with the reply, if it could not be read.
    pub parse_failed: Option<String>,
    /// Who took the step, and what was possible in it.
    pub kind: StepKind,
    /// How many tokens the whole step takes in a prompt.
    pub tokens: u32,
    /// The trust of its words, which is that of the texts that they were made from.
    pub trust: Trust,
    /// The lowest trust of everything that the prompt of this step showed.
    pub least_shown: Trust,
    /// Who perceived everything that the prompt showed, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Who may hear its words, other than the assistant. If absent, anybody may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Audience>,
    /// What its prompt left out for lack of room.
    #[serde(default, skip_serializing_if = "Omitted::is_nothing")]
    pub omitted: Omitted,
    /// The sources of its words, other than the trigger of the turn, if they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Sources>,
    /// Its words in the form in which later replies are compared with them.
    #[serde(skip)]
    own_words: Derived<OwnWords>,
}

/// Who took a step, and what was possible in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// The model, with every tool.
    Free,
    /// The model in its last step, in which it can only speak.
    Last,
    /// The engine, which speaks in place of an answer.
    Apology,
    /// The engine, which asks the sender to wait.
    Notice(DelayCause),
}

/// A call and how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallState {
    /// The call.
    pub call: Call,
    /// The act in the world that this call makes, if any.
    pub effect: Option<EffectState>,
    /// Its result as the model sees it, once it has one.
    pub result: Option<String>,
    /// How it ended, if it has.
    pub verdict: Option<Verdict>,
    /// The tool's category, once known.
    pub category: Option<ToolCategory>,
    /// The lowest trust of the remembered lines in its result. If its result has no such lines: the trust that the tool
    /// declares for its results.
    pub trust: Option<Trust>,
    /// How many tokens its result takes.
    #[serde(default)]
    pub tokens: u32,
    /// What its result shows. Every later step of the turn reads it.
    #[serde(skip)]
    shown: Derived<ShownParts>,
}

/// An outward act of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectState {
    /// Its idempotency key.
    pub key: EffectKey,
    /// The tool of the world.
    pub tool: ToolName,
    /// Its arguments.
    pub arguments: Arguments,
    /// How the act speaks.
    #[serde(default)]
    pub speech: ActSpeech,
    /// Who may learn what it says, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Who may hear its words, other than the assistant; anybody, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Audience>,
    /// Its outcome, once known.
    pub outcome: Option<Outcome>,
    /// The sequence number of the event that recorded the outcome.
    pub settled: Option<Seq>,
    /// What the world printed while the act was under way.
    pub captured: String,
}

impl EffectState {
    /// The words that it says, if any.
    pub(crate) fn said(&self) -> Option<SpokenWords<'_>> {
        self.speech.said(&self.arguments)
    }
}

impl Step {
    pub(super) fn new(kind: StepKind, calls: &[Call], tokens: u32) -> Self {
        Self {
            content: String::new(),
            calls: calls.iter().cloned().map(CallState::new).collect(),
            left_out: 0,
            parse_failed: None,
            kind,
            tokens,
            trust: Trust::FULL,
            least_shown: Trust::FULL,
            audience: None,
            within: None,
            omitted: Omitted::default(),
            sources: None,
            own_words: Derived::default(),
        }
    }

    /// The assistant's words in it. `make` is called once, and may read only the reply and the trigger of its turn.
    pub(crate) fn own_words(&self, make: impl FnOnce() -> OwnWords) -> &OwnWords {
        self.own_words.get_or_make(make)
    }

    /// Whether it asks the sender to wait.
    pub(crate) fn is_notice(&self) -> bool {
        matches!(self.kind, StepKind::Notice(_))
    }

    /// Whether the engine took it, and not the model.
    pub(crate) fn is_of_the_engine(&self) -> bool {
        matches!(self.kind, StepKind::Notice(_) | StepKind::Apology)
    }

    /// Whether only speech is possible in it.
    pub(crate) fn only_speaks(&self) -> bool {
        matches!(self.kind, StepKind::Last | StepKind::Apology)
    }

    /// The first call without a result and the call before it, if the first one continues an answer.
    fn open_part(&self) -> Option<(&CallState, &CallState)> {
        let open = self.calls.iter().position(|call| call.result.is_none())?;
        let (open, before) = (self.calls.get(open)?, self.calls.get(open.checked_sub(1)?)?);
        open.call.continues.then_some((open, before))
    }

    /// The index of the call with which an answer begins. `None` unless the next call continues that answer, and the
    /// part before it was made.
    pub(crate) fn part_of(&self) -> Option<usize> {
        let (open, before) = self.open_part()?;
        let made = before.verdict == Some(Verdict::Success);
        let parts = self.calls.iter().take_while(|call| call.id() != open.id());
        let first = parts.enumerate().filter(|(_, call)| !call.call.continues);
        first.map(|(place, _)| place).last().filter(|_| made)
    }

    /// Whether only the beginning of an answer was said in it.
    pub(crate) fn has_hole(&self) -> bool {
        let mut has_begun = false;
        self.calls.iter().any(|call| {
            if !call.call.continues {
                has_begun = call.may_be_made();
            }
            let is_lost = call.verdict.is_some() && !call.may_be_made();
            has_begun && call.call.continues && is_lost
        })
    }

    /// Whether the next call continues a call that failed. Then the next call must not be made either.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.open_part().is_some() && self.part_of().is_none()
    }
}

impl CallState {
    pub(super) fn new(call: Call) -> Self {
        Self {
            call,
            effect: None,
            result: None,
            verdict: None,
            category: None,
            trust: None,
            tokens: 0,
            shown: Derived::default(),
        }
    }

    pub(super) fn set_result(&mut self, result: String) {
        self.result = Some(result);
        self.shown = Derived::default();
    }

    /// What its result shows. `make` is called once for each result, and may read only this call and the trigger of its
    /// turn.
    pub(crate) fn shown(&self, make: impl FnOnce() -> ShownParts) -> &ShownParts {
        self.shown.get_or_make(make)
    }

    pub(super) fn has_effect(&self, key: &EffectKey) -> bool {
        self.effect
            .as_ref()
            .is_some_and(|effect| effect.key == *key)
    }

    /// Whether the act happened or may have happened.
    pub(crate) fn may_be_made(&self) -> bool {
        self.verdict == Some(Verdict::Success) || self.is_unknown()
    }

    /// Whether the world could not say if the act happened.
    pub(crate) fn is_unknown(&self) -> bool {
        let effect = self.effect.as_ref();
        effect.is_some_and(|effect| effect.outcome == Some(Outcome::Unknown))
    }

    /// The id that connects the result to the call.
    #[must_use]
    pub fn id(&self) -> &CallId {
        &self.call.id
    }
}
