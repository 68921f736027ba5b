//! A time limit for a future.

use std::{future::Future, time::Duration};

/// A future was dropped because it exceeded its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not done within {limit:?}")]
pub struct DeadlineExceeded {
    /// The time limit.
    pub limit: Duration,
}

/// Runs `future` for at most `limit`.
///
/// A future that is not ready by then is dropped, which cancels it at its current await point; effects that it has
/// started outside this process may still happen. A future that is ready at once succeeds even with a limit of zero. A
/// future that never yields cannot be interrupted. Dropping the returned future drops `future`.
///
/// # Errors
///
/// [`DeadlineExceeded`] if the future was not ready in time.
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// # use dormouse_resilience::{DeadlineExceeded, deadline};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let limit = Duration::from_millis(10);
/// let never = std::future::pending::<()>();
/// assert_eq!(deadline(limit, never).await, Err(DeadlineExceeded { limit }));
/// # }
/// ```
pub async fn deadline<T>(
    limit: Duration,
    future: impl Future<Output = T>,
) -> Result<T, DeadlineExceeded> {
    match tokio::time::timeout(limit, future).await {
        Ok(output) => Ok(output),
        Err(tokio::time::error::Elapsed { .. }) => Err(DeadlineExceeded { limit }),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::{Instant, sleep};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_result_in_time_is_returned_and_no_call_exceeds_the_deadline() {
        let begun = Instant::now();
        assert_eq!(deadline(2 * SECOND, sleep(SECOND)).await, Ok(()));
        assert_eq!(begun.elapsed(), SECOND);
        let late = deadline(2 * SECOND, pending::<()>()).await;
        assert_eq!(late, Err(DeadlineExceeded { limit: 2 * SECOND }));
        assert_eq!(begun.elapsed(), 3 * SECOND);
        assert_eq!(late.unwrap_err().to_string(), "not done within 2s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_ready_future_needs_no_time() {
        assert_eq!(deadline(Duration::ZERO, ready(7)).await, Ok(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_future_is_dropped() {
        let held = std::sync::Arc::new(());
        let inside = held.clone();
        let late = deadline(SECOND, async move {
            pending::<()>().await;
            drop(inside);
        });
        assert!(late.await.is_err());
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
    }
}
