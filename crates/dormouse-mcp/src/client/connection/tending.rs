//! When a server is ended.

use std::{pin::pin, sync::Arc, time::Duration};

use dormouse_resilience::{CircuitBreaker, Health, deadline};
use tokio::{sync::watch, time::Instant};

use super::{Service, program::Program};

/// How long a server may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// How a server is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uses {
    /// Who uses it at this moment.
    calls: u32,
    /// When the last call ended, or the server began.
    last: Instant,
    /// Whether a call had no answer.
    is_silent: bool,
    is_closed: bool,
}

impl Uses {
    /// One that has just begun, for somebody.
    pub(super) fn first(now: Instant) -> Self {
        Self {
            calls: 1,
            last: now,
            is_silent: false,
            is_closed: false,
        }
    }

    /// Another use, unless the server is to end.
    pub(super) fn begin(&mut self) -> bool {
        let can_begin = !self.ends();
        if can_begin {
            self.calls = self.calls.saturating_add(1);
        }
        can_begin
    }

    pub(super) fn end(&mut self, is_silent: bool, now: Instant) {
        self.calls = self.calls.saturating_sub(1);
        self.last = now;
        self.is_silent |= is_silent;
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn close_idle(&mut self) -> bool {
        self.is_closed |= self.calls == 0;
        self.is_closed
    }

    /// Whether the server is to end. One that left a call without an answer may hang.
    pub(super) fn ends(self) -> bool {
        self.is_closed || (self.calls == 0 && self.is_silent)
    }
}

/// Ends the server when it is idle for so long, does not answer, or nobody can call it any more.
pub(super) async fn tend(
    service: Service,
    program: Option<Program>,
    uses: Arc<watch::Sender<Uses>>,
    mut used: watch::Receiver<Uses>,
    idle_after: Duration,
    circuit: CircuitBreaker,
) {
    let cancel = service.cancellation_token();
    let mut ended = pin!(service.waiting());
    let mut has_ended = false;
    loop {
        let now = *used.borrow_and_update();
        if now.ends() {
            break;
        }
        let idle = async {
            match now.calls {
                0 => tokio::time::sleep_until(now.last + idle_after).await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            _reason = &mut ended => {
                has_ended = true;
                break;
            }
            _changed = used.changed() => {}
            // Unless somebody begins to use it at this moment.
            () = idle => drop(uses.send_if_modified(Uses::close_idle)),
        }
    }
    if has_ended {
        // It ended by itself. It is started again after a pause.
        if let Ok(permit) = circuit.admit() {
            permit.record(Health::Unhealthy);
        }
    } else {
        cancel.cancel();
        // If it does not end in time, it is killed.
        deadline(GRACE, ended).await.ok();
    }
    if let Some(program) = program {
        program.end(GRACE).await;
    }
    // Those who wait for the end are waiting for this.
    drop(used);
}
