//! Runs resident assistants: configuration, models, memory, world and log wired together.
//!
//! Layer 5, the composition root. Terminal, command line and HTTP belong to the crates above. It does not read the
//! environment: the caller passes it in.
//!
//! Read in this order: [`DataFolder`] (what is on disk), [`config`] (what the operator decides), [`provider`] (which
//! models answer), [`dialects`] (what was learnt about them), [`recall`] (the encoder and the vector index of the
//! memory), [`Host`] (all of it, wired, for any number of assistants), [`roster`] (who they are), [`Resident`] (one
//! that is awake), [`Tail`] (the events of a log as they are written), [`archive`] (a life as a file).
//!
//! Stability: the Rust interface may still change. The files in the data folder are formats of other crates.

pub mod archive;
mod backup;
pub mod config;
mod continuity;
pub mod dialects;
mod encoder;
mod folder;
mod folder_world;
mod format;
mod game_world;
mod host;
pub mod http_world;
#[cfg(feature = "mcp")]
pub mod mcp;
mod memory_import;
mod past;
mod preview;
pub mod provider;
mod pump;
pub mod recall;
pub mod roster;
mod settings;
mod spending;
mod system;
mod tail;
mod tool_list;
pub mod upkeep;
mod vectors;

pub use backup::{BackupError, BackupReport, WorldFile, back_up};
pub use continuity::{ContinuityError, WorldContinuity, check_world};
pub use encoder::OPENER;
pub use folder::{DataError, DataFolder, remove_memory};
pub use folder_world::FolderWorld;
pub use format::check_format;
pub use game_world::{GameConnections, GameWorld};
pub use host::{
    Awake, EndedError, Host, HostError, HostSettings, Mismatch, OpenLog, Resident, Running,
    ServiceReport, Summary, Upkeep, Woken, admit_player, check_follows, player_named,
};
pub use memory_import::MemoryImport;
pub use preview::preview;
pub use pump::{OnAccepted, PATIENCE, PumpError, Pumped, pause};
pub use spending::spending;
pub use system::{SystemClock, SystemRandom};
pub use tail::Tail;
pub use tool_list::{ListedTool, TOOL_CATEGORIES};
pub use vectors::VectorsError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
