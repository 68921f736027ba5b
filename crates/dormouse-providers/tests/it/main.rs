//! The OpenAI-compatible model against a server on this machine that answers with bytes written down here.
#![cfg(feature = "openai")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the lints know tests from their attribute; these are also the functions tests share"
)]

mod cancelling;
mod failing;
mod replying;
mod server;
