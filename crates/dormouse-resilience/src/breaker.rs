//! A circuit breaker stops calls to a service that keeps failing, for a while.

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

/// Stops calls to a failing service, and tries from time to time whether it works again.
///
/// [`Circuit`] contains the logic; this type adds tokio's clock. A clone is another handle to the same breaker: use one
/// per service, shared by all callers. It needs no task and costs nothing between calls. A change of state is a
/// `tracing` event: `WARN` on opening, `INFO` on closing.
///
/// # Examples
///
/// ```
/// # use dormouse_resilience::{BreakerPolicy, CircuitBreaker, CircuitState, BreakerError, Health};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let breaker = CircuitBreaker::new("kettle", BreakerPolicy::service());
/// for _ in 0..5 {
///     let call = async { Err::<(), _>(std::fmt::Error) };
///     assert!(matches!(breaker.guard(|_| Health::Unhealthy, call).await, Err(BreakerError::Failed(_))));
/// }
/// let call = async { unreachable!("it is not even begun") };
/// let not_attempted = breaker.guard(|_: &std::fmt::Error| Health::Unhealthy, call).await;
/// assert!(matches!(not_attempted, Err::<(), _>(BreakerError::Open(_))));
/// assert_eq!(breaker.health().state, CircuitState::Open);
/// # }
/// ```
#[derive(Clone)]
pub struct CircuitBreaker {
    pub(crate) shared: Arc<BreakerShared>,
}

pub(crate) struct BreakerShared {
    name: Arc<str>,
    start: Instant,
    circuit: Mutex<Circuit>,
}

/// A call was not attempted, or it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BreakerError<E> {
    /// The call was not attempted.
    #[error(transparent)]
    Open(CircuitOpen),
    /// The call failed.
    #[error("{0}")]
    Failed(#[source] E),
}

impl CircuitBreaker {
    /// The name of the service.
    pub(crate) fn name(&self) -> &str {
        &self.shared.name
    }

    /// A closed breaker. The name of the service appears in logs and in [`CircuitHealth`].
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, policy: BreakerPolicy) -> Self {
        Self {
            shared: Arc::new(BreakerShared {
                name: name.into(),
                start: Instant::now(),
                circuit: Mutex::new(Circuit::new(policy)),
            }),
        }
    }

    /// Awaits `call` if the circuit admits it, and records the result: an error as `judge` says, a success as
    /// [`Health::Healthy`].
    ///
    /// If the circuit does not admit `call`, the future is dropped without being polled. Put a deadline *inside* the
    /// call, so that a hanging service counts as unhealthy. A guarded call that is dropped, for example by a deadline around
    /// it, is not counted; if it was the trial, another call becomes the trial. Put a retry around this function.
    ///
    /// # Errors
    ///
    /// [`BreakerError::Open`] if the call was not attempted; [`BreakerError::Failed`] with the call's own error.
    pub async fn guard<T, E>(
        &self,
        judge: impl FnOnce(&E) -> Health,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, BreakerError<E>> {
        let permit = self.admit().map_err(BreakerError::Open)?;
        match call.await {
            Ok(done) => {
                permit.record(Health::Healthy);
                Ok(done)
            }
            Err(error) => {
                permit.record(judge(&error));
                Err(BreakerError::Failed(error))
            }
        }
    }

    /// Decides whether a call may be made now. Never waits.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if no call may be made.
    pub fn admit(&self) -> Result<Permit, CircuitOpen> {
        self.admit_at(Instant::now())
    }

    /// [`CircuitBreaker::admit`] for a caller that has just read the clock.
    pub(crate) fn admit_at(&self, now: Instant) -> Result<Permit, CircuitOpen> {
        let ticket = self.circuit().admit(now - self.shared.start)?;
        Ok(Permit {
            breaker: self.clone(),
            ticket: Some(ticket),
        })
    }

    /// Whether a call would be admitted now. Changes nothing, and another call may come first. Never waits.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if no call would be admitted.
    pub fn peek(&self) -> Result<(), CircuitOpen> {
        self.peek_at(Instant::now())
    }

    /// [`CircuitBreaker::peek`] for a caller that has just read the clock.
    pub(crate) fn peek_at(&self, now: Instant) -> Result<(), CircuitOpen> {
        self.circuit().peek(now - self.shared.start)
    }

    /// Closes the circuit, because the service or its credentials changed. The results of calls in progress are
    /// ignored.
    pub fn configuration_changed(&self) {
        self.change(Circuit::configuration_changed);
    }

    /// The state of the circuit.
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

    /// Runs `what` on the circuit, and logs a change of state.
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
                "circuit opened: the service is not called"
            ),
            CircuitState::Closed => tracing::info!(
                service = name,
                "circuit closed: the service is called again"
            ),
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

/// Permission for one call. Dropping it records nothing; if it was the trial, another call becomes the trial.
#[derive(Debug)]
#[must_use = "the result of the call must be recorded with the permit"]
pub struct Permit {
    breaker: CircuitBreaker,
    ticket: Option<Ticket>,
}

impl Permit {
    /// Whether this is the trial call that tests whether the service works again.
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.ticket.as_ref().is_some_and(Ticket::is_trial)
    }

    /// Records the result of the call.
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
