//! Evennia games as worlds that assistants live in.
//!
//! The game has the package `dormouse_evennia` (the folder `python` of this crate, with `PROTOCOL.md`), which attests who
//! said what to whom, numbers it for each resident, and keeps it until it is stored here. It also keeps the keys of acts, so
//! that each is carried out once, even if one side is killed meanwhile. [`EvenniaWorld`] connects the two: the session of each resident
//! decides what to do next from what happened and the time, and one task per resident does it.
//!
//! A game without the package can only be observed: nothing that it prints ever asks for an answer.
//!
//! Layer 3. It does not depend on the engine, classification, models or the event log.
//!
//! Stability: the interface may change; the protocol has a version.

mod call;
mod check;
mod client;
mod event;
mod frame;
mod game;
mod notice;
mod people;
mod plain;
mod room;
mod session;
mod staff;
mod tools;
mod world;

pub use check::check;
pub use frame::Password;
pub use game::EvenniaGame;
pub use notice::Notice;
pub use staff::{OnStaff, StaffRequest};
pub use world::{Account, EVENNIA_FILE, EvenniaOpenError, EvenniaSettings, EvenniaWorld, OnNotice};
