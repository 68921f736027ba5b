//! The state of one service.

use std::{fmt, time::Duration};

use crate::{CircuitHealth, CircuitState, Level, LimitHealth};

/// How a guarded service is. Its `Display` is one line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceHealth {
    /// Its name, whether it is called, why not, since when, when next, and how many failures count.
    pub circuit: CircuitHealth,
    /// How many calls are under way.
    pub under_way: u32,
    /// How many calls wait to be let through.
    pub waiting: u32,
    /// The state of its rate limit; `None` if it has none.
    pub limit: Option<LimitHealth>,
    /// How many retries its budget has left; `None` if it has none.
    pub retries_left: Option<u32>,
}

impl ServiceHealth {
    /// That of a service that is guarded by a breaker and nothing else.
    pub(super) fn of_circuit(circuit: CircuitHealth) -> Self {
        Self {
            circuit,
            under_way: 0,
            waiting: 0,
            limit: None,
            retries_left: None,
        }
    }

    /// Which service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.circuit.name
    }

    /// When the next call may be let through, zero for now; `None` where no time but an event decides. The later of what
    /// the breaker and a pause of the rate limit say.
    #[must_use]
    pub fn next_try(&self) -> Option<Duration> {
        let paused_for = self.limit.map_or(Duration::ZERO, |limit| limit.paused_for);
        self.circuit.retry_in.map(|time| time.max(paused_for))
    }

    /// Are calls let through without anything being the matter?
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.circuit.state == CircuitState::Closed && self.next_try() == Some(Duration::ZERO)
    }
}

impl fmt::Display for ServiceHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let circuit = &self.circuit;
        let lasted = circuit.lasted.as_secs();
        write!(
            f,
            "{}: circuit {} for {lasted}s",
            circuit.name, circuit.state
        )?;
        if let Some(reason) = circuit.reason {
            write!(f, ", because {reason}")?;
        }
        match circuit.retry_in {
            Some(Duration::ZERO) => {}
            Some(time) => write!(f, ", tried again in {:?}", whole(time))?,
            None => f.write_str(", until that changes")?,
        }
        match circuit.failures {
            0 => {}
            1 => f.write_str("; 1 failure counts")?,
            failures => write!(f, "; {failures} failures count")?,
        }
        write!(
            f,
            "; {} under way, {} waiting",
            self.under_way, self.waiting
        )?;
        if let Some(limit) = self.limit {
            levels(f, limit)?;
        }
        match self.retries_left {
            Some(retries) => write!(f, "; {retries} retries left"),
            None => Ok(()),
        }
    }
}

fn levels(f: &mut fmt::Formatter<'_>, limit: LimitHealth) -> fmt::Result {
    if !limit.paused_for.is_zero() {
        write!(f, "; asked to pause for {:?}", whole(limit.paused_for))?;
    }
    for (what, level) in [("requests", limit.requests), ("units", limit.units)] {
        if let Some(Level { left, of }) = level {
            write!(f, "; {left} of {of} {what} left")?;
        }
    }
    Ok(())
}

/// Rounded up to whole seconds, or milliseconds for less than one.
fn whole(time: Duration) -> Duration {
    let up_to = |unit: u128| time.as_nanos().div_ceil(unit) * unit;
    let nanos = if time < Duration::from_secs(1) {
        up_to(1_000_000)
    } else {
        up_to(1_000_000_000)
    };
    u64::try_from(nanos).map_or(time, Duration::from_nanos)
}
