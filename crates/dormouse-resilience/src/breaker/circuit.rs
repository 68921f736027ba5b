//! The rule of a circuit breaker, as a state machine without a clock in it.

use std::time::Duration;

use super::{
    health::{CircuitOpen, CircuitState, Health, OpenReason},
    policy::BreakerPolicy,
    window::Window,
};

/// Decides for each call to a service whether it is made, from how the calls before it ended.
///
/// Every method is told the time as the [`Duration`] since any fixed moment; time that goes backwards counts as time
/// that stands still. It reads no clock. [`CircuitBreaker`](crate::CircuitBreaker) carries it out.
///
/// - *Closed*: every call is admitted. [`Health::Ill`] is counted over a sliding window, and so many of them open it.
/// - *Open*: no call is admitted until the cooldown is over.
/// - *Half-open*: one call at a time is admitted as a trial. So many in a row that end [`Health::Well`] close it; one
///   that ends [`Health::Ill`] opens it again for twice the cooldown; [`Health::Irrelevant`] leaves it as it was.
///
/// [`Health::Refused`] opens it at once, in any state, until [`Circuit::configuration_changed`]. How a call ended that
/// was admitted before the circuit last opened or closed counts for nothing, unless it was refused; one admitted before
/// the configuration changed counts for nothing at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Circuit {
    policy: BreakerPolicy,
    state: State,
    since: Duration,
    /// How often the state has changed.
    era: u64,
    /// How often the configuration has changed.
    configuration: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    Closed {
        failures: Window,
    },
    Open {
        until: Duration,
        cooldown: Duration,
    },
    HalfOpen {
        trial_under_way: bool,
        well: u32,
        /// How long it was open before.
        cooldown: Duration,
    },
    Refused,
}

/// An admitted call. Whoever has it tells how the call ended, with [`Circuit::record`]; where nobody knows, that is
/// [`Health::Irrelevant`].
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a trial whose end is not recorded keeps every other call away"]
pub struct Ticket {
    era: u64,
    configuration: u64,
    trial: bool,
}

impl Ticket {
    /// Is it the one call that tries whether the service is well again?
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.trial
    }
}

/// What is known of a service at a moment, in the terms of [`CircuitHealth`](crate::CircuitHealth).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) state: CircuitState,
    pub(super) reason: Option<OpenReason>,
    pub(super) since: Duration,
    pub(super) retry_in: Option<Duration>,
    pub(super) failures: u32,
}

impl Circuit {
    /// A closed circuit.
    #[must_use]
    pub fn new(policy: BreakerPolicy) -> Self {
        Self {
            policy,
            state: State::Closed {
                failures: Window::default(),
            },
            since: Duration::ZERO,
            era: 0,
            configuration: 0,
        }
    }

    /// Decides whether a call may be made now.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if not, with the reason and the time to wait.
    pub fn admit(&mut self, now: Duration) -> Result<Ticket, CircuitOpen> {
        self.cool(now);
        match &mut self.state {
            State::Closed { .. } => Ok(self.ticket(false)),
            State::Open { until, .. } => Err(CircuitOpen {
                retry_in: Some(until.saturating_sub(now)),
                reason: OpenReason::Failing,
            }),
            State::HalfOpen {
                trial_under_way, ..
            } => {
                if std::mem::replace(trial_under_way, true) {
                    Err(CircuitOpen {
                        retry_in: None,
                        reason: OpenReason::TrialUnderWay,
                    })
                } else {
                    Ok(self.ticket(true))
                }
            }
            State::Refused => Err(CircuitOpen {
                retry_in: None,
                reason: OpenReason::Refused,
            }),
        }
    }

    /// Would a call be admitted now? Nothing changes, and another call may be quicker.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if not, as from [`Circuit::admit`].
    pub fn peek(&self, now: Duration) -> Result<(), CircuitOpen> {
        let reading = self.read(now);
        match reading.reason {
            Some(reason) if reading.retry_in != Some(Duration::ZERO) => Err(CircuitOpen {
                retry_in: reading.retry_in,
                reason,
            }),
            _ => Ok(()),
        }
    }

