//! A circuit breaker: a service that keeps failing is left alone for a while.

mod circuit;
mod health;
mod policy;
mod window;

use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

pub use self::{
    circuit::{Circuit, Ticket},
    health::{CircuitHealth, CircuitOpen, CircuitState, Health, OpenReason},
    policy::{BreakerPolicy, BreakerPolicyError},
};

/// Keeps calls away from a service that is ill, and tries now and then whether it is well again.
///
/// The rule is that of [`Circuit`], the clock is tokio's. A clone is another handle to the same breaker: one for each
/// service, shared by all who call it. It needs no task of its own and costs nothing while nobody calls. A change of
/// state is a `tracing` event: `WARN` when it opens, `INFO` when it closes.
///
/// # Examples
///
/// ```
/// # use dormouse_resilience::{BreakerPolicy, CircuitBreaker, CircuitState, Guarded, Health};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let breaker = CircuitBreaker::new("kettle", BreakerPolicy::service());
/// for _ in 0..5 {
///     let call = async { Err::<(), _>(std::fmt::Error) };
///     assert!(matches!(breaker.guard(|_| Health::Ill, call).await, Err(Guarded::Failed(_))));
/// }
/// let call = async { unreachable!("it is not even begun") };
/// let left_alone = breaker.guard(|_: &std::fmt::Error| Health::Ill, call).await;
/// assert!(matches!(left_alone, Err::<(), _>(Guarded::Open(_))));
/// assert_eq!(breaker.health().state, CircuitState::Open);
/// # }
/// ```
#[derive(Clone)]
pub struct CircuitBreaker {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    name: Arc<str>,
    start: Instant,
    circuit: Mutex<Circuit>,
}

/// A call was not made, or it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Guarded<E> {
    /// It was not made.
    #[error(transparent)]
    Open(CircuitOpen),
    /// It failed.
    #[error("{0}")]
    Failed(#[source] E),
}

impl CircuitBreaker {
    /// A closed breaker for the service of this name, which is used in logs and in [`CircuitHealth`].
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, policy: BreakerPolicy) -> Self {
        Self {
            shared: Arc::new(Shared {
                name: name.into(),
                start: Instant::now(),
                circuit: Mutex::new(Circuit::new(policy)),
            }),
        }
    }

    /// Awaits `call` if the service is taken to be well, and takes in how it ended: an error as `judge` says, anything
    /// else as [`Health::Well`].
    ///
    /// A `call` that is not let through is dropped without being polled. Put a deadline *within* the call, so that a
    /// service that hangs counts as ill: a guarded call that is dropped, by a deadline around it for instance, counts
    /// for nothing, and if it was the trial lets another one be it. A retry goes around it.
    ///
    /// # Errors
    ///
    /// [`Guarded::Open`] if the call was not made; [`Guarded::Failed`] with the call's own error.
    pub async fn guard<T, E>(
        &self,
        judge: impl FnOnce(&E) -> Health,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Guarded<E>> {
        let permit = self.admit().map_err(Guarded::Open)?;
        match call.await {
            Ok(done) => {
                permit.record(Health::Well);
                Ok(done)
            }
            Err(error) => {
                permit.record(judge(&error));
                Err(Guarded::Failed(error))
            }
        }
    }

    /// Decides whether a call may be made now. Never waits.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if not.
    pub fn admit(&self) -> Result<Permit, CircuitOpen> {
        self.admit_at(Instant::now())
    }

    /// [`CircuitBreaker::admit`] for who has just read the clock.
    pub(crate) fn admit_at(&self, now: Instant) -> Result<Permit, CircuitOpen> {
        let ticket = self.circuit().admit(now - self.shared.start)?;
        Ok(Permit {
            breaker: self.clone(),
            ticket: Some(ticket),
        })
    }

    /// Would a call be admitted now? Nothing changes, and another call may be quicker. Never waits.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if not.
    pub fn peek(&self) -> Result<(), CircuitOpen> {
        self.peek_at(Instant::now())
    }

    /// [`CircuitBreaker::peek`] for who has just read the clock.
    pub(crate) fn peek_at(&self, now: Instant) -> Result<(), CircuitOpen> {
        self.circuit().peek(now - self.shared.start)
    }

    /// The service is another one now, or is asked with other credentials: closes the circuit, whatever it was. How
    /// calls end that are under way counts for nothing.
    pub fn configuration_changed(&self) {
        self.change(Circuit::configuration_changed);
    }

    /// What is known of the service.
    #[must_use]
    pub fn health(&self) -> CircuitHealth {
        let now = self.now();
        let reading = self.circuit().read(now);
        CircuitHealth {
            name: self.shared.name.clone(),
            state: reading.state,
            reason: reading.reason,
            lasted: now.saturating_sub(reading.since),
            retry_in: reading.retry_in,
            failures: reading.failures,
        }
    }

    /// Lets `what` change the circuit, and tells the log if its state is another one then.
    fn change(&self, what: impl FnOnce(&mut Circuit, Duration)) {
        let now = self.now();
        let (before, after) = {
            let mut circuit = self.circuit();
            let before = circuit.read(now).state;
            what(&mut circuit, now);
            (before, circuit.read(now))
        };
        if before == after.state {
            return;
        }
        let (name, reason) = (&*self.shared.name, after.reason);
        match after.state {
            CircuitState::Open => tracing::warn!(
                service = name,
                reason = reason.map(tracing::field::display),
                retry_in_ms = after.retry_in.map(millis),
                "the service is left alone from now on"
            ),
            CircuitState::Closed => tracing::info!(service = name, "the service is called again"),
            CircuitState::HalfOpen => {}
        }
    }

    fn now(&self) -> Duration {
        self.shared.start.elapsed()
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        let circuit = self.shared.circuit.lock();
        circuit.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

/// A call that may be made. Dropping it counts for nothing, and if it was the trial lets another one be it.
#[derive(Debug)]
#[must_use = "how the call ended is told to the permit"]
pub struct Permit {
    breaker: CircuitBreaker,
    ticket: Option<Ticket>,
}

impl Permit {
    /// Is it the one call that tries whether the service is well again?
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.ticket.as_ref().is_some_and(Ticket::is_trial)
    }

    /// Takes in how the call ended.
    pub fn record(mut self, health: Health) {
        self.end(health);
    }

    fn end(&mut self, health: Health) {
        if let Some(ticket) = self.ticket.take() {
            self.breaker
                .change(|circuit, now| circuit.record(ticket, health, now));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.end(Health::Irrelevant);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
