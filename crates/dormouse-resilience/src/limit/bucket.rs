//! One bucket, on `governor`.

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

use super::policy::Rate;

/// A bucket that refills evenly, by the generic cell rate algorithm of `governor`.
///
/// The clock and the one number the algorithm keeps are ours: the clock is told the time, and the number, the moment at
/// which the bucket will be full again, can be moved when an estimate turns out wrong.
pub(super) struct Bucket {
    governor: governor::RateLimiter<NotKeyed, FullAt, Told>,
    full_at: FullAt,
    rate: Rate,
}

/// Why something does not fit now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    /// It fits after this time.
    For(Duration),
    /// It never fits: it is more than the burst.
    Ever,
}

/// The time as it was last told, in nanoseconds.
#[derive(Debug, Default)]
struct Told(AtomicU64);

/// When the bucket will be full again, in nanoseconds; any moment of the past if it is full.
#[derive(Clone, Debug, Default)]
struct FullAt(Arc<AtomicU64>);

impl Clock for Told {
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
        // Nobody writes in between: whoever changes the bucket holds it exclusively.
        let (answer, full_at) = decide(Some(self.0.load(Ordering::Relaxed).into()))?;
        self.0.store(full_at.as_u64(), Ordering::Relaxed);
        Ok(answer)
    }
}

impl Bucket {
    /// A moment after which time stands still, so that no sum of times overflows: 146 years.
    const LATEST: u64 = u64::MAX / 4;

    /// No bucket is overdrawn by more than this takes to fill, in nanoseconds: a day.
    const DEEPEST: u64 = 86_400_000_000_000;

    /// A full bucket.
    pub(super) fn new(rate: Rate) -> Self {
        let full_at = FullAt::default();
        // The interval is never zero, which is all that `with_period` checks.
        let quota = Quota::with_period(rate.interval())
            .unwrap_or(Quota::per_minute(rate.per_minute))
            .allow_burst(rate.burst);
        Self {
            governor: governor::RateLimiter::new(quota, full_at.clone(), Told::default()),
            full_at,
            rate,
        }
    }

    /// Takes `units` out, or tells why not.
    pub(super) fn take(&mut self, units: NonZeroU32, now: Duration) -> Result<(), NoRoom> {
        let now = Nanos::from(self.tell(now));
        match self.governor.check_n(units) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(later)) => Err(NoRoom::For(
                later.earliest_possible().duration_since(now).into(),
            )),
            Err(governor::InsufficientCapacity(_burst)) => Err(NoRoom::Ever),
        }
    }

    /// Puts `units` back, never more than fit in.
    pub(super) fn put_back(&mut self, units: u32) {
        let sooner = self.time_of(units);
        let full_at = self.full_at.0.load(Ordering::Relaxed);
        self.full_at
            .0
            .store(full_at.saturating_sub(sooner), Ordering::Relaxed);
    }

    /// Takes `units` out even where there are not as many: who comes next waits for the difference too. A debt of more
    /// than a day is forgiven.
    pub(super) fn overdraw(&mut self, units: u32, now: Duration) {
        let now = self.tell(now);
        let full_at = self.full_at.0.load(Ordering::Relaxed).max(now);
        let later = full_at.saturating_add(self.time_of(units));
        let latest = now.saturating_add(Self::DEEPEST).max(full_at);
        self.full_at.0.store(later.min(latest), Ordering::Relaxed);
    }

    /// How many units could be taken at `now`.
    pub(super) fn left(&self, now: Duration) -> u32 {
        let interval = self.time_of(1).max(1);
        let missing = self
            .full_at
            .0
            .load(Ordering::Relaxed)
            .saturating_sub(nanos(now))
            .div_ceil(interval);
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        self.rate.burst.get().saturating_sub(missing)
    }

    /// The most that can be taken at once.
    pub(super) fn burst(&self) -> u32 {
        self.rate.burst.get()
    }

    /// How long `units` take to refill, in nanoseconds.
    fn time_of(&self, units: u32) -> u64 {
        nanos(self.rate.interval()).saturating_mul(u64::from(units))
    }

    /// Tells the clock the time; one that goes backwards stands still.
    fn tell(&self, now: Duration) -> u64 {
        let now = nanos(now);
        self.governor
            .clock()
            .0
            .fetch_max(now, Ordering::Relaxed)
            .max(now)
    }
}

/// The nanoseconds of a moment, up to [`Bucket::LATEST`].
fn nanos(moment: Duration) -> u64 {
    u64::try_from(moment.as_nanos()).map_or(Bucket::LATEST, |nanos| nanos.min(Bucket::LATEST))
}

#[cfg(test)]
mod tests;
