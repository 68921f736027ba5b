//! Fakes, a virtual clock, a scripted model, fault injection and conformance suites for the ports of Dormouse.
//!
//! Two kinds of readers: whoever tests something that *uses* a port takes a fake, decides what it answers and how it
//! fails, and asks it afterwards what it saw; whoever *implements* a port awaits its suite in [`conformance`].
//!
//! The fakes need no runtime, no time and no chance: each is a handle to shared state, and a clone is another handle to
//! the same state, so that what a test drops and starts again finds the log and the world it left behind. All of them
//! break on request, in the ways their ports say that they may.
//!
//! This crate is a dev-dependency only, and panics freely: a wrong test is told so where it is wrong.
//!
//! Stability: follows `dormouse-contracts`. A suite may gain checks of what a port has always promised.
#![expect(
    clippy::unwrap_used,
    reason = "test support: what a test got wrong is told to it by a panic"
)]

mod chance;
mod clock;
pub mod conformance;
mod embedder;
mod fault;
mod gate;
mod log;
mod model;
mod perception;
mod tokens;
mod world;

pub use chance::{FixedChance, SeededChance};
pub use clock::ManualClock;
pub use embedder::{EmbedTrouble, HashedEmbedder, embedding_server};
pub use gate::Gate;
pub use log::MemoryLog;
pub use model::{ScriptError, ScriptedModel, ScriptedTurn, Violation};
pub use perception::Perceive;
pub use tokens::CountTokens;
pub use world::{Behaviour, FakeWorld};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
