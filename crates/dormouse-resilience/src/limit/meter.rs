//! The rule of a rate limit, as a state machine without a clock in it.

use std::{fmt, time::Duration};

use super::{
    gauge::Gauge,
    health::{LimitHealth, LimitReason, Limited},
    policy::RateLimit,
    told::{Observed, Told},
};

/// Decides for each request whether it gets through, from those before it and from what the service told.
///
/// A request gets through if it fits into the limits of the [`RateLimit`], into what the service told last of its own,
/// and no pause is under way: all of them, so nothing that is learnt ever loosens what was configured. Every method is
/// told the time as the [`Duration`] since any fixed moment; time that goes backwards counts as time that stands still.
/// It reads no clock. [`RateLimiter`](crate::RateLimiter) carries it out.
///
/// ```
/// # use std::time::Duration;
/// # use dormouse_resilience::{LimitReason, Limited, Meter, RateLimit};
/// let at = Duration::from_secs;
/// let mut meter = Meter::new(RateLimit::as_told().try_with_requests(60, 2)?);
/// assert_eq!(meter.take(0, at(0)), Ok(()));
/// assert_eq!(meter.take(0, at(0)), Ok(()));
/// let later = Limited::Later { retry_in: at(1), reason: LimitReason::Requests };
/// assert_eq!(meter.take(0, at(0)), Err(later));
/// meter.pause(at(7), at(1));
/// let paused = Limited::Later { retry_in: at(7), reason: LimitReason::Paused };
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
    /// The longest pause a service may ask for: a day. A longer one counts as this.
    pub const LONGEST_PAUSE: Duration = Told::LONGEST;

    /// Full buckets, nothing told yet.
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

    /// Lets one request of so many units through, or tells why not. Then nothing is taken of any limit.
    ///
    /// # Errors
    ///
    /// [`Limited`], with the time to wait. When that is over something else may be in the way.
    pub fn take(&mut self, units: u32, now: Duration) -> Result<(), Limited> {
        let now = self.pass(now);
        self.hold(units, now)?;
        self.requests.pass(1, now);
        self.units.pass(units, now);
        Ok(())
    }

    /// Would one request of so many units get through now? Nothing is taken.
    ///
    /// # Errors
    ///
    /// [`Limited`] if not, as from [`Meter::take`].
    pub fn peek(&mut self, units: u32, now: Duration) -> Result<(), Limited> {
        let now = self.pass(now);
        self.hold(units, now)?;
        self.give_back(units);
        Ok(())
    }

    /// Takes a request out of the configured limits if nothing is in the way. Otherwise tells what is longest in the way.
    fn hold(&mut self, units: u32, now: Duration) -> Result<(), Limited> {
        self.policy.fits_ever(units)?;
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
        if held.0.is_ok() {
            self.requests.put_back(1);
        }
        if held.1.is_ok() {
            self.units.put_back(units);
        }
        Err(Limited::Later { retry_in, reason })
    }

    /// Puts a request of so many units back that was let through and not made.
    pub fn give_back(&mut self, units: u32) {
        self.requests.put_back(1);
        self.units.put_back(units);
    }

    /// Corrects an estimate: a request that was let through with `estimated` units had `actual` ones. Where these are
    /// more, whoever comes next waits for the difference too. What the service told is left as it is: it has counted
    /// itself.
    pub fn settle(&mut self, estimated: u32, actual: u32, now: Duration) {
        let now = self.pass(now);
        if let Some(more) = actual.checked_sub(estimated) {
            self.units.overdraw(more, now);
        } else {
            self.units.put_back(estimated - actual);
        }
    }

    /// Takes in what the service told. The newest counts, and what it does not mention stays.
    pub fn observe(&mut self, observed: Observed, now: Duration) {
        let now = self.pass(now);
        self.requests.observe(observed.requests, now);
        self.units.observe(observed.units, now);
    }

    /// Lets nothing through for so long, and for the rest of any pause before. At most [`Meter::LONGEST_PAUSE`].
    pub fn pause(&mut self, pause: Duration, now: Duration) {
        let now = self.pass(now);
        let until = now.saturating_add(pause.min(Self::LONGEST_PAUSE));
        self.paused_until = self.paused_until.max(until);
    }

    /// The service is another one now, or is asked with other credentials: forgets pauses and what it told, but not what
    /// was taken of the configured limits.
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
