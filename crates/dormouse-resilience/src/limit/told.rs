//! What a service tells of its limits, and what it means.

use std::time::Duration;

/// How much of a limit is left, as a service tells it in the headers of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The whole of it.
    pub limit: Option<u64>,
    /// What is left. Where it is missing, nothing is learnt.
    pub remaining: Option<u64>,
    /// When all of it is there again. Where it is missing, nothing is learnt.
    pub resets_in: Option<Duration>,
}

/// What an answer told of the limits of the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Of the requests.
    pub requests: Option<Quota>,
    /// Of the units.
    pub units: Option<Quota>,
}

/// What is left of a limit, from what the service told last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    left: u64,
    limit: u64,
    /// Since when `left` is as it is.
    since: Duration,
    /// When all of it is there again.
    until: Duration,
    /// How long one more takes, for a limit that refills evenly; otherwise there is none more before `until`.
    interval: Option<Duration>,
}

/// How a service gives back what was used.
///
/// Servers are of two kinds. One counts in windows: what is left is left until the reset. One has a bucket that refills
/// evenly, and the reset is when it is full. Which one it is cannot be told from a header's name, but from its numbers:
/// for a bucket, the time to the reset is the missing part of its period, to a tenth. Where no period fits, it is taken for
/// a window, which is the stricter reading. So it is where nothing is left, unless an earlier answer told the same period:
/// a window that was used up at once looks like that too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Refill {
    #[default]
    AtReset,
    Evenly {
        /// In which an empty bucket fills.
        period: Duration,
    },
}

/// The periods over which services spread a limit that refills evenly.
const PERIODS: [Duration; 4] = [
    Duration::from_secs(1),
    Duration::from_secs(60),
    Duration::from_secs(3600),
    Duration::from_secs(86_400),
];

impl Told {
    /// No service is believed to be without anything for longer than this.
    pub(super) const LONGEST: Duration = Duration::from_secs(86_400);

    /// What `quota` means from a service that refills like this; nothing if it is incomplete, over already, or of nothing:
    /// a service that has just answered allows something, and some write 0 for what they do not limit.
    pub(super) fn new(quota: Quota, refill: Refill, now: Duration) -> Option<Self> {
        if quota.limit == Some(0) {
            return None;
        }
        let resets_in = quota.resets_in.filter(|time| !time.is_zero())?;
        let left = quota.remaining?;
        let limit = quota.limit.unwrap_or(left).max(left);
        let missing = limit - left;
        Some(Self {
            left,
            limit,
            since: now,
            until: now.saturating_add(resets_in.min(Self::LONGEST)),
            interval: match refill {
                Refill::Evenly { .. } if missing > 0 => Some(part(resets_in, missing)),
                Refill::Evenly { .. } | Refill::AtReset => None,
            },
        })
    }

    /// How long until `units` fit; zero for now. What is more than the whole limit fits at the reset: the service may
    /// judge that itself.
    pub(super) fn wait(&self, units: u64, now: Duration) -> Duration {
        let left = self.left(now);
        if units <= left {
            return Duration::ZERO;
        }
        let at_reset = self.until.saturating_sub(now);
        match self.interval {
            Some(interval) => {
                let at = self
                    .since
                    .saturating_add(times(interval, units - self.left));
                at.saturating_sub(now).min(at_reset)
            }
            None => at_reset,
        }
    }

    /// Takes `units` out.
    pub(super) fn take(&mut self, units: u64, now: Duration) {
        let left = self.left(now);
        if let Some(interval) = self.interval {
            // What has refilled is booked in whole units; the part of one that is under way stays.
            let refilled = left.saturating_sub(self.left);
            self.since = self
                .since
                .saturating_add(times(interval, refilled))
                .min(now);
        }
        self.left = left.saturating_sub(units);
    }

    /// What is left at `now`.
    pub(super) fn left(&self, now: Duration) -> u64 {
        if self.is_over(now) {
            return self.limit.max(self.left);
        }
        let Some(interval) = self.interval else {
            return self.left;
        };
        let passed = now.saturating_sub(self.since).as_nanos();
        let refilled = passed / interval.as_nanos().max(1);
        let refilled = u64::try_from(refilled).unwrap_or(u64::MAX);
        self.left.saturating_add(refilled).min(self.limit)
    }

    /// The whole of it.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Is all of it there again?
    pub(super) fn is_over(&self, now: Duration) -> bool {
        now >= self.until
    }
}

impl Refill {
    /// What is known after `quota` was told as well.
    pub(super) fn learn(self, quota: Quota) -> Self {
        let (Some(limit), Some(left), Some(resets_in)) =
            (quota.limit, quota.remaining, quota.resets_in)
        else {
            return self;
        };
        let missing = limit.saturating_sub(left);
        if missing == 0 {
            return self;
        }
        let fits = |period: &Duration| {
            let expected = period.as_nanos() * u128::from(missing) / u128::from(limit);
            resets_in.as_nanos().abs_diff(expected) <= expected / 10
        };
        let known = match self {
            Self::Evenly { period } => Some(period).filter(fits),
            Self::AtReset => None,
        };
        let found = || PERIODS.into_iter().find(fits).filter(|_| left > 0);
        let period = known.or_else(found);
        period.map_or(Self::AtReset, |period| Self::Evenly { period })
    }
}

/// One of so many parts, rounded up.
fn part(whole: Duration, parts: u64) -> Duration {
    let nanos = whole.as_nanos().div_ceil(u128::from(parts.max(1)));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

fn times(interval: Duration, count: u64) -> Duration {
    let nanos = interval.as_nanos().saturating_mul(u128::from(count));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
