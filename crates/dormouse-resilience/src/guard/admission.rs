//! A call that was let through.

use std::{sync::atomic::Ordering, time::Duration};

use super::Guard;
use crate::{Health, Observed, Permit, Place};

/// A call that was let through and may be made now. Its end is told with [`Admission::record`].
///
/// Dropping it counts for nothing, as when the caller went away; a trial lets another call be it. In either case its
/// place is free again, and what it took of the rate limit stays taken, since the service counts it too.
#[derive(Debug)]
#[must_use = "how the call ended is told to the admission"]
pub struct Admission {
    guard: Guard,
    permit: Option<Permit>,
    _place: Option<Place>,
    units: u32,
}

impl Admission {
    pub(super) fn new(guard: Guard, permit: Permit, place: Option<Place>, units: u32) -> Self {
        guard.shared.under_way.fetch_add(1, Ordering::Relaxed);
        Self {
            guard,
            permit: Some(permit),
            _place: place,
            units,
        }
    }

    /// Is it the one call that tries whether the service is well again?
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.permit.as_ref().is_some_and(Permit::is_trial)
    }

    /// Corrects the estimate it was let through with. May be told again when more is known; the last one counts.
    pub fn settle(&mut self, actual_units: u32) {
        self.guard.settle(self.units, actual_units);
        self.units = actual_units;
    }

    /// Lets nobody through for so long, because the service asked for it. To be told before [`Admission::record`], which
    /// lets the next one in.
    pub fn pause(&self, pause: Duration) {
        self.guard.pause(pause);
    }

    /// Takes in what the service told of its limits.
    pub fn observe(&self, observed: Observed) {
        self.guard.observe(observed);
    }

    /// The guard that let it through.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Takes in how the call ended.
    pub fn record(mut self, health: Health) {
        if let Some(permit) = self.permit.take() {
            permit.record(health);
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.guard.shared.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}
