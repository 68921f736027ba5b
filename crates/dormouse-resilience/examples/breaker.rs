//! A service that is down is called five times, then not for a while, and again once it is up.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, time::Duration};

use dormouse_resilience::{BreakerError, BreakerPolicy, CircuitBreaker, Health};

#[derive(Debug, thiserror::Error)]
#[error("the post office is closed")]
struct Closed;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let policy = BreakerPolicy::service()
        .try_with_cooldown(Duration::from_millis(50), Duration::from_millis(200))?;
    let breaker = CircuitBreaker::new("post office", policy);
    let mut visits = 0;
    for letter in 1..=12 {
        let visit = async {
            visits += 1;
            if visits <= 5 { Err(Closed) } else { Ok(()) }
        };
        match breaker.guard(|_: &Closed| Health::Unhealthy, visit).await {
            Ok(()) => println!("letter {letter}: posted"),
            Err(BreakerError::Failed(error)) => println!("letter {letter}: {error}"),
            Err(BreakerError::Open(open)) => {
                println!("letter {letter}: {open}");
                tokio::time::sleep(open.retry_in.unwrap_or_default()).await;
            }
        }
    }
    let health = breaker.health();
    println!("{} is {} after {visits} visits", health.name, health.state);
    Ok(())
}
