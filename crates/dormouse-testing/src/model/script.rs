//! The script of a model, and its progress.

use std::{collections::VecDeque, fmt, sync::Arc};

use dormouse_contracts::ChatRequest;

use super::{pieces, strict, turn::ScriptedTurn, violation::Violation};

/// The remaining turns of a model, and the requests it received.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) turns: VecDeque<Arc<ScriptedTurn>>,
    pub(super) for_ever: Option<Arc<ScriptedTurn>>,
    length: usize,
    pub(super) requests: Vec<ChatRequest>,
    pub(super) violations: Vec<Violation>,
    pub(super) unscripted: usize,
    last_call: u64,
}

/// Why a scripted model rejected a request; the source of its
/// [`ModelError`](dormouse_contracts::ModelError).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptError {
    /// The script has no more turns.
    Exhausted {
        /// How many turns the script had.
        turns: usize,
    },
    /// A strict provider would reject the request.
    Violated(Violation),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted { turns } => {
                write!(
                    f,
                    "the script had {turns} turns, and all of them are used up"
                )
            }
            Self::Violated(violation) => violation.fmt(f),
        }
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    pub(super) fn new(turns: VecDeque<Arc<ScriptedTurn>>) -> Self {
        Self {
            length: turns.len(),
            turns,
            for_ever: None,
            requests: Vec::new(),
            violations: Vec::new(),
            unscripted: 0,
            last_call: 0,
        }
    }

    pub(super) fn push(&mut self, turn: Arc<ScriptedTurn>) {
        self.length = self.length.saturating_add(1);
        self.turns.push_back(turn);
    }

    /// Takes the turn for this request. The request is recorded even if it is rejected.
    pub(super) fn take(&mut self, request: &ChatRequest) -> Result<Arc<ScriptedTurn>, ScriptError> {
        self.requests.push(request.clone());
        let violations = strict::violations(request);
        if let Some(first) = violations.first().cloned() {
            self.violations.extend(violations);
            return Err(ScriptError::Violated(first));
        }
        let turn = self.turns.pop_front().or_else(|| self.for_ever.clone());
        turn.ok_or_else(|| {
            self.unscripted = self.unscripted.saturating_add(1);
            ScriptError::Exhausted { turns: self.length }
        })
    }

    /// Reserves `count` numbers for calls and returns the first one. A model that continues a conversation of another
    /// model starts above the call numbers of that conversation.
    pub(super) fn reserve(&mut self, count: usize, request: &ChatRequest) -> u64 {
        let last = self.last_call.max(pieces::highest_call(request));
        self.last_call = last.saturating_add(count as u64);
        last.saturating_add(1)
    }
}
