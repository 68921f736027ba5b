//! Holds a call until a test lets it continue.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// Holds a fake in the middle of a call until the test opens the gate. Meanwhile, the test can do something else:
/// deliver a message while the model thinks, or stop the assistant. A gate needs no sleep and works on any runtime.
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

    /// Opens the gate, for calls that wait now and for later ones.
    pub fn open(&self) {
        let mut state = self.state();
        state.open = true;
        wake(state);
    }

    /// Waits until a call has reached the gate. From then on, the fake is in the middle of that call. Dropping the
    /// future is harmless.
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

/// Wakes everyone who waits. The lock is released first, because a waker may poll at once.
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
