//! The rule of a rate limit, as a state machine without a clock in it.

use std::{fmt, num::NonZeroU32, time::Duration};

use super::{
    bucket::{Bucket, NoRoom},
    policy::RateLimit,
    told::{Observed, Quota, Told},
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

/// One kind of thing that is limited.
#[derive(Default)]
struct Gauge {
    own: Option<Bucket>,
    told: Option<Told>,
}

/// Which limit keeps a request from getting through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitReason {
    /// So many requests were made.
    Requests,
    /// So many units were used.
    Units,
    /// The service asked for a pause.
    Paused,
    /// Others wait already, and are not overtaken.
    Queued,
}

/// A call was not made, because of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Limited {
    /// It may be made later, but not within [`RateLimit::longest_wait`], or not without waiting where it was not to wait.
    #[error("the call is not made now, because {reason}; it may be in {retry_in:?}")]
    Later {
        /// When to ask again, as far as it can be told now.
        retry_in: Duration,
        /// Why.
        reason: LimitReason,
    },
    /// It can never be made: it alone has more units than the limit lets through at once.
    #[error("the call of {units} units is never made: at most {most} get through at once")]
    TooLarge {
        /// Its units.
        units: u32,
        /// The most there may be.
        most: u32,
    },
}

/// What is left of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// So many are left now.
    pub left: u64,
    /// So many there are at most.
    pub of: u64,
}

/// The state of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitHealth {
    /// For how long nothing gets through, because the service asked for a pause. Zero if it did not.
    pub paused_for: Duration,
    /// What is left of the requests, by the stricter of what was configured and what the service told; `None` if neither.
    pub requests: Option<Level>,
    /// What is left of the units, likewise.
    pub units: Option<Level>,
}

impl Meter {
    /// The longest pause a service may ask for: a day. A longer one counts as this.
    pub const LONGEST_PAUSE: Duration = Told::LONGEST;

    /// Full buckets, nothing told yet.
    #[must_use]
    pub fn new(policy: RateLimit) -> Self {
        Self {
            policy,
            requests: Gauge::new(policy.requests().map(Bucket::new)),
            units: Gauge::new(policy.units().map(Bucket::new)),
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
        self.requests.take_told(1, now);
        self.units.take_told(units, now);
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
        let own_requests = self.requests.take_own(1, now);
        let own_units = self.units.take_own(units, now);
        let pause = self.paused_until.saturating_sub(now);
        let for_requests = wait(own_requests).max(self.requests.told_wait(1, now));
        let for_units = wait(own_units).max(self.units.told_wait(units, now));
        let (retry_in, reason) = [
            (for_requests, LimitReason::Requests),
            (for_units, LimitReason::Units),
            (pause, LimitReason::Paused),
        ]
        .into_iter()
        .max_by_key(|(wait, _reason)| *wait)
        .unwrap_or((Duration::ZERO, LimitReason::Paused));
        if retry_in.is_zero() {
            return Ok(());
        }
        if own_requests.is_ok() {
            self.requests.put_back(1);
        }
        if own_units.is_ok() {
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
        self.requests.told = None;
        self.units.told = None;
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

impl Gauge {
    fn new(own: Option<Bucket>) -> Self {
        Self { own, told: None }
    }

    /// Takes so many out of what was configured.
    fn take_own(&mut self, count: u32, now: Duration) -> Result<(), NoRoom> {
        match (&mut self.own, NonZeroU32::new(count)) {
            (Some(own), Some(count)) => own.take(count, now),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// How long until so many fit into what the service told; zero for now.
    fn told_wait(&self, count: u32, now: Duration) -> Duration {
        let told = self.told.filter(|told| !told.is_over(now));
        told.map_or(Duration::ZERO, |told| told.wait(count.into(), now))
    }

    fn take_told(&mut self, count: u32, now: Duration) {
        self.told = self.told.filter(|told| !told.is_over(now));
        if let Some(told) = &mut self.told {
            told.take(count.into(), now);
        }
    }

    fn put_back(&mut self, count: u32) {
        if let Some(own) = &mut self.own {
            own.put_back(count);
        }
    }

    fn overdraw(&mut self, count: u32, now: Duration) {
        if let Some(own) = &mut self.own {
            own.overdraw(count, now);
        }
    }

    fn observe(&mut self, quota: Option<Quota>, now: Duration) {
        if let Some(told) = quota.and_then(|quota| Told::new(quota, now)) {
            self.told = Some(told);
        }
    }

    fn read(&self, now: Duration) -> Option<Level> {
        let own = self.own.as_ref().map(|own| Level {
            left: own.left(now).into(),
            of: own.burst().into(),
        });
        let told = self
            .told
            .filter(|told| !told.is_over(now))
            .map(|told| Level {
                left: told.left(now),
                of: told.limit(),
            });
        own.into_iter().chain(told).min_by_key(|level| level.left)
    }
}

fn wait(taken: Result<(), NoRoom>) -> Duration {
    match taken {
        Ok(()) => Duration::ZERO,
        Err(NoRoom::For(wait)) => wait,
        // Asked before, where it is an error of its own.
        Err(NoRoom::Ever) => Duration::MAX,
    }
}

impl fmt::Display for LimitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Requests => "the limit of requests is used up",
            Self::Units => "the limit of units is used up",
            Self::Paused => "the service asked for a pause",
            Self::Queued => "others are waiting already",
        })
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
