//! The types of rooms and what is in them. `tea_house` has the content.

use std::fmt;

/// A room. Exits refer to rooms and not to names, so every exit leads to a room.
pub struct Room {
    /// The key in the file; never change it after a release.
    pub key: &'static str,
    /// The name.
    pub name: &'static str,
    /// The description. Its first sentence must be understandable alone.
    pub description: &'static str,
    /// The exits.
    pub exits: &'static [Exit],
    /// The things to look at.
    pub things: &'static [Thing],
}

impl fmt::Debug for Room {
    /// Prints only the room's name, because rooms refer to each other in cycles.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Room({:?})", self.key)
    }
}

impl PartialEq for Room {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Room {}

/// An exit of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The direction: "north", "up".
    pub direction: &'static str,
    /// The room it leads to.
    pub to: &'static Room,
}

/// A thing in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thing {
    /// The name.
    pub name: &'static str,
    /// The description.
    pub description: &'static str,
}

/// A permanent character without a model. Others can speak to it, and it never speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonPlayerCharacter {
    /// The entity id.
    pub id: &'static str,
    /// The name.
    pub name: &'static str,
    /// Its permanent room.
    pub room: &'static Room,
}
