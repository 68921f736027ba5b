//! The logic of a rate limit, as a state machine without a clock.

use std::{fmt, time::Duration};

use super::{
    gauge::Gauge,
    health::{LimitHealth, LimitReason, RateLimited},
    policy::RateLimit,
    reported::{ReportedLimit, ReportedLimits},
};

/// Decides for each request whether it is admitted, from earlier requests and from what the service reported.
///
/// A request is admitted if it fits the configured [`RateLimit`] and the limits that the service last reported, and if
/// no pause is in effect. So reported limits never loosen the configuration. Every method takes the time as the
/// [`Duration`] since any fixed moment; a time before the latest one counts as the latest. It reads no clock;
/// [`RateLimiter`](crate::RateLimiter) adds one.
///
/// ```
/// # use std::time::Duration;
/// # use dormouse_resilience::{LimitReason, RateLimited, Meter, RateLimit};
/// let at = Duration::from_secs;
/// let mut meter = Meter::new(RateLimit::reported_only().try_with_requests(60, 2)?);
/// assert_eq!(meter.take(0, at(0)), Ok(()));
/// assert_eq!(meter.take(0, at(0)), Ok(()));
/// let later = RateLimited::Later { retry_in: at(1), reason: LimitReason::Requests };
/// assert_eq!(meter.take(0, at(0)), Err(later));
/// meter.pause(at(7), at(1));
/// let paused = RateLimited::Later { retry_in: at(7), reason: LimitReason::Paused };
/// assert_eq!(meter.take(0, at(1)), Err(paused));
/// # Ok::<(), dormouse_resilience::RateLimitError>(())
/// ```
pub struct Meter {
    policy: RateLimit,
    requests: Gauge,
    units: Gauge,
    paused_until: Duration,
    now: Duration,
}

impl Meter {
    /// The longest pause that a service may ask for: a day. A longer one is cut to this.
    pub const LONGEST_PAUSE: Duration = ReportedLimit::LONGEST;

    /// Full buckets, and no reported limits.
    #[must_use]
    pub fn new(policy: RateLimit) -> Self {
        Self {
            policy,
            requests: Gauge::new(policy.requests()),
            units: Gauge::new(policy.units()),
            paused_until: Duration::ZERO,
            now: Duration::ZERO,
        }
    }

    /// Admits one request of `units` units, or returns why not. In that case nothing is taken from any limit.
    ///
    /// # Errors
    ///
    /// [`RateLimited`] with the time to wait. After that time another limit may apply.
    pub fn take(&mut self, units: u32, now: Duration) -> Result<(), RateLimited> {
        let now = self.pass(now);
        self.hold(units, now)?;
        self.requests.pass(1, now);
        self.units.pass(units, now);
        Ok(())
    }

    /// Whether a request of `units` units would be admitted now. Takes nothing.
    ///
    /// # Errors
    ///
    /// [`RateLimited`] if it would not be admitted, as from [`Meter::take`].
    pub fn peek(&mut self, units: u32, now: Duration) -> Result<(), RateLimited> {
        let now = self.pass(now);
        self.hold(units, now)?;
        // `hold` takes only from the configured limits, so giving back restores the state.
        self.give_back(units);
        Ok(())
    }

    /// Takes a request from the configured limits if nothing prevents it. Otherwise returns the reason with the longest
    /// wait.
    fn hold(&mut self, units: u32, now: Duration) -> Result<(), RateLimited> {
        self.policy.fits_ever(units)?;
        // Both limits are tried before either is given back, because the caller needs the longer of the two waits.
        let held = (self.requests.hold(1, now), self.units.hold(units, now));
        let pause = self.paused_until.saturating_sub(now);
        let obstacles = [
            (held.0.err(), LimitReason::Requests),
            (held.1.err(), LimitReason::Units),
            (
                Some(pause).filter(|pause| !pause.is_zero()),
                LimitReason::Paused,
            ),
        ];
        let longest = obstacles
            .into_iter()
            .filter_map(|(wait, reason)| Some((wait?, reason)))
            .max_by_key(|(wait, _reason)| *wait);
        let Some((retry_in, reason)) = longest else {
            return Ok(());
        };
        // A request needs both limits: what one of them granted must be given back.
        if held.0.is_ok() {
            self.requests.put_back(1);
        }
        if held.1.is_ok() {
            self.units.put_back(units);
        }
        Err(RateLimited::Later { retry_in, reason })
    }

    /// Gives back an admitted request that was not made.
    pub fn give_back(&mut self, units: u32) {
        self.requests.put_back(1);
        self.units.put_back(units);
    }

    /// Corrects an estimate: an admitted request with `estimated` units took `actual` units. If these are more, the
    /// next requests wait for the difference. The reported limits do not change, because the service does its own
    /// counting.
    pub fn settle(&mut self, estimated: u32, actual: u32, now: Duration) {
        let now = self.pass(now);
        if let Some(more) = actual.checked_sub(estimated) {
            self.units.overdraw(more, now);
        } else {
            self.units.put_back(estimated - actual);
        }
    }

    /// Applies what the service reported. The newest report counts, and limits that it does not mention stay.
    pub fn observe(&mut self, observed: ReportedLimits, now: Duration) {
        let now = self.pass(now);
        self.requests.observe(observed.requests, now);
        self.units.observe(observed.units, now);
    }

    /// Admits no requests for the given time, at most [`Meter::LONGEST_PAUSE`]. A longer pause in effect continues.
    pub fn pause(&mut self, pause: Duration, now: Duration) {
        let now = self.pass(now);
        let until = now.saturating_add(pause.min(Self::LONGEST_PAUSE));
        self.paused_until = self.paused_until.max(until);
    }

    /// Forgets pauses and reported limits, because the service or its credentials changed. What was taken from the
    /// configured limits stays taken.
    pub fn configuration_changed(&mut self) {
        self.paused_until = Duration::ZERO;
        self.requests.forget();
        self.units.forget();
    }

    /// What is left at `now`.
    #[must_use]
    pub fn read(&self, now: Duration) -> LimitHealth {
        let now = now.max(self.now);
        LimitHealth {
            paused_for: self.paused_until.saturating_sub(now),
            requests: self.requests.read(now),
            units: self.units.read(now),
        }
    }

    fn pass(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        self.now
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("now", &self.now)
            .field("health", &self.read(self.now))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
