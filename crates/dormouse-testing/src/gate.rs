//! A moment that a test decides.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// Holds a fake back until the test opens it, so that something else can happen in the meantime: a message that
/// arrives while the model thinks, a stop in the middle of a call. Needs neither a sleep nor a particular runtime.
///
/// A clone is another handle to the same gate. An open gate stays open.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    open: bool,
    reached: bool,
    waiting: Vec<Waker>,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everyone through who waits or will come.
    pub fn open(&self) {
        let mut state = self.state();
        state.open = true;
        wake(state);
    }

    /// Waits until somebody stands before the gate, or has gone through: from here on the fake is in the middle of
    /// its call. Dropping the future is harmless.
    pub async fn reached(&self) {
        poll_fn(|cx| self.poll(cx, |state| state.reached)).await;
    }

    /// Waits until the gate is open. Dropping the future is harmless.
    pub async fn passed(&self) {
        {
            let mut state = self.state();
            state.reached = true;
            wake(state);
        }
        poll_fn(|cx| self.poll(cx, |state| state.open)).await;
    }

    fn poll(&self, cx: &Context<'_>, done: impl Fn(&State) -> bool) -> Poll<()> {
        let mut state = self.state();
        if done(&state) {
            return Poll::Ready(());
        }
        if !state
            .waiting
            .iter()
            .any(|waker| waker.will_wake(cx.waker()))
        {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes everyone who waits, with the lock given back first: a waker may poll at once.
fn wake(mut state: MutexGuard<'_, State>) {
    let waiting = std::mem::take(&mut state.waiting);
    drop(state);
    waiting.into_iter().for_each(Waker::wake);
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, future::join};

    use super::*;

    #[test]
    fn a_closed_gate_holds_and_an_open_one_does_not() {
        let gate = Gate::new();
        assert!(gate.passed().now_or_never().is_none());
        gate.clone().open();
        assert!(gate.passed().now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_test_can_wait_for_the_moment_somebody_waits() {
        let gate = Gate::new();
        let test = async {
            gate.reached().await;
            gate.open();
        };
        join(test, gate.passed()).await;
    }
}
