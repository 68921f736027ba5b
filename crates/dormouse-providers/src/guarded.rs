//! A model behind a guard.

mod accounts;

use std::{fmt, sync::Arc, time::Duration};

use dormouse_contracts::{
    Allowance, BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelName,
    ProviderId, RateLimits, ServiceName, Usage,
};
use dormouse_resilience::{
    CallAdmission, CircuitOpen, DeadlineExceeded, Guard, Health, NotAttempted, Quota, RateLimited,
    ReportedLimits,
};
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

pub use self::accounts::{Accounts, Spending};
use crate::{CalibratedCounter, RequestCount};

/// A chat model behind a [`Guard`]: a circuit breaker and, if the guard has them, a rate limit and a bulkhead; and a
/// deadline.
///
/// A call is admitted before its stream opens. At the end of the stream its result is recorded: success, or as
/// [`ModelErrorKind::is_service_unhealthy`] classifies the error. `Auth` opens the breaker at once until the configuration
/// changes. A stream that is dropped early records nothing. The guard learns from the provider's rate limits, and a
/// requested pause applies to every caller.
///
/// The deadline bounds the whole stream from its admission, so that a service that hangs counts as failed; an outer deadline should
/// be later. A call that is not admitted fails with [`ModelErrorKind::NotAttempted`], without a request. There are no
/// retries inside.
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
    /// The default deadline of a reply.
    pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(120);

    /// Puts the model behind the guard, with [`GuardedModel::DEFAULT_DEADLINE`].
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

    /// Sets the deadline of every reply.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Enters every reply into these accounts. An interrupted, late or abandoned reply is entered without its usage: it may
    /// have been charged.
    #[must_use]
    pub fn with_accounts(mut self, accounts: Accounts) -> Self {
        self.accounts = Some(accounts);
        self
    }

    /// Estimates the tokens of a request with this counter, for a limit on tokens: those of the prompt, and of the reply if it
    /// is bounded. The counter learns from the reported usage. Without a counter a request is admitted with no tokens.
    #[must_use]
    pub fn with_counter(mut self, counter: Arc<CalibratedCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Returns the guard.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    async fn open<'a>(&'a self, request: &'a ChatRequest) -> Result<GuardedReply<'a>, ModelError> {
        let counter = self.counter.as_ref();
        let count = counter.map(|counter| counter.count_request(request));
        let prompt = counter.zip(count.as_ref());
        let prompt = prompt.map_or(0, |(counter, count)| counter.corrected(count));
        let reply = count.as_ref().and(request.max_tokens).unwrap_or(0);
        let admission = self.guard.admit(prompt.saturating_add(reply)).await;
        let admission = admission.map_err(|refusal| self.not_attempted(refusal))?;
        Ok(GuardedReply::new(self, request, admission, count))
    }

    fn not_attempted(&self, refusal: NotAttempted) -> ModelError {
        let (provider, _) = self.model.identity();
        ModelError::new(provider.clone(), kind_of(refusal), Some(Box::new(refusal)))
    }
}

/// Converts a refused admission to an error kind.
fn kind_of(refusal: NotAttempted) -> ModelErrorKind {
    match refusal {
        // The credentials were rejected, so only another configuration helps: the kind is that of the last call's
        // error.
        NotAttempted::Open(CircuitOpen {
            reason: dormouse_resilience::OpenReason::Refused,
            ..
        }) => ModelErrorKind::Auth,
        NotAttempted::Open(open) => ModelErrorKind::NotAttempted(open.retry_in),
        NotAttempted::RateLimited(RateLimited::Later { retry_in, .. }) => {
            ModelErrorKind::NotAttempted(Some(retry_in))
        }
        // The request exceeds the whole limit, so waiting does not help. A smaller request may pass.
        NotAttempted::RateLimited(RateLimited::TooLarge { .. }) => ModelErrorKind::ContextExceeded,
        _ => ModelErrorKind::NotAttempted(None),
    }
}

