//! The health of one service.

use std::{fmt, time::Duration};

use crate::{CircuitHealth, CircuitState, Level, LimitHealth};

/// The health of a guarded service. Displays as one line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceHealth {
    /// The state of the circuit: whether calls are admitted and since when, why they are rejected, when the next one is
    /// admitted, and how many failures count.
    pub circuit: CircuitHealth,
    /// The number of calls in progress.
    pub under_way: u32,
    /// The number of calls waiting for admission.
    pub waiting: u32,
    /// The state of the rate limit; `None` without one.
    pub limit: Option<LimitHealth>,
    /// The retries left in the budget; `None` without one.
    pub retries_left: Option<u32>,
}

impl ServiceHealth {
    /// The health of a service with a breaker only.
    pub(super) fn of_circuit(circuit: CircuitHealth) -> Self {
        Self {
            circuit,
            under_way: 0,
            waiting: 0,
            limit: None,
            retries_left: None,
        }
    }

    /// The name of the service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.circuit.name
    }

    /// How long until the next call may be admitted; zero if it may be admitted now. `None` if the end depends on an
    /// event, not on time. This is the later of two times: the breaker's next try, and the end of the rate limit's
    /// pause.
    #[must_use]
    pub fn next_try(&self) -> Option<Duration> {
        let paused_for = self.limit.map_or(Duration::ZERO, |limit| limit.paused_for);
        self.circuit.retry_in.map(|time| time.max(paused_for))
    }

    /// Whether calls are admitted without any restriction.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
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
            Some(time) => write!(f, ", next try in {:?}", whole(time))?,
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

/// Rounds up to whole seconds, or to milliseconds below one second.
fn whole(time: Duration) -> Duration {
    let up_to = |unit: u128| time.as_nanos().div_ceil(unit) * unit;
    let nanos = if time < Duration::from_secs(1) {
        up_to(1_000_000)
    } else {
        up_to(1_000_000_000)
    };
    u64::try_from(nanos).map_or(time, Duration::from_nanos)
}
