//! A small world in one file: a tea-house with rooms, things and people, for the first run and for tests.
//!
//! [`Sandbox`] implements the three world ports of `dormouse-contracts`, so an assistant can live in it, and
//! offers the acts of a player at a terminal. Its state is its own redb file. Every answer it gives about a
//! change is durable: killed at any moment, it loses nothing it answered and repeats nothing it did.
//!
//! Read in this order: [`Room`] and [`ROOMS`] (where one can be), [`Character`] (who is there), [`Act`] (what
//! one can do and who notices), [`Sandbox`] (the handle), [`OpenError`] (what can be wrong with the file).
//!
//! Who perceives what is decided by a pure function of who stands where; text never takes part in it.
//!
//! Stability: the API may still change; a file written by this version opens in later ones.

mod place;

mod character;
mod room_view;
mod roster;

mod act;
mod decide;

mod tools;

mod draft;
mod file;
mod keeper;
mod readers;
mod records;
mod request;

mod feed;
mod ports;
mod sandbox;

pub use act::{Act, ActError, Acted, Refusal, Seen};
pub use character::{Character, CharacterKind, JoinError, JoinRefusal};
pub use feed::{FEED_PAGE, FeedError};
pub use file::OpenError;
pub use place::{CHANNELS, Exit, RESIDENTS, ROOMS, Resident, Room, Thing};
pub use ports::{EFFECTS_PAGE, PerformedEffect};
pub use room_view::{Detail, ExitView, OtherView, RoomView, ThingView};
pub use sandbox::Sandbox;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
