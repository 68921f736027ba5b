//! What this process takes of the processor.

use std::time::Duration;

/// The processor time that this process has used; zero where that cannot be known.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    use nix::sys::{
        resource::{UsageWho, getrusage},
        time::TimeVal,
    };
    let used = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let part = |time: TimeVal| {
        let micros = time.tv_sec() * 1_000_000 + time.tv_usec();
        Duration::from_micros(micros.unsigned_abs())
    };
    part(used.user_time()) + part(used.system_time())
}

#[cfg(not(unix))]
pub(crate) fn processor_time() -> Duration {
    Duration::ZERO
}
