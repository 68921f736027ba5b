//! Resident AI assistants: one feature per Dormouse crate, and a builder that wires the defaults.
//!
//! Layer 5: every module below is another crate under its short name. [`Resident`] runs an assistant in a data folder,
//! with the event log and the memory on redb, the sandbox world and a chat model. For another log, world or model, use
//! [`engine`] with other [`engine::Ports`].
//!
//! Stability: follows the crates it re-exports.

#[cfg(feature = "resident")]
mod continuity;
#[cfg(feature = "resident")]
mod resident;
#[cfg(feature = "resident")]
mod senses;
mod system;

#[cfg(feature = "resident")]
pub use continuity::{ContinuityError, WorldContinuity, check_world, resident_id};
#[cfg(feature = "cassettes")]
pub use dormouse_cassettes as cassettes;
#[cfg(feature = "classify")]
pub use dormouse_classify as classify;
pub use dormouse_contracts as contracts;
#[cfg(feature = "dialects")]
pub use dormouse_dialects as dialects;
#[cfg(feature = "engine")]
pub use dormouse_engine as engine;
#[cfg(feature = "memory")]
pub use dormouse_entities as entities;
#[cfg(feature = "memory")]
pub use dormouse_memory as memory;
#[cfg(feature = "offline")]
pub use dormouse_offline as offline;
#[cfg(feature = "providers")]
pub use dormouse_providers as providers;
#[cfg(feature = "resilience")]
pub use dormouse_resilience as resilience;
#[cfg(feature = "memory")]
pub use dormouse_retrieval as retrieval;
#[cfg(feature = "sandbox")]
pub use dormouse_sandbox as sandbox;
#[cfg(feature = "store")]
pub use dormouse_store as store;
#[cfg(feature = "tools")]
pub use dormouse_tools as tools;
#[cfg(feature = "memory")]
pub use dormouse_vectors as vectors;
#[cfg(feature = "resident")]
pub use resident::{Resident, ResidentBuilder, ResidentError};
pub use system::{SystemClock, SystemRandom};

#[cfg(all(doctest, feature = "resident"))]
#[doc = include_str!("../README.md")]
struct Readme;
