//! Models and text encoders against servers on this machine that answer with what is written down here.
#![cfg(any(feature = "openai", feature = "candle"))]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the lints know tests from their attribute; these are also the functions tests share"
)]
#![cfg_attr(
    feature = "openai",
    expect(clippy::panic, reason = "the functions that tests share, as above")
)]

#[cfg(feature = "openai")]
mod anthropic;
#[cfg(feature = "openai")]
mod cancelling;
#[cfg(feature = "openai")]
mod conforming;
#[cfg(feature = "openai")]
mod double;
#[cfg(feature = "openai")]
mod embedding;
#[cfg(feature = "openai")]
mod failing;
#[cfg(feature = "openai")]
mod leaving_out;
#[cfg(feature = "openai")]
mod listing;
#[cfg(feature = "candle")]
mod local;
#[cfg(feature = "openai")]
mod matrix;
mod money;
#[cfg(feature = "openai")]
mod ollama;
#[cfg(feature = "openai")]
mod openrouter;
#[cfg(feature = "openai")]
mod replying;
#[cfg(feature = "openai")]
mod responses;
#[cfg(feature = "openai")]
mod secrets;
#[cfg(feature = "openai")]
mod server;
#[cfg(feature = "openai")]
mod taping;
