//! One limited quantity: the configured limit and the limit that the service reported.

use std::{num::NonZeroU32, time::Duration};

use super::{
    bucket::{Bucket, NoRoom},
    health::Level,
    policy::BucketRate,
    reported::{Quota, Refill, ReportedLimit},
};

/// What is left of one limited quantity.
pub(super) struct Gauge {
    own: Option<Bucket>,
    reported: Option<ReportedLimit>,
    refill: Refill,
}

impl Gauge {
    pub(super) fn new(rate: Option<BucketRate>) -> Self {
        Self {
            own: rate.map(Bucket::new),
            reported: None,
            refill: Refill::default(),
        }
    }

    /// Takes `count` from the configured limit, or returns how long until both the configured and the reported limit
    /// allow it. In that case nothing is taken.
    pub(super) fn hold(&mut self, count: u32, now: Duration) -> Result<(), Duration> {
        // The bucket is tried even if the reported limit refuses, because the longer of the two waits counts.
        let held = match (&mut self.own, NonZeroU32::new(count)) {
            (Some(own), Some(count)) => own.take(count, now),
            (None, _) | (_, None) => Ok(()),
        };
        // After the reset, the reported limit is no longer valid.
        let reported = self.reported.filter(|reported| !reported.is_over(now));
        let reported = reported.map_or(Duration::ZERO, |reported| reported.wait(count.into(), now));
        match held {
            Ok(()) if reported.is_zero() => Ok(()),
            Ok(()) => {
                // The configured limit allowed the request, but the reported one did not, so `count` is given back.
                self.put_back(count);
                Err(reported)
            }
            Err(NoRoom::For(wait)) => Err(wait.max(reported)),
            // This does not occur, because `RateLimit::fits_ever` has already rejected such a request.
            Err(NoRoom::Ever) => Err(Duration::MAX),
        }
    }

    /// Admits the request: takes `count` from the reported limit, as [`hold`](Self::hold) did from the configured one.
    pub(super) fn pass(&mut self, count: u32, now: Duration) {
        self.reported = self.reported.filter(|reported| !reported.is_over(now));
        if let Some(reported) = &mut self.reported {
            reported.take(count.into(), now);
        }
    }

    /// Gives `count` back to the configured limit.
    pub(super) fn put_back(&mut self, count: u32) {
        if let Some(own) = &mut self.own {
            own.put_back(count);
        }
    }

    /// Takes `count` from the configured limit, even if fewer are left.
    pub(super) fn overdraw(&mut self, count: u32, now: Duration) {
        if let Some(own) = &mut self.own {
            own.overdraw(count, now);
        }
    }

    /// Applies the reported quota, if it contains any information.
    pub(super) fn observe(&mut self, quota: Option<Quota>, now: Duration) {
        let Some(quota) = quota else { return };
        self.refill = self.refill.learn(quota);
        if let Some(reported) = ReportedLimit::new(quota, self.refill, now) {
            self.reported = Some(reported);
        }
    }

    /// Forgets the reported limit.
    pub(super) fn forget(&mut self) {
        self.reported = None;
        self.refill = Refill::default();
    }

    /// The stricter of the configured and the reported limit.
    pub(super) fn read(&self, now: Duration) -> Option<Level> {
        let own = self.own.as_ref().map(|own| Level {
            left: own.left(now).into(),
            of: own.burst().into(),
        });
        let reported = self.reported.filter(|reported| !reported.is_over(now));
        let reported = reported.map(|reported| Level {
            left: reported.left(now),
            of: reported.limit(),
        });
        own.into_iter()
            .chain(reported)
            .min_by_key(|level| level.left)
    }
}
