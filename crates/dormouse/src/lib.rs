//! Resident AI assistants: one feature per Dormouse crate, and the host that wires them.
//!
//! Layer 6: every module below is another crate under its short name. [`Host`] runs assistants in a data folder, with
//! the event log and the memories on redb, the sandbox world or one of your own, and the configured models. [`bridge`] makes
//! a world of a game. For another log or model, use [`engine`] with other [`engine::Ports`].
//!
//! Stability: follows the crates it re-exports.

#[cfg(feature = "bridge")]
pub use dormouse_bridge as bridge;
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
#[cfg(feature = "host")]
pub use dormouse_host as host;
#[cfg(feature = "host")]
pub use dormouse_host::{DataFolder, Host, HostSettings, Resident, SystemClock, Tail};
#[cfg(feature = "journal")]
pub use dormouse_journal as journal;
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

#[cfg(all(doctest, feature = "bridge", feature = "host"))]
#[doc = include_str!("../README.md")]
struct Readme;
