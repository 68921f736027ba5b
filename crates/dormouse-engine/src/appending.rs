//! Decides events from the state of an assistant and appends them, although others may append to its log meanwhile.

use std::borrow::Borrow;

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, Clock, Seq,
};

use crate::{event::Event, state::State};

/// How many times events are decided, at most, if others append each time before they do.
pub(crate) const ATTEMPTS: u32 = 16;

/// How often a request is sent again whose outcome is unknown. A log that answers so has tried for long itself.
const UNKNOWN_ATTEMPTS: u32 = 3;

/// Appends a request, and sends it again if it is not known whether it was written. No log writes it twice.
///
/// # Errors
///
/// The one of the log, which is [`AppendErrorKind::Unknown`] if that did not help.
pub async fn append_until_known<L: Append + ?Sized>(
    log: &L,
    request: AppendRequest,
) -> Result<Seq, AppendError> {
    let mut answer = log.append(request.clone()).await;
    for _ in 0..UNKNOWN_ATTEMPTS {
        match answer {
            Err(error) if error.kind() == AppendErrorKind::Unknown => {
                answer = log.append(request.clone()).await;
            }
            known => return known,
        }
    }
    answer
}

/// What was decided, and is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedEvents {
    /// The events in their order; empty if nothing was decided.
    pub events: Vec<Event>,
    /// The last of these events; if there are none, the last event of the log at that time.
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
/// meanwhile, such as the assistant itself, the events are decided again. Without events nothing is written.
///
/// `look` returns the state: [`restore`](crate::restore) folds it from a log, and [`Handle::inspect`](crate::Handle::inspect) asks an assistant that
/// is awake.
///
/// # Errors
///
/// The errors of `look` and `decide`. The error of the log, if the append fails for another reason than an append by
/// somebody else, or if somebody else appended between look and append 16 times in a row. Nothing was written, except
/// perhaps if the log's error is [`AppendErrorKind::Unknown`].
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
        match append_until_known(log, request).await {
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
