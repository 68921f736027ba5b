//! Fakes, a virtual clock, a scripted model and conformance suites for the ports of Dormouse.
#![expect(
    clippy::unwrap_used,
    reason = "test support: what a test got wrong is told to it by a panic"
)]

mod chance;
mod clock;
pub mod conformance;
mod fault;
mod gate;
mod log;
mod model;
mod perception;
mod tokens;
mod world;

pub use chance::{FixedChance, SeededChance};
pub use clock::ManualClock;
pub use gate::Gate;
pub use log::MemoryLog;
pub use model::{ScriptError, ScriptedModel, Turn, Violation};
pub use perception::Perceive;
pub use tokens::CountTokens;
pub use world::{Behaviour, FakeWorld};
