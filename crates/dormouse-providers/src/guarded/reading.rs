//! A guarded reply that is being read.

use std::time::Duration;

use dormouse_contracts::{
    Allowance, BoxStream, ChatDelta, ChatRequest, ModelError, ModelErrorKind, RateLimits, Usage,
};
use dormouse_resilience::{CallAdmission, DeadlineExceeded, Health, Quota, ReportedLimits};
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

use super::{GuardedModel, health_of};
use crate::RequestCount;

/// More tokens than any prompt or reply has of which nothing else is known.
const MOST_TOKENS: u32 = 1_000_000;
/// No prompt has more than so many times the tokens that were counted, as [`Calibration`](crate::Calibration) has it; a few
/// a provider may have added itself.
const ABSURD: u32 = 16;
const ADDED: u32 = 64;

/// A longer deadline is none: a moment that far away is not known to every clock.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// A guarded reply that is being read. Dropped before it is finished it tells the guard nothing.
pub(super) struct Reading<'a> {
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

impl<'a> Reading<'a> {
    pub(super) fn new(
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

    pub(super) async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        // Once its end has been told, nothing that follows is about the service.
        self.admission.as_ref()?;
        let delta = match timeout_at(self.until, self.deltas.next()).await {
            Ok(delta) => delta,
            Err(_) => Some(Err(self.too_late())),
        };
        match &delta {
            Some(Ok(delta)) => self.take(delta),
            Some(Err(error)) => self.end(error.kind()),
            None => self.over(),
        }
        delta
    }

    fn too_late(&self) -> ModelError {
        let (provider, _) = self.guarded.model.identity();
        let limit = self.guarded.deadline;
        let source = Box::new(DeadlineExceeded { limit });
        ModelError::new(provider.clone(), ModelErrorKind::TimedOut, Some(source))
    }

    fn take(&mut self, delta: &ChatDelta) {
        match delta {
            ChatDelta::Info(info) => {
                if let Some(admission) = &self.admission {
                    admission.observe(observed(&info.rate_limits));
                }
                return;
            }
            ChatDelta::Usage(usage) => self.usage = Some(*usage),
            ChatDelta::Finished(_) => self.finished = true,
            _ => {}
        }
        self.begun = true;
    }

    /// The stream ended by itself: well, if the model had said that it was finished.
    fn over(&mut self) {
        if self.finished {
            self.record(Health::Well);
        } else {
            self.end(ModelErrorKind::Interrupted);
        }
    }

    fn end(&mut self, kind: ModelErrorKind) {
        if let (ModelErrorKind::RateLimited(Some(pause)), Some(admission)) = (kind, &self.admission)
        {
            admission.guard().pause(pause);
        }
        // Nobody knows what was done meanwhile at the other end, and is charged for.
        self.begun |= kind == ModelErrorKind::TimedOut;
        // A reply that was finished is one, whatever became of the connection.
        let health = if self.finished {
            Health::Well
        } else {
            health_of(kind)
        };
        self.record(health);
    }

    /// How many tokens count towards the limit. Nobody is silenced for a day by a provider that has miscounted.
    fn believed(&self, usage: &Usage) -> u32 {
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
                admission.settle(self.believed(usage));
            }
            admission.record(health);
        }
    }
}

/// A reply that was finished is one, even if nobody waits for what comes behind it. One that was broken off has its price,
/// too.
impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // So it is with one that was given up before its end.
        self.begun |= self.admission.is_some();
        if self.finished {
            self.record(Health::Well);
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

/// What the provider told, in the words of the limiter.
fn observed(limits: &RateLimits) -> ReportedLimits {
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
