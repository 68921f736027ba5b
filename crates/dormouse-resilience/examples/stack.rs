//! The whole stack around a bakery that is slow, then closed, then asks for patience: a minute in a moment, since the
//! clock is paused and jumps from one event to the next.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{cell::Cell, error::Error, time::Duration};

use dormouse_resilience::{
    BulkheadPolicy, CallError, Guard, Health, HealthBoard, Judgement, RateLimit, RetryPolicy,
    Verdict,
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
}

/// May this order succeed later? And is the bakery ill?
fn judge(error: &BakeryError) -> Judgement {
    let (verdict, health) = match error {
        BakeryError::Closed => (Verdict::Retry, Health::Ill),
        BakeryError::Patience(pause) => (Verdict::RetryAfter(*pause), Health::Irrelevant),
        BakeryError::NoSuchCake => (Verdict::GiveUp, Health::Irrelevant),
    };
    Judgement { verdict, health }
}

/// What the bakery does with an order, by the time since it opened its doors.
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
        .overall_deadline(20 * SECOND)
        .retry(RetryPolicy::try_new(3, SECOND, 2.0, 4 * SECOND)?)
        .bulkhead(BulkheadPolicy::try_new(2, 4)?)
        .rate_limit(RateLimit::as_told().try_with_requests(60, 3)?)
        .attempt_deadline(2 * SECOND)
        .build())
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let (board, guard, opened) = (HealthBoard::new(), guard()?, Instant::now());
    board.watch(&guard);
    for order in 1..=8 {
        let asked = Cell::new(0);
        // A program draws the jitter; the same number each time makes the example the same each time.
        let call = guard.call(1, || 0.5, judge, || bake(opened.elapsed(), &asked));
        let answer = call.await;
        let (at, asked) = (opened.elapsed().as_secs_f32(), asked.get());
        match &answer {
            Ok(cake) => println!("{at:>5.1} s  order {order}: {cake}, at request {asked}"),
            Err(error) => println!("{at:>5.1} s  order {order}: {error}"),
        }
        for health in board.report() {
            println!("         {health}");
        }
        let pause = match answer {
            Err(CallError::Open(open)) => open.retry_in.unwrap_or(SECOND),
            Ok(_) | Err(_) => 3 * SECOND,
        };
        sleep(pause).await;
    }
    Ok(())
}
