//! What a decision leads to.

use dormouse_contracts::{CallId, Effect, Query};

use crate::{builtin::MemoryQuery, event::Event, gate::Skip, prompt::Prompt, work::RecallQuery};

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
    /// Search the memory for a turn, before the model is asked.
    Recall(Box<RecallQuery>),
    /// Ask the memory for a call.
    AskMemory(CallId, Box<MemoryQuery>),
}
