//! The logic of a circuit breaker, as a state machine without a clock.

use std::time::Duration;

use super::{
    health::{CircuitOpen, CircuitState, Health, OpenReason},
    policy::BreakerPolicy,
    window::Window,
};

/// Decides for each call whether it may be made, from the results of earlier calls.
///
/// Every method takes the time as the [`Duration`] since any fixed moment; a time before the latest one counts as the
/// latest. It reads no clock; [`CircuitBreaker`](crate::CircuitBreaker) adds one.
///
/// - *Closed*: every call is admitted. [`Health::Unhealthy`] results within a sliding window are counted, and enough of them
///   open the circuit.
///
/// - *Open*: no call is admitted until the cooldown is over.
///
/// - *Half-open*: one call at a time is admitted as a trial. Enough [`Health::Healthy`] results in a row close the
///   circuit; [`Health::Unhealthy`] opens it again, for twice the cooldown if no trial succeeded since it opened, otherwise for the
///   first cooldown. Up to a quarter is subtracted from either, so that the trials do not always coincide with the
///   failures of a service that fails periodically. [`Health::Irrelevant`] changes nothing.
///
/// [`Health::Refused`] opens the circuit at once, in any state, until [`Circuit::configuration_changed`]. The result of
/// a call admitted before the last change of state is ignored, unless it is [`Health::Refused`]. The result of a call
/// admitted before the last change of the configuration is always ignored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Circuit {
    policy: BreakerPolicy,
    state: State,
    since: Duration,
    /// The number of changes of state.
    era: u64,
    /// The number of changes of the configuration.
    configuration: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
        /// The length of the last cooldown.
        cooldown: Duration,
    },
    Refused,
}

/// Permission for one call. Record its result with [`Circuit::record`], as [`Health::Irrelevant`] if the result is
/// unknown.
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a trial whose result is never recorded blocks every other call"]
pub struct Ticket {
    era: u64,
    configuration: u64,
    trial: bool,
}

impl Ticket {
    /// Whether this is the trial call that tests whether the service works again.
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.trial
    }
}

/// The state of the circuit at one moment, in the terms of [`CircuitHealth`](crate::CircuitHealth).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CircuitReading {
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
    /// [`CircuitOpen`] with the reason and the time to wait, if no call may be made.
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

    /// Whether a call would be admitted now. Changes nothing, and another call may come first.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if no call would be admitted, as from [`Circuit::admit`].
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

    /// Records the result of an admitted call.
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
                if health == Health::Unhealthy
                    && failures.is_full_with(now, policy.window(), policy.trip_after())
                {
                    self.open(policy.cooldown(), policy.cooldown(), now);
                }
            }
            State::HalfOpen {
                trial_under_way,
                well,
                cooldown,
            } => {
                *trial_under_way = false;
                match health {
                    Health::Healthy => {
                        *well += 1;
                        if *well >= policy.close_after() {
                            self.close(now);
                        }
                    }
                    Health::Unhealthy => {
                        // If an earlier trial succeeded, the request may be the cause and not the service.
                        let next = match *well {
                            0 => cooldown.saturating_mul(2).min(policy.longest_cooldown()),
                            _ => policy.cooldown(),
                        };
                        let sooner = part_of_quarter(next, self.era);
                        self.open(next, next.saturating_sub(sooner), now);
                    }
                    Health::Refused | Health::Irrelevant => {}
                }
            }
            // A ticket of this era cannot exist: no call is admitted while the circuit is open.
            State::Open { .. } | State::Refused => {}
        }
    }

    /// Closes the circuit, because the service or its credentials changed.
    pub fn configuration_changed(&mut self, now: Duration) {
        self.configuration = self.configuration.wrapping_add(1);
        self.close(now);
    }

    /// The state at `now`.
    #[must_use]
    pub fn state(&self, now: Duration) -> CircuitState {
        self.read(now).state
    }

    pub(super) fn read(&self, now: Duration) -> CircuitReading {
        let reading = |state, reason, retry_in| CircuitReading {
            state,
            reason,
            since: self.since,
            retry_in,
            failures: 0,
        };
        let failing = Some(OpenReason::Failing);
        let at_once = Some(Duration::ZERO);
        match &self.state {
            State::Closed { failures } => CircuitReading {
                failures: failures.count(now, self.policy.window()),
                ..reading(CircuitState::Closed, None, at_once)
            },
            State::Open { until, .. } if now >= *until => CircuitReading {
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

    /// Changes to half-open if the cooldown is over.
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

    /// Opens for the time `wait`; the next failed trial doubles `cooldown`.
    fn open(&mut self, cooldown: Duration, wait: Duration, now: Duration) {
        let until = now.saturating_add(wait);
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

/// Between zero and a quarter of `cooldown`, in whole seconds, different for each `era`.
///
/// Doubled cooldowns are multiples of one another. Without this part, if a service fails in the same seconds of each
/// minute, every trial could fall into those seconds.
fn part_of_quarter(cooldown: Duration, era: u64) -> Duration {
    // 2^64 divided by the golden ratio (Fibonacci hashing): any number of consecutive multiples, modulo 2^64, is spread
    // evenly.
    let place = u128::from(era.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let seconds = (u128::from(cooldown.as_secs() / 4) * place) >> 64;
    Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
