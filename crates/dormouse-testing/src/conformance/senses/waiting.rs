//! Checks waiting for the next perception.

use std::{future::poll_fn, pin::pin, task::Poll};

use dormouse_contracts::{Perception, SenseError};
use futures_util::{
    FutureExt,
    future::{Either, join, select},
};

use super::{Checked, numbers_of};

/// How many further calls a wait is given.
const CALLS: usize = 1_000;

impl Checked<'_> {
    pub(super) async fn waits_return_when_something_happens(&self) {
        let observer = &self.fixture.observer;
        let last = self.last().await;
        let there = self.awaited(last - 1).await;
        assert_eq!(
            there.map(|it| numbers_of(&it)),
            Some(vec![last]),
            "a wait for what is there already returns it"
        );
        let mut one = self.senses.await_perceptions(observer, last);
        let mut other = self.senses.await_perceptions(observer, last);
        let given_up = self.senses.await_perceptions(observer, last);
        for wait in [&mut one, &mut other] {
            // Only what another observer perceives happens meanwhile.
            self.happens_to(&self.fixture.another, "not awaited").await;
            let early = self.within_calls(&mut *wait).await;
            assert!(
                early.is_none(),
                "a wait does not return before something happens: {early:?}"
            );
        }
        drop(given_up);
        self.happens("awaited").await;
        let awaited = join(self.within_calls(one), self.within_calls(other)).await;
        for returned in [awaited.0, awaited.1] {
            let returned = returned.map(|it| numbers_of(&it.unwrap()));
            assert_eq!(
                returned,
                Some(vec![last + 1]),
                "every wait returns when something happens, and returns that"
            );
        }
    }

    /// What a wait returns; nothing if it does not return.
    pub(super) async fn awaited(&self, after: u64) -> Option<Vec<Perception>> {
        let observer = &self.fixture.observer;
        let wait = self.senses.await_perceptions(observer, after);
        self.within_calls(wait).await.map(Result::unwrap)
    }

    /// The answer of a wait, if it comes within [`CALLS`] further calls to the world.
    async fn within_calls(
        &self,
        wait: impl Future<Output = Result<Vec<Perception>, SenseError>> + Unpin,
    ) -> Option<Result<Vec<Perception>, SenseError>> {
        let calls = pin!(async {
            for _ in 0..CALLS {
                self.last().await;
                let_others_run().await;
            }
        });
        match select(wait, calls).await {
            Either::Left((answer, _)) => Some(answer),
            // The last call may have caused what the wait was for.
            Either::Right(((), wait)) => wait.now_or_never(),
        }
    }
}

/// Gives the other tasks of the executor a turn.
async fn let_others_run() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
