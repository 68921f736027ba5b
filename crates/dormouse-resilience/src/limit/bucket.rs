//! A token bucket, based on `governor`.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use governor::{
    Quota,
    clock::{Clock, Reference},
    nanos::Nanos,
    state::{NotKeyed, StateStore},
};

use super::policy::BucketRate;

/// A bucket that refills evenly, by the generic cell rate algorithm (GCRA) of `governor`.
///
/// This type owns the clock and the algorithm's only state: the time at which the bucket will be full again. So the
/// time can be passed in, and the state can be moved when an estimate turns out wrong.
pub(super) struct Bucket {
    governor: governor::RateLimiter<NotKeyed, FullAt, ManualClock>,
    full_at: FullAt,
    rate: BucketRate,
}

/// Why units cannot be taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    /// They can be taken after this time.
    For(Duration),
    /// They can never be taken: they are more than the burst.
    Ever,
}

/// The last time passed in, in nanoseconds.
#[derive(Debug, Default)]
struct ManualClock(AtomicU64);

/// When the bucket will be full again, in nanoseconds; any past time if it is full.
#[derive(Clone, Debug, Default)]
struct FullAt(Arc<AtomicU64>);

impl Clock for ManualClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.load(Ordering::Relaxed).into()
    }
}

impl StateStore for FullAt {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _key: &NotKeyed, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        // No other thread can write in between: callers have exclusive access to the bucket.
        let (answer, full_at) = decide(Some(self.0.load(Ordering::Relaxed).into()))?;
        self.0.store(full_at.as_u64(), Ordering::Relaxed);
        Ok(answer)
    }
}

impl Bucket {
    /// The latest time, 146 years. Later times count as this one, so that no sum of two times overflows.
    const LATEST: u64 = u64::MAX / 4;

    /// The longest time that an overdrawn bucket may take to refill, in nanoseconds: a day.
    const DEEPEST: u64 = 86_400_000_000_000;

    /// A full bucket.
    pub(super) fn new(rate: BucketRate) -> Self {
        let full_at = FullAt::default();
        // The interval is never zero, which is the only error of `with_period`.
        let quota = Quota::with_period(rate.interval())
            .unwrap_or(Quota::per_minute(rate.per_minute))
            .allow_burst(rate.burst);
        Self {
            governor: governor::RateLimiter::new(quota, full_at.clone(), ManualClock::default()),
            full_at,
            rate,
        }
    }

    /// Takes `units`, or returns why not.
    pub(super) fn take(&mut self, units: NonZeroU32, now: Duration) -> Result<(), NoRoom> {
        let now = Nanos::from(self.set_clock(now));
        // `governor` checks and takes in one step, so a rejected request leaves no trace.
        match self.governor.check_n(units) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(later)) => Err(NoRoom::For(
                later.earliest_possible().duration_since(now).into(),
            )),
            Err(governor::InsufficientCapacity(_burst)) => Err(NoRoom::Ever),
        }
    }

    /// Gives `units` back, never more than the bucket can contain.
    pub(super) fn put_back(&mut self, units: u32) {
        // An earlier full time means more units now. Below the current time the bucket is simply full.
        let sooner = self.time_of(units);
        let full_at = self.full_at.0.load(Ordering::Relaxed);
        self.full_at
            .0
            .store(full_at.saturating_sub(sooner), Ordering::Relaxed);
    }

    /// Takes `units` even if the bucket contains fewer; the next requests wait for the difference. A debt of more than
    /// a day is cut.
    pub(super) fn overdraw(&mut self, units: u32, now: Duration) {
        let now = self.set_clock(now);
        // A full bucket has a full time in the past; the debt must count from now.
        let full_at = self.full_at.0.load(Ordering::Relaxed).max(now);
        let later = full_at.saturating_add(self.time_of(units));
        // An existing deeper debt stays as it is: the cut must not forgive it early.
        let latest = now.saturating_add(Self::DEEPEST).max(full_at);
        self.full_at.0.store(later.min(latest), Ordering::Relaxed);
    }

    /// How many units are left at `now`.
    pub(super) fn left(&self, now: Duration) -> u32 {
        let interval = self.time_of(1).max(1);
        let missing = self
            .full_at
            .0
            .load(Ordering::Relaxed)
            .saturating_sub(nanos(now))
            // Rounded up: a unit that is only partly refilled cannot be taken.
            .div_ceil(interval);
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        self.rate.burst.get().saturating_sub(missing)
    }

    /// The largest number of units that can be taken at once.
    pub(super) fn burst(&self) -> u32 {
        self.rate.burst.get()
    }

    /// The time in which `units` units refill, in nanoseconds.
    fn time_of(&self, units: u32) -> u64 {
        nanos(self.rate.interval()).saturating_mul(u64::from(units))
    }

    /// Sets the clock. It never goes backwards.
    fn set_clock(&self, now: Duration) -> u64 {
        let now = nanos(now);
        self.governor
            .clock()
            .0
            .fetch_max(now, Ordering::Relaxed)
            .max(now)
    }
}

/// A time in nanoseconds, up to [`Bucket::LATEST`].
fn nanos(moment: Duration) -> u64 {
    u64::try_from(moment.as_nanos()).map_or(Bucket::LATEST, |nanos| nanos.min(Bucket::LATEST))
}

#[cfg(test)]
mod tests;
