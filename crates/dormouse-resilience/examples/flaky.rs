//! Retries an operation that fails twice until it succeeds, all within one deadline.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, future::ready, time::Duration};

use dormouse_resilience::{RetryPolicy, RetryVerdict, deadline, retry};

#[derive(Debug, thiserror::Error)]
#[error("the kettle is not boiling yet")]
struct NotYet;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let policy =
        RetryPolicy::try_new(4, Duration::from_millis(20), 2.0, Duration::from_millis(50))?;
    let mut looks = 0;
    let tea = retry(
        &policy,
        || 0.5, // A real program draws a random number; a fixed one makes the output repeatable.
        |_: &NotYet| RetryVerdict::Retry,
        || {
            looks += 1;
            println!("look {looks}");
            ready(if looks < 3 { Err(NotYet) } else { Ok("tea") })
        },
    );
    println!("{}", deadline(Duration::from_secs(5), tea).await??);
    Ok(())
}
