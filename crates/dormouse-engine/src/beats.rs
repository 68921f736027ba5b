//! Ticks that do nothing, counted without a timer.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{gate::Skip, status::Skipped};

/// Counts the ticks of an assistant that has a reason to do nothing. They come at the tick rate. No timer is needed:
/// their number follows from the time that has passed.
#[derive(Debug)]
pub(crate) struct Beats(Mutex<Counted>);

#[derive(Clone, Copy, Debug)]
struct Counted {
    start: Instant,
    rate: Duration,
    /// How many ticks since the start were counted so far.
    ticks: u128,
    skipped: Skipped,
    /// Why ticks do nothing at the moment.
    reason: Skip,
}

impl Beats {
    /// Begins to count now.
    pub(crate) fn new(rate: Duration) -> Self {
        Self(Mutex::new(Counted {
            start: Instant::now(),
            rate,
            ticks: 0,
            skipped: Skipped::default(),
            reason: Skip::Idle,
        }))
    }

    /// From now on, ticks do nothing for this reason.
    pub(crate) fn skip_for(&self, reason: Skip) {
        let mut counted = self.counted();
        counted.count(Instant::now());
        counted.reason = reason;
    }

    /// From now on, ticks come at this rate.
    pub(crate) fn come_at(&self, rate: Duration) {
        let mut counted = self.counted();
        let now = Instant::now();
        counted.count(now);
        (counted.start, counted.rate, counted.ticks) = (now, rate, 0);
    }

    /// How many did nothing until now, by reason.
    pub(crate) fn skipped(&self) -> Skipped {
        let mut counted = self.counted();
        counted.count(Instant::now());
        counted.skipped
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn count(&mut self, now: Instant) {
        let lasted = now.saturating_duration_since(self.start);
        let came = lasted
            .as_nanos()
            .checked_div(self.rate.as_nanos())
            .unwrap_or(self.ticks);
        let new = u64::try_from(came.saturating_sub(self.ticks)).unwrap_or(u64::MAX);
        self.ticks = came;
        self.skipped.count(self.reason, new);
    }
}
