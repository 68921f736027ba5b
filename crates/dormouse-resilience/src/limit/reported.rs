//! The limits that a service reports, and their meaning.

use std::time::Duration;

/// What is left of a limit, as a service reports it in the headers of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The whole limit.
    pub limit: Option<u64>,
    /// What is left. Without it the report is ignored.
    pub remaining: Option<u64>,
    /// The time until the whole limit is available again. Without it the report is ignored.
    pub resets_in: Option<Duration>,
}

/// The limits reported with one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedLimits {
    /// The requests.
    pub requests: Option<Quota>,
    /// The units.
    pub units: Option<Quota>,
}

/// What is left of a limit, by the last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReportedLimit {
    left: u64,
    limit: u64,
    /// When `left` was correct.
    since: Duration,
    /// When the whole limit is available again.
    until: Duration,
    /// The time in which one unit refills, for a limit that refills evenly; otherwise nothing refills before `until`.
    interval: Option<Duration>,
}

/// How a service refills a limit.
///
/// There are two kinds of servers. One counts in windows: nothing refills until the reset. The other has a bucket that
/// refills evenly, and the reset is when it is full. The name of a header does not tell them apart, but its numbers do:
/// for a bucket, the time to the reset is the period times the missing share of the limit, within a tenth. If no usual
/// period fits, the limit is treated as a window, which is stricter. A limit of which nothing is left is also treated
/// as a window, because a window that was used up at once has the same numbers. The exception is a limit of which an
/// earlier report showed the same period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Refill {
    #[default]
    AtReset,
    Evenly {
        /// The time in which an empty bucket fills.
        period: Duration,
    },
}

/// The usual periods of limits that refill evenly.
const PERIODS: [Duration; 4] = [
    Duration::from_secs(1),
    Duration::from_secs(60),
    Duration::from_secs(3600),
    Duration::from_secs(86_400),
];

impl ReportedLimit {
    /// The longest time that a reported limit is believed.
    pub(super) const LONGEST: Duration = Duration::from_secs(86_400);

    /// The meaning of `quota` for this kind of refill. `None` if it is incomplete, already reset, or has a limit of
    /// zero: a service that has just answered does allow something, and some services report 0 for an unlimited
    /// quantity.
    pub(super) fn new(quota: Quota, refill: Refill, now: Duration) -> Option<Self> {
        if quota.limit == Some(0) {
            return None;
        }
        let resets_in = quota.resets_in.filter(|time| !time.is_zero())?;
        let left = quota.remaining?;
        // If the reported numbers contradict each other, the larger one is the limit.
        let limit = quota.limit.unwrap_or(left).max(left);
        let missing = limit - left;
        Some(Self {
            left,
            limit,
            since: now,
            until: now.saturating_add(resets_in.min(Self::LONGEST)),
            interval: match refill {
                // Rounded up by `part`, so that a request never goes too early.
                Refill::Evenly { .. } if missing > 0 => Some(part(resets_in, missing)),
                Refill::Evenly { .. } | Refill::AtReset => None,
            },
        })
    }

    /// How long until `units` units fit; zero for now. A request larger than the whole limit fits at the reset, because
    /// only the service can judge it.
    pub(super) fn wait(&self, units: u64, now: Duration) -> Duration {
        let left = self.left(now);
        if units <= left {
            return Duration::ZERO;
        }
        let at_reset = self.until.saturating_sub(now);
        match self.interval {
            Some(interval) => {
                // `left` contains what refilled since `since`, so the wait counts from `since` and `self.left`. Here
                // `units > left >= self.left`, so the subtraction cannot underflow.
                let at = self
                    .since
                    .saturating_add(times(interval, units - self.left));
                // The refill cannot take longer than the reported reset.
                at.saturating_sub(now).min(at_reset)
            }
            None => at_reset,
        }
    }

    /// Takes `units`.
    pub(super) fn take(&mut self, units: u64, now: Duration) {
        let left = self.left(now);
        if let Some(interval) = self.interval {
            // Only whole refilled units are added to `left`; the time of a partly refilled unit stays in `since`.
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

    /// The whole limit.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether the whole limit is available again.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        now >= self.until
    }
}

impl Refill {
    /// The kind of refill after another report.
    pub(super) fn learn(self, quota: Quota) -> Self {
        let (Some(limit), Some(left), Some(resets_in)) =
            (quota.limit, quota.remaining, quota.resets_in)
        else {
            return self;
        };
        let missing = limit.saturating_sub(left);
        // A full limit has a reset of zero for every period, so it identifies none.
        if missing == 0 {
            return self;
        }
        let fits = |period: &Duration| {
            let expected = period.as_nanos() * u128::from(missing) / u128::from(limit);
            resets_in.as_nanos().abs_diff(expected) <= expected / 10
        };
        // A period that an earlier report identified is kept as long as it fits, even with nothing left.
        let known = match self {
            Self::Evenly { period } => Some(period).filter(fits),
            Self::AtReset => None,
        };
        // A window that was used up in an instant also has a reset of its full period, so an empty limit proves nothing
        // new.
        let found = || PERIODS.into_iter().find(fits).filter(|_| left > 0);
        let period = known.or_else(found);
        period.map_or(Self::AtReset, |period| Self::Evenly { period })
    }
}

/// The whole divided by `parts`, rounded up.
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