/// Returns what an error says about the service's health.
fn health_of(kind: ModelErrorKind) -> Health {
    match kind {
        ModelErrorKind::Auth => Health::Refused,
        kind if kind.is_service_unhealthy() => Health::Unhealthy,
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

    /// Returns one service, named after the guard.
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

/// A plausible maximum of tokens for a prompt or reply without other bounds.
const MOST_TOKENS: u32 = 1_000_000;
/// A reported prompt is plausible up to this multiple of the count, as in [`Calibration`](crate::Calibration), plus a few
/// tokens that the provider adds.
const ABSURD: u32 = 16;
const ADDED: u32 = 64;

/// Longer deadlines are shortened to this: some clocks cannot represent later moments.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// A guarded reply that is being read. Dropping it before its end records nothing.
struct GuardedReply<'a> {
    guarded: &'a GuardedModel,
    request: &'a ChatRequest,
    deltas: BoxStream<'a, Result<ChatDelta, ModelError>>,
    admission: Option<CallAdmission>,
    until: Instant,
    begun: bool,
    finished: bool,
    usage: Option<Usage>,
    count: Option<RequestCount>,
}

impl<'a> GuardedReply<'a> {
    fn new(
        guarded: &'a GuardedModel,
        request: &'a ChatRequest,
        admission: CallAdmission,
        count: Option<RequestCount>,
    ) -> Self {
        Self {
            guarded,
            request,
            deltas: guarded.model.stream(request),
            admission: Some(admission),
            until: Instant::now() + guarded.deadline.min(LONGEST),
            begun: false,
            finished: false,
            usage: None,
            count,
        }
    }

    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        // The result is recorded already; later items say nothing about the service.
        self.admission.as_ref()?;
        let delta = match timeout_at(self.until, self.deltas.next()).await {
            Ok(delta) => delta,
            Err(_) => Some(Err(self.timed_out())),
        };
        match &delta {
            Some(Ok(delta)) => self.take(delta),
            Some(Err(error)) => self.end(error.kind()),
            None => self.finish(),
        }
        delta
    }

    fn timed_out(&self) -> ModelError {
        let (provider, _) = self.guarded.model.identity();
        let limit = self.guarded.deadline;
        let source = Box::new(DeadlineExceeded { limit });
        ModelError::new(provider.clone(), ModelErrorKind::TimedOut, Some(source))
    }

    fn take(&mut self, delta: &ChatDelta) {
        match delta {
            ChatDelta::Info(info) => {
                if let Some(admission) = &self.admission {
                    admission.observe(reported(&info.rate_limits));
                }
                return;
            }
            ChatDelta::Usage(usage) => self.usage = Some(*usage),
            ChatDelta::Finished(_) => self.finished = true,
            _ => {}
        }
        self.begun = true;
    }

    /// Ends the stream: a success if the model finished, an interruption otherwise.
    fn finish(&mut self) {
        if self.finished {
            self.record(Health::Healthy);
        } else {
            self.end(ModelErrorKind::Interrupted);
        }
    }

    fn end(&mut self, kind: ModelErrorKind) {
        if let (ModelErrorKind::RateLimited(Some(pause)), Some(admission)) = (kind, &self.admission)
        {
            admission.guard().pause(pause);
        }
        // The provider may have worked on the request, and may charge for it.
        self.begun |= kind == ModelErrorKind::TimedOut;
        // A finished reply is complete, even if the connection fails afterwards.
        let health = if self.finished {
            Health::Healthy
        } else {
            health_of(kind)
        };
        self.record(health);
    }

    /// Returns the tokens that count towards the limit, capped: a wrong count must not block callers for a day.
    fn plausible_tokens(&self, usage: &Usage) -> u32 {
        let prompt = self.count.map_or(MOST_TOKENS, |count| {
            count.total().saturating_add(ADDED).saturating_mul(ABSURD)
        });
        let reply = self.request.max_tokens.unwrap_or(MOST_TOKENS);
        let prompt = usage.prompt_tokens.min(prompt);
        prompt.saturating_add(usage.completion_tokens.min(reply))
    }

    fn record(&mut self, health: Health) {
        if let Some(mut admission) = self.admission.take() {
            if let Some(usage) = &self.usage {
                admission.settle(self.plausible_tokens(usage));
            }
            admission.record(health);
        }
    }
}

/// A finished reply counts as complete even if the caller drops the stream before the trailer. An interrupted one enters
/// the accounts too.
impl Drop for GuardedReply<'_> {
    fn drop(&mut self) {
        // An abandoned reply may be charged as well.
        self.begun |= self.admission.is_some();
        if self.finished {
            self.record(Health::Healthy);
        }
        let counter = self.guarded.counter.as_ref();
        if let Some(((counter, count), usage)) = counter.zip(self.count).zip(self.usage) {
            counter.observe(&count, &usage);
        }
        if let Some(accounts) = self.guarded.accounts.as_ref().filter(|_| self.begun) {
            let identity = self.guarded.model.identity();
            accounts.record(identity, self.request.purpose, self.usage);
        }
    }
}

/// Converts the provider's limits for the guard.
fn reported(limits: &RateLimits) -> ReportedLimits {
    let quota = |allowance: Allowance| Quota {
        limit: allowance.limit,
        remaining: allowance.remaining,
        resets_in: allowance.resets_in,
    };
    ReportedLimits {
        requests: limits.requests.map(quota),
        units: limits.tokens.map(quota),
    }
}

#[cfg(test)]
mod tests;
