//! What the end-to-end tests share: the real program as a child process, servers to talk to, and assistants to host.
//!
//! Everything that waits here has a limit, and every process started here is killed when its owner is dropped. The
//! tests are in `tests/it`, the measurements in `benches/runtime.rs`; `docs/testing.md` says how to run them.
//!
//! Stability: none; this is for the tests of this package.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "test support: a failure ends the test by a panic"
)]

mod cable;
mod child;
mod clock;
mod game;
mod peer;
mod program;
mod resident;
mod tell;
mod workshop;

pub use cable::Cable;
pub use child::{Child, LIMIT};
pub use clock::RunningClock;
pub use game::{Game, Player, test_package};
pub use peer::{
    Peer, Server, chromium, mcp, mcp_in_node, mcp_servers, otlp_collector, schemathesis,
};
pub use program::Program;
pub use resident::Resident;
pub use tell::tell;
pub use workshop::{BLAST, COUNT, WIND, Workshop};
