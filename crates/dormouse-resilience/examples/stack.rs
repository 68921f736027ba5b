//! The whole stack around a bakery that is slow, then closed, then asks for a pause. The example simulates a minute but
//! takes only a moment, because the clock is paused and jumps from one event to the next.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{cell::Cell, error::Error, time::Duration};

use dormouse_resilience::{
    BulkheadPolicy, Exhausted, Guard, Health, HealthBoard, NotAttempted, RateLimit, RetryPolicy,
    RetryVerdict, deadline, retry,
};
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
enum BakeryError {
    #[error("the bakery is closed")]
    Closed,
    #[error("the bakers ask for patience")]
    Patience(Duration),
    #[error("there is no such cake")]
    NoSuchCake,
    #[error("the bakery does not answer")]
    Silent,
    #[error(transparent)]
    Refused(#[from] NotAttempted),
}

/// Whether this order may succeed later.
fn verdict(error: &BakeryError) -> RetryVerdict {
    match error {
        BakeryError::Closed | BakeryError::Silent => RetryVerdict::Retry,
        BakeryError::Patience(pause) => RetryVerdict::RetryAfter(*pause),
        BakeryError::NoSuchCake | BakeryError::Refused(_) => RetryVerdict::GiveUp,
    }
}

/// What the answer says about the bakery itself, as opposed to this one order.
fn health(answer: &Result<&str, BakeryError>) -> Health {
    match answer {
        Ok(_) => Health::Healthy,
        Err(BakeryError::Closed | BakeryError::Silent) => Health::Unhealthy,
        Err(_) => Health::Irrelevant,
    }
}

/// One attempt: admitted, bounded, recorded.
async fn order(
    guard: &Guard,
    opened: Instant,
    asked: &Cell<u32>,
) -> Result<&'static str, BakeryError> {
    let admission = guard.admit(1).await?;
    let answer = deadline(2 * SECOND, bake(opened.elapsed(), asked)).await;
    let answer = answer.unwrap_or(Err(BakeryError::Silent));
    if let Err(BakeryError::Patience(pause)) = &answer {
        admission.pause(*pause);
    }
    admission.record(health(&answer));
    answer
}

/// How the bakery answers an order; depends on the time since the example started.
async fn bake(time: Duration, asked: &Cell<u32>) -> Result<&'static str, BakeryError> {
    asked.set(asked.get() + 1);
    match time.as_secs() {
        0..3 => sleep(SECOND / 2).await,
        3..6 => sleep(60 * SECOND).await,
        6..35 => return Err(BakeryError::Closed),
        43..53 => return Err(BakeryError::Patience(10 * SECOND)),
        35..60 => sleep(SECOND / 5).await,
        _ => return Err(BakeryError::NoSuchCake),
    }
    Ok("cake")
}

fn guard() -> Result<Guard, Box<dyn Error>> {
    Ok(Guard::builder("bakery")
        .bulkhead(BulkheadPolicy::try_new(2, 4)?)
        .rate_limit(RateLimit::reported_only().try_with_requests(60, 3)?)
        .build())
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let (board, guard, opened) = (HealthBoard::new(), guard()?, Instant::now());
    let policy = RetryPolicy::try_new(3, SECOND, 2.0, 4 * SECOND)?;
    board.watch(&guard);
    for number in 1..=8 {
        let asked = Cell::new(0);
        // A real program draws the jitter; a fixed number makes the output repeatable.
        let call = || order(&guard, opened, &asked);
        let answer = retry(&policy, || 0.5, verdict, call).await;
        let (at, asked) = (opened.elapsed().as_secs_f32(), asked.get());
        match &answer {
            Ok(cake) => println!("{at:>5.1} s  order {number}: {cake}, at request {asked}"),
            Err(error) => println!("{at:>5.1} s  order {number}: {error}"),
        }
        for health in board.report() {
            println!("         {health}");
        }
        let pause = match answer {
            Err(Exhausted {
                error: BakeryError::Refused(NotAttempted::Open(open)),
                ..
            }) => open.retry_in.unwrap_or(SECOND),
            Ok(_) | Err(_) => 3 * SECOND,
        };
        sleep(pause).await;
    }
    Ok(())
}
