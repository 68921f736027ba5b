//! The time, read in the one place that may.

use std::time::{SystemTime, UNIX_EPOCH};

use dormouse_contracts::{Clock, Timestamp};

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "the adapter behind the clock port"
        )]
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock set before 1970 is wrong anyway; the log keeps what was read.
        Timestamp::EPOCH.plus(since.unwrap_or_default())
    }
}
