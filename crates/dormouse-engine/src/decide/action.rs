//! What a decision leads to.

use dormouse_contracts::{CallId, ChatRequest, Effect, Query};

use crate::{
    builtin::MemoryQuery, compacting::SummaryAsk, event::Event, gate::Skip, prompt::Prompt,
    work::RecallQuery,
};

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing, and why. Within a tick there is always something to do.
    Rest(Skip),
    /// This.
    Act(Action),
}

/// Something to do.
#[derive(Debug)]
pub(crate) enum Action {
    /// Events; no call to the outside is needed.
    Decide(Decided),
    /// A call to the outside.
    Call(OutsideCall),
}

/// Decided events, in order: at least one, so that each decision changes the state.
#[derive(Debug)]
pub(crate) struct Decided(Vec<Event>);

impl Decided {
    /// Some events, and one after them.
    pub(super) fn after(mut before: Vec<Event>, last: Event) -> Self {
        before.push(last);
        Self(before)
    }

    /// The last event.
    pub(super) fn last(&self) -> Option<&Event> {
        self.0.last()
    }

    /// The same events, with one more before the last.
    pub(super) fn before_last(mut self, event: Event) -> Self {
        self.0.insert(self.0.len().saturating_sub(1), event);
        self
    }

    /// Some events, and more after them.
    pub(super) fn all(mut before: Vec<Event>, then: Self) -> Self {
        before.extend(then.0);
        Self(before)
    }

    pub(crate) fn into_events(self) -> Vec<Event> {
        self.0
    }
}

impl From<Event> for Decided {
    fn from(event: Event) -> Self {
        Self::after(Vec::new(), event)
    }
}

impl From<Event> for Action {
    fn from(event: Event) -> Self {
        Self::Decide(event.into())
    }
}

impl From<Decided> for Action {
    fn from(decided: Decided) -> Self {
        Self::Decide(decided)
    }
}

/// A call to the model, the world or the memory. One at a time is under way.
#[derive(Debug)]
pub(crate) enum OutsideCall {
    /// Ask the model.
    Ask(Box<Prompt>),
    /// Carry out an effect that was just intended.
    Perform(Effect),
    /// Find out what became of an effect that was left behind, and carry it out only if that is safe.
    AskAfter(Effect),
    /// Look at the world.
    Observe(CallId, Query),
    /// Ask a model how complex a task is.
    Assess(Box<ChatRequest>),
    /// Search the memory for a turn, before the model is asked.
    Recall(Box<RecallQuery>),
    /// Look for facts in what was heard, before the history is shown shorter.
    ExtractFacts,
    /// Ask the model for a summary of turns that are left out.
    Summarize(Box<SummaryAsk>),
    /// Ask the memory for a call.
    AskMemory(CallId, Box<MemoryQuery>),
}
