//! A small world in one file: a tea-house with rooms, things and people, for first runs and for tests.
//!
//! [`Sandbox`] implements the ports of a world in `dormouse-contracts` ([`Habitat`](dormouse_contracts::Habitat)), so
//! an assistant can live in it. It also offers the acts of a player at a terminal. Its state is one redb file. Every
//! confirmed change is durable: a process that is killed at any moment loses no confirmed change and repeats none.
//!
//! Read in this order: [`Room`] and [`ROOMS`] (the places), [`Character`] (who is there), [`Act`] (what a character can
//! do and who notices), [`Sandbox`] (the handle), [`SandboxOpenError`] (problems with the file).
//!
//! Perception is a pure function of the characters' positions; it never depends on text.
//!
//! Stability: the API may change; later versions open the files of this one.

mod place;

mod character;
mod room_view;
mod roster;

mod act;
mod decide;

mod tools;

mod actor;
mod file;
mod readers;
mod records;
mod request;
mod transaction;
mod world;

mod feed;
mod ports;
mod rewrite;
mod sandbox;
mod tea_house;

pub use act::{Act, ActError, ActRefusal, ActView, Acted, ActedOnce};
pub use character::{Character, CharacterKind, JoinError, JoinRefusal, check_name};
pub use file::SandboxOpenError;
pub use place::{Exit, NonPlayerCharacter, Room, Thing};
pub use ports::{EFFECTS_PAGE, PerformedEffect, landmarks};
pub use rewrite::{RewriteWorld, WorldMoment, WorldRewriteError, count_changed, rewrite_world};
pub use room_view::{Detail, ExitView, OtherView, RoomView, ThingView};
pub use sandbox::Sandbox;
pub use tea_house::{CHANNELS, NON_PLAYER_CHARACTERS, ROOMS};
pub use tools::sandbox_tools;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
