//! What the world is made of. The places themselves are data, in `place/tea_house.rs`.

use std::fmt;

mod tea_house;
#[cfg(test)]
mod tests;

pub(crate) use tea_house::FIRST_ROOM;
pub use tea_house::{CHANNELS, RESIDENTS, ROOMS};

/// A place one can stand in. Exits refer to rooms, not to names of rooms, so none can lead nowhere.
pub struct Room {
    /// What the room is called in the file; never changes once released.
    pub key: &'static str,
    /// What it is called by those who see it.
    pub name: &'static str,
    /// What one sees on looking around; its first sentence stands by itself.
    pub description: &'static str,
    /// Where one can go from here.
    pub exits: &'static [Exit],
    /// What can be looked at here.
    pub things: &'static [Thing],
}

impl fmt::Debug for Room {
    /// Names the room alone: rooms refer to each other in circles.
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

/// A way out of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The word one goes by: "north", "up".
    pub direction: &'static str,
    /// Where it leads.
    pub to: &'static Room,
}

/// Something lying or standing in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is called.
    pub name: &'static str,
    /// What one sees on looking at it.
    pub description: &'static str,
}

/// Somebody who belongs to the place and has no model behind them. They can be spoken to and never speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Their id as an entity.
    pub id: &'static str,
    /// Their name.
    pub name: &'static str,
    /// Where they are, always.
    pub room: &'static Room,
}

/// The room with this key in the file.
pub(crate) fn room(key: &str) -> Option<&'static Room> {
    ROOMS.iter().copied().find(|room| room.key == key)
}
