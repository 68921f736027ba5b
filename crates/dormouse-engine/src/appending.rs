//! Appending what is decided by the state of an assistant, while others append to its log, too.

use std::borrow::Borrow;

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, Clock, Seq,
};

use crate::{event::Event, state::State};

/// How often something is decided in all while others keep appending.
pub(crate) const ATTEMPTS: u32 = 16;

/// What was decided, and is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedEvents {
    /// The events in their order; empty if nothing was decided.
    pub events: Vec<Event>,
    /// The last of them, or the end of the log at which nothing was decided.
    pub through: Seq,
}

impl DecidedEvents {
    /// The last event that was appended; `None` if nothing was decided.
    #[must_use]
    pub fn last(&self) -> Option<Seq> {
        (!self.events.is_empty()).then_some(self.through)
    }
}

/// Decides events by the state at the end of an assistant's log, and appends all of them or none. If somebody else appended
/// meanwhile, such as the assistant itself, they are decided again. Without events nothing is written.
///
/// `look` returns the state: [`restore`](crate::restore) folds it from a log, and [`Handle::inspect`](crate::Handle::inspect) asks an assistant that
/// is awake.
///
/// # Errors
///
/// Those of `look` and `decide`, and the one of the log if it fails for another reason, or if others appended between look and
/// append 16 times in a row. Nothing was written.
pub async fn append_decided<L, F, S, E>(
    log: &L,
    key: &AssistantId,
    clock: &dyn Clock,
    mut look: impl FnMut() -> F,
    mut decide: impl FnMut(&State) -> Result<Vec<Event>, E>,
) -> Result<DecidedEvents, E>
where
    L: Append + ?Sized,
    F: Future<Output = Result<S, E>>,
    S: Borrow<State>,
    E: From<AppendError> + From<serde_json::Error>,
{
    let mut attempts = 1;
    loop {
        // A state is large. It must not be part of the future that appends.
        let (events, expected) = {
            let state = Box::new(Box::pin(look()).await?);
            let state: &State = (*state).borrow();
            (decide(state)?, state.seq)
        };
        if events.is_empty() {
            return Ok(DecidedEvents {
                events,
                through: expected,
            });
        }
        let now = clock.now();
        let encoded: Result<_, _> = events.iter().map(|event| event.encode(now)).collect();
        let request = AppendRequest {
            assistant: key.clone(),
            expected,
            events: encoded?,
        };
        match log.append(request).await {
            Ok(through) => return Ok(DecidedEvents { events, through }),
            Err(error) if is_conflict(&error) && attempts < ATTEMPTS => attempts += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether somebody else appended first.
pub(crate) fn is_conflict(error: &AppendError) -> bool {
    matches!(error.kind(), AppendErrorKind::Conflict { .. })
}
