//! Which services asked for a pause, and until when.

use std::{collections::BTreeMap, time::Duration};

use dormouse_contracts::{ServiceName, Timestamp};
use serde::{Deserialize, Serialize};

/// A longer pause is dropped: it means that the clock was set back.
const LONGEST: Duration = Duration::from_secs(2 * 3_600);

/// A pause in model calls that a service asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The service that asked for it.
    pub by: ServiceName,
    /// Its end.
    pub until: Timestamp,
}

/// The pauses that services asked for. Each applies only to the service that asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pauses(BTreeMap<ServiceName, Timestamp>);

impl Pauses {
    /// Adds a pause that was requested at `now`, and forgets pauses that are over.
    pub(super) fn add(&mut self, pause: Pause, now: Timestamp) {
        self.0.retain(|_, until| *until > now);
        self.0.insert(pause.by, pause.until);
    }

    /// Ends all pauses, because somebody wants all services to be called again.
    pub(super) fn end(&mut self) {
        self.0.clear();
    }

    /// The pauses in force at `now`.
    pub fn at(&self, now: Timestamp) -> impl Iterator<Item = Pause> {
        let holds = move |until: Timestamp| until > now && until.since(now) <= LONGEST;
        let pauses = self.0.iter().filter(move |(_, until)| holds(**until));
        pauses.map(|(by, until)| Pause {
            by: by.clone(),
            until: *until,
        })
    }

    /// The pause that ends first, if each of `services` has one in force at `now`.
    #[must_use]
    pub fn of_all(&self, services: &[ServiceName], now: Timestamp) -> Option<Pause> {
        let pauses = services.iter().map(|service| {
            let mut pauses = self.at(now);
            pauses.find(|pause| pause.by == *service)
        });
        let pauses: Vec<Pause> = pauses.collect::<Option<_>>()?;
        pauses.into_iter().min_by_key(|pause| pause.until)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn service(number: u8) -> ServiceName {
        ServiceName::try_new(format!("service {number}")).unwrap()
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(seconds))
    }

    proptest! {
        #[test]
        fn whoever_has_not_asked_for_a_pause_is_never_bound_by_one(
            asked in prop::collection::vec((0_u8..4, 0_u64..9_000), 0..8),
            services in prop::collection::vec(0_u8..6, 0..5),
            now in 0_u64..9_000,
        ) {
            let mut pauses = Pauses::default();
            for (by, until) in &asked {
                pauses.add(Pause { by: service(*by), until: at(*until) }, Timestamp::EPOCH);
            }
            let services: Vec<_> = services.into_iter().map(service).collect();
            let held = pauses.of_all(&services, at(now));
            let is_free = |service: &ServiceName| pauses.at(at(now)).all(|pause| pause.by != *service);
            prop_assert_eq!(held.is_none(), services.is_empty() || services.iter().any(is_free));
            if let Some(pause) = held {
                prop_assert!(pause.until > at(now) && pause.until <= at(now).plus(LONGEST));
                prop_assert!(services.contains(&pause.by));
            }
        }
    }
}
