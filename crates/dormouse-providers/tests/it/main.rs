//! Models and text encoders against servers on this machine that answer with what is written down here.
#![cfg(feature = "openai")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the lints know tests from their attribute; these are also the functions tests share"
)]

mod anthropic;
mod cancelling;
mod conforming;
mod double;
mod embedding;
mod failing;
mod listing;
mod matrix;
mod money;
mod ollama;
mod openrouter;
mod recording;
mod replying;
mod responses;
mod secrets;
mod server;
mod unsupported_fields;
