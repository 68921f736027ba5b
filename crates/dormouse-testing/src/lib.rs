//! Fakes, a virtual clock, a scripted model, fault injection and conformance suites for the ports of Dormouse.
//!
//! To test code that *uses* a port, use the port's fake: the test decides how the fake answers and fails, and
//! afterwards reads the requests that the fake received. To test an *implementation* of a port, await its suite in
//! [`conformance`].
//!
//! The fakes need no runtime, no clock and no randomness. A clone of a fake is another handle to the same state, so
//! code that a test drops and starts again finds the same log and world. A test can make every fake fail, in the ways
//! that the fake's port allows.
//!
//! This crate is a dev-dependency only. It panics if a test uses it wrongly.
//!
//! Stability: follows `dormouse-contracts`. A suite may gain checks of promises that its port already makes.
#![expect(
    clippy::unwrap_used,
    reason = "test support: a wrong test panics where it is wrong"
)]

mod clock;
pub mod conformance;
mod effort;
mod embedder;
mod embedding_server;
mod fault;
mod gate;
mod log;
mod model;
mod perception;
mod random;
mod senses;
mod tokens;
mod world;

pub use clock::ManualClock;
pub use effort::effort;
pub use embedder::{EmbedFault, HashedEmbedder};
pub use embedding_server::embedding_server;
pub use gate::Gate;
pub use log::MemoryLog;
pub use model::{ScriptError, ScriptedModel, ScriptedTurn, Violation};
pub use perception::Perceive;
pub use random::{FixedRandom, SeededRandom};
pub use senses::FakeSenses;
pub use tokens::CountTokens;
pub use world::{Behaviour, FakeWorld};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
