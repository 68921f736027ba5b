//! An admitted call.

use std::{sync::atomic::Ordering, time::Duration};

use super::Guard;
use crate::{BulkheadPermit, Health, Permit, ReportedLimits};

/// An admitted call, which may be made now. Record its result with [`CallAdmission::record`].
///
/// Dropping it, for example when the caller is cancelled, records nothing; if it was the trial, another call becomes
/// the trial. In either case its place in the bulkhead becomes free. Its units stay charged to the rate limit, because
/// the service counts them too.
#[derive(Debug)]
#[must_use = "the result of the call must be recorded with the admission"]
pub struct CallAdmission {
    guard: Guard,
    permit: Option<Permit>,
    _place: Option<BulkheadPermit>,
    units: u32,
}

impl CallAdmission {
    pub(super) fn new(
        guard: Guard,
        permit: Permit,
        place: Option<BulkheadPermit>,
        units: u32,
    ) -> Self {
        guard.shared.under_way.fetch_add(1, Ordering::Relaxed);
        Self {
            guard,
            permit: Some(permit),
            _place: place,
            units,
        }
    }

    /// Whether this is the trial call that tests whether the service works again.
    #[must_use]
    pub fn is_trial(&self) -> bool {
        self.permit.as_ref().is_some_and(Permit::is_trial)
    }

    /// Corrects the estimated units. Can be called repeatedly; the last value counts.
    pub fn settle(&mut self, actual_units: u32) {
        self.guard.settle(self.units, actual_units);
        self.units = actual_units;
    }

    /// Pauses all calls, because the service asked for it. Call this before [`CallAdmission::record`], which admits the
    /// next call.
    pub fn pause(&self, pause: Duration) {
        self.guard.pause(pause);
    }

    /// Applies the limits that the service reported.
    pub fn observe(&self, observed: ReportedLimits) {
        self.guard.observe(observed);
    }

    /// The guard that admitted the call.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Records the result of the call.
    pub fn record(mut self, health: Health) {
        if let Some(permit) = self.permit.take() {
            permit.record(health);
        }
    }
}

impl Drop for CallAdmission {
    fn drop(&mut self) {
        self.guard.shared.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}
