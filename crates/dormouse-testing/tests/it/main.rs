//! The suites pass on the fakes, and catch implementations that break a promise.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what it expects by a panic, also in the functions it calls"
)]

mod adapters;
mod logs;
mod models;
mod senses;
mod tool_sources;
mod worlds;

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

/// The error that a suite reports; `None` if it passes.
async fn complaint(suite: impl Future<Output = ()>) -> Option<String> {
    let panic = AssertUnwindSafe(suite).catch_unwind().await.err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned()))
}