    /// Takes in how an admitted call ended.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a ticket is used up: a call ends once"
    )]
    pub fn record(&mut self, ticket: Ticket, health: Health, now: Duration) {
        if ticket.configuration != self.configuration {
            return;
        }
        if health == Health::Refused && self.state != State::Refused {
            self.become_at(State::Refused, now);
        }
        if ticket.era != self.era {
            return;
        }
        let policy = self.policy;
        match &mut self.state {
            State::Closed { failures } => {
                if health == Health::Ill
                    && failures.is_full_with(now, policy.window(), policy.trip_after())
                {
                    self.open(policy.cooldown(), now);
                }
            }
            State::HalfOpen {
                trial_under_way,
                well,
                cooldown,
            } => {
                *trial_under_way = false;
                match health {
                    Health::Well => {
                        *well += 1;
                        if *well >= policy.close_after() {
                            self.close(now);
                        }
                    }
                    Health::Ill => {
                        let longer = cooldown.saturating_mul(2).min(policy.longest_cooldown());
                        self.open(longer, now);
                    }
                    Health::Refused | Health::Irrelevant => {}
                }
            }
            // Nobody was admitted since it opened.
            State::Open { .. } | State::Refused => {}
        }
    }

    /// The service is another one now, or is asked with other credentials: closes the circuit, whatever it was.
    pub fn configuration_changed(&mut self, now: Duration) {
        self.configuration = self.configuration.wrapping_add(1);
        self.close(now);
    }

    /// Whether calls are let through at `now`.
    #[must_use]
    pub fn state(&self, now: Duration) -> CircuitState {
        self.read(now).state
    }

    pub(super) fn read(&self, now: Duration) -> Reading {
        let reading = |state, reason, retry_in| Reading {
            state,
            reason,
            since: self.since,
            retry_in,
            failures: 0,
        };
        let failing = Some(OpenReason::Failing);
        let at_once = Some(Duration::ZERO);
        match &self.state {
            State::Closed { failures } => Reading {
                failures: failures.count(now, self.policy.window()),
                ..reading(CircuitState::Closed, None, at_once)
            },
            State::Open { until, .. } if now >= *until => Reading {
                since: *until,
                ..reading(CircuitState::HalfOpen, failing, at_once)
            },
            State::Open { until, .. } => {
                reading(CircuitState::Open, failing, Some(until.saturating_sub(now)))
            }
            State::HalfOpen {
                trial_under_way: false,
                ..
            } => reading(CircuitState::HalfOpen, failing, at_once),
            State::HalfOpen {
                trial_under_way: true,
                ..
            } => reading(
                CircuitState::HalfOpen,
                Some(OpenReason::TrialUnderWay),
                None,
            ),
            State::Refused => reading(CircuitState::Open, Some(OpenReason::Refused), None),
        }
    }

    /// Goes half-open if the cooldown is over.
    fn cool(&mut self, now: Duration) {
        if let State::Open { until, cooldown } = self.state
            && now >= until
        {
            let half_open = State::HalfOpen {
                trial_under_way: false,
                well: 0,
                cooldown,
            };
            self.become_at(half_open, until);
        }
    }

    fn open(&mut self, cooldown: Duration, now: Duration) {
        let until = now.saturating_add(cooldown);
        self.become_at(State::Open { until, cooldown }, now);
    }

    fn close(&mut self, now: Duration) {
        let failures = Window::default();
        self.become_at(State::Closed { failures }, now);
    }

    fn become_at(&mut self, state: State, now: Duration) {
        self.state = state;
        self.since = now;
        self.era = self.era.wrapping_add(1);
    }

    fn ticket(&self, trial: bool) -> Ticket {
        Ticket {
            era: self.era,
            configuration: self.configuration,
            trial,
        }
    }
}

#[cfg(test)]
mod tests;
