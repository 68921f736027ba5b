//! A model and what stands between it and its callers.

mod accounts;
mod reading;

use std::{fmt, sync::Arc, time::Duration};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelName,
    ProviderId, ServiceName,
};
use dormouse_resilience::{CircuitOpen, Guard, Health, NotAttempted, RateLimited};
use futures_util::{StreamExt, stream};

pub use self::accounts::{Accounts, Spending};
use self::reading::Reading;
use crate::CalibratedCounter;

/// A chat model whose calls go through a [`Guard`]: a rate limit, a bulkhead, a circuit breaker and a deadline, whichever the
/// guard has.
///
/// A call is let through before its stream is opened, and the guard is told how it ended when the stream has ended:
/// well, or as the error's two answers say ([`ModelErrorKind::is_service_ill`]; `Auth` opens the breaker at once until
/// the configuration changes). A stream that is dropped before its end tells nothing. What the provider says of
/// its limits is taken in, and a pause it asks for holds for every caller.
///
/// The deadline bounds the whole stream, counted from when the call was let through, so that a service that hangs is
/// counted as ill; put a later one outside, if any. A call that is not let through fails as
/// [`ModelErrorKind::LeftAlone`], without a request. No retry happens inside: retry around it.
#[derive(Clone)]
pub struct GuardedModel {
    model: Arc<dyn ChatModel>,
    guard: Guard,
    service: ServiceName,
    deadline: Duration,
    accounts: Option<Accounts>,
    counter: Option<Arc<CalibratedCounter>>,
}

impl GuardedModel {
    /// How long a reply may take where [`GuardedModel::within`] sets nothing else.
    pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(120);

    /// The model behind the guard, with [`GuardedModel::DEFAULT_DEADLINE`].
    #[must_use]
    pub fn new(model: Arc<dyn ChatModel>, guard: Guard) -> Self {
        let named = ServiceName::try_new(guard.name());
        Self {
            service: named.unwrap_or_else(|_| model.identity().0.into()),
            model,
            guard,
            deadline: Self::DEFAULT_DEADLINE,
            accounts: None,
            counter: None,
        }
    }

    /// Bounds every reply by this instead.
    #[must_use]
    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Enters every reply into these accounts. One that was broken off, did not come in time, or was not waited for, is entered
    /// without its usage: it may have been charged for.
    #[must_use]
    pub fn accounting(mut self, accounts: Accounts) -> Self {
        self.accounts = Some(accounts);
        self
    }

    /// Estimates by this counter what a request takes of a limit on tokens: its prompt, and the reply where it is bounded.
    /// The counter learns from the usage that comes back. Without one no request takes any, until the provider says so.
    #[must_use]
    pub fn counting(mut self, counter: Arc<CalibratedCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Its guard.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    async fn open<'a>(&'a self, request: &'a ChatRequest) -> Result<Reading<'a>, ModelError> {
        let counter = self.counter.as_ref();
        let count = counter.map(|counter| counter.count_request(request));
        let prompt = counter.zip(count.as_ref());
        let prompt = prompt.map_or(0, |(counter, count)| counter.corrected(count));
        let reply = count.as_ref().and(request.max_tokens).unwrap_or(0);
        let admission = self.guard.admit(prompt.saturating_add(reply)).await;
        let admission = admission.map_err(|refusal| self.left_alone(refusal))?;
        Ok(Reading::new(self, request, admission, count))
    }

    fn left_alone(&self, refusal: NotAttempted) -> ModelError {
        let (provider, _) = self.model.identity();
        ModelError::new(provider.clone(), kind_of(refusal), Some(Box::new(refusal)))
    }
}

/// What a refusal is to a caller.
fn kind_of(refusal: NotAttempted) -> ModelErrorKind {
    match refusal {
        // Nothing but another configuration helps: it is as the provider said when it was asked last.
        NotAttempted::Open(CircuitOpen {
            reason: dormouse_resilience::OpenReason::Refused,
            ..
        }) => ModelErrorKind::Auth,
        NotAttempted::Open(open) => ModelErrorKind::LeftAlone(open.retry_in),
        NotAttempted::RateLimited(RateLimited::Later { retry_in, .. }) => {
            ModelErrorKind::LeftAlone(Some(retry_in))
        }
        // It alone is more than the limit lets through at once: less of it may pass.
        NotAttempted::RateLimited(RateLimited::TooLarge { .. }) => ModelErrorKind::ContextExceeded,
        _ => ModelErrorKind::LeftAlone(None),
    }
}

/// What an error tells of the service.
fn health_of(kind: ModelErrorKind) -> Health {
    match kind {
        ModelErrorKind::Auth => Health::Refused,
        kind if kind.is_service_ill() => Health::Ill,
        _ => Health::Irrelevant,
    }
}

impl ChatModel for GuardedModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let reading = stream::once(self.open(request));
        let deltas = reading.flat_map(|reading| match reading {
            Ok(reading) => stream::unfold(reading, |mut reading| async move {
                reading.next().await.map(|delta| (delta, reading))
            })
            .left_stream(),
            Err(error) => stream::iter([Err(error)]).right_stream(),
        });
        let service = &self.service;
        Box::pin(deltas.map(|delta| delta.map_err(|error| error.of_service(service.clone()))))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }

    /// One, by the name of its guard.
    fn services(&self) -> Vec<ServiceName> {
        vec![self.service.clone()]
    }
}

impl fmt::Debug for GuardedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedModel")
            .field("model", &self.model.identity())
            .field("guard", &self.guard)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
