//! One kind of thing that is limited: what was configured beside what the service told.

use std::{num::NonZeroU32, time::Duration};

use super::{
    bucket::{Bucket, NoRoom},
    health::Level,
    policy::Rate,
    told::{Quota, Refill, Told},
};

/// What is left of one kind of thing.
pub(super) struct Gauge {
    own: Option<Bucket>,
    told: Option<Told>,
    refill: Refill,
}

impl Gauge {
    pub(super) fn new(rate: Option<Rate>) -> Self {
        Self {
            own: rate.map(Bucket::new),
            told: None,
            refill: Refill::default(),
        }
    }

    /// Takes so many out of what was configured, or tells how long until they fit into that and into what the service
    /// told. Then nothing is taken.
    pub(super) fn hold(&mut self, count: u32, now: Duration) -> Result<(), Duration> {
        let held = match (&mut self.own, NonZeroU32::new(count)) {
            (Some(own), Some(count)) => own.take(count, now),
            (None, _) | (_, None) => Ok(()),
        };
        let told = self.told.filter(|told| !told.is_over(now));
        let told = told.map_or(Duration::ZERO, |told| told.wait(count.into(), now));
        match held {
            Ok(()) if told.is_zero() => Ok(()),
            Ok(()) => {
                self.put_back(count);
                Err(told)
            }
            Err(NoRoom::For(wait)) => Err(wait.max(told)),
            // Asked before, where it is an error of its own.
            Err(NoRoom::Ever) => Err(Duration::MAX),
        }
    }

    /// Takes what is held out of what the service told as well: it gets through.
    pub(super) fn pass(&mut self, count: u32, now: Duration) {
        self.told = self.told.filter(|told| !told.is_over(now));
        if let Some(told) = &mut self.told {
            told.take(count.into(), now);
        }
    }

    /// Puts so many back into what was configured.
    pub(super) fn put_back(&mut self, count: u32) {
        if let Some(own) = &mut self.own {
            own.put_back(count);
        }
    }

    /// Takes so many more out of what was configured, whether there are as many or not.
    pub(super) fn overdraw(&mut self, count: u32, now: Duration) {
        if let Some(own) = &mut self.own {
            own.overdraw(count, now);
        }
    }

    /// Takes in what the service told; nothing if that means nothing.
    pub(super) fn observe(&mut self, quota: Option<Quota>, now: Duration) {
        let Some(quota) = quota else { return };
        self.refill = self.refill.learn(quota);
        if let Some(told) = Told::new(quota, self.refill, now) {
            self.told = Some(told);
        }
    }

    /// Forgets what the service told.
    pub(super) fn forget(&mut self) {
        self.told = None;
        self.refill = Refill::default();
    }

    /// The stricter of what was configured and what the service told.
    pub(super) fn read(&self, now: Duration) -> Option<Level> {
        let own = self.own.as_ref().map(|own| Level {
            left: own.left(now).into(),
            of: own.burst().into(),
        });
        let told = self.told.filter(|told| !told.is_over(now));
        let told = told.map(|told| Level {
            left: told.left(now),
            of: told.limit(),
        });
        own.into_iter().chain(told).min_by_key(|level| level.left)
    }
}
