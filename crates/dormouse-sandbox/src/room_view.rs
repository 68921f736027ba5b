//! The view of a room.

use std::fmt;

use dormouse_contracts::EntityId;
use serde::{Deserialize, Serialize};

use crate::{
    character::CharacterKind,
    place::Room,
    roster::{Kind, Roster},
};

/// The most characters listed by name; the rest are counted.
pub(crate) const NAMED: usize = 50;

/// The level of detail of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Names only.
    Brief,
    /// With descriptions.
    #[default]
    Full,
}

/// What a character sees in a room; as JSON, the answer of `inspect_location`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomView {
    /// The name of the room.
    pub room: String,
    /// The description; left out in a brief view.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The exits.
    pub exits: Vec<ExitView>,
    /// The things in the room.
    pub things: Vec<ThingView>,
    /// The other characters in the room, by id; at most 50.
    pub characters: Vec<OtherView>,
    /// How many further characters are in the room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_characters: usize,
}

/// An exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitView {
    /// The direction of the exit.
    pub direction: String,
    /// The name of the room it leads to.
    pub to: String,
}

/// A thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThingView {
    /// The name.
    pub name: String,
    /// The description; left out in a brief view.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// Another character in the room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherView {
    /// Their name.
    pub name: String,
    /// `player`, `assistant` or `resident`.
    pub kind: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RoomView {
    /// What `viewer` sees of `room`.
    pub(crate) fn of(room: &Room, roster: &Roster, viewer: &EntityId, detail: Detail) -> Self {
        let told = |text: &str| match detail {
            Detail::Brief => String::new(),
            Detail::Full => text.to_owned(),
        };
        let characters: Vec<_> = roster
            .others_in(room, viewer)
            .take(NAMED)
            .map(|(_, other)| OtherView {
                name: other.name.clone(),
                kind: kind(&other.kind).to_owned(),
            })
            .collect();
        Self {
            room: room.name.to_owned(),
            description: told(room.description),
            exits: (room.exits.iter())
                .map(|exit| ExitView {
                    direction: exit.direction.to_owned(),
                    to: exit.to.name.to_owned(),
                })
                .collect(),
            things: (room.things.iter())
                .map(|thing| ThingView {
                    name: thing.name.to_owned(),
                    description: told(thing.description),
                })
                .collect(),
            more_characters: (roster.count_others_in(room, viewer))
                .saturating_sub(characters.len()),
            characters,
        }
    }
}

fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Guest(CharacterKind::Player) => "player",
        Kind::Guest(CharacterKind::Assistant(_)) => "assistant",
        Kind::Resident => "resident",
    }
}

impl fmt::Display for RoomView {
    /// Several lines: name, description, then things, characters and exits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.room)?;
        if !self.description.is_empty() {
            write!(f, "\n{}", self.description)?;
        }
        let things: Vec<_> = self
            .things
            .iter()
            .map(|thing| thing.name.as_str())
            .collect();
        list(f, "Here are", &things)?;
        let mut people: Vec<_> = self
            .characters
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        let more = format!("{} more", self.more_characters);
        if self.more_characters > 0 {
            people.push(&more);
        }
        list(f, "People", &people)?;
        let exits: Vec<_> = (self.exits.iter())
            .map(|exit| format!("{} to {}", exit.direction, exit.to))
            .collect();
        list(
            f,
            "Exits",
            &exits.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }
}

fn list(f: &mut fmt::Formatter<'_>, what: &str, items: &[&str]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    write!(f, "\n{what}: {}", items.join(", "))
}
