//! What the whole promises: the real program over a real folder, and assistants against servers that were not written for this project.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test tells what it got wrong by a panic"
)]

mod account;
mod described;
mod forgetting;
mod host;
mod house;
mod kill;
mod many;
mod mcp;
mod mcp_servers;
mod memory;
mod overhearing;
mod pages;
mod peers;
mod providers_anthropic;
mod providers_ollama;
mod providers_openai;
mod recording;
mod replay;
mod service;
mod spans;
mod world;
