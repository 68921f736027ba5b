//! The positions of all characters, and the resolution of names.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use dormouse_contracts::{AssistantId, EntityId, IdError, Sender};
use dormouse_text::NameSkeleton;

use crate::{
    character::{CHARACTER_LIMIT, Character, CharacterKind, JoinRefusal, check_name},
    place::Room,
    tea_house::{FIRST_ROOM, NON_PLAYER_CHARACTERS},
};

#[cfg(test)]
mod tests;

/// A character in the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Present {
    pub(crate) name: String,
    /// The skeleton of the name. It is kept because the name of everybody who joins is compared with it, and creating
    /// one takes longer than comparing.
    pub(super) skeleton: Arc<NameSkeleton>,
    pub(crate) kind: Kind,
    pub(crate) room: &'static Room,
    /// The number of the last entry of its feed.
    pub(crate) delivered: u64,
    /// Whether it left the world: nobody sees it, and only pages reach it.
    pub(crate) is_away: bool,
    /// The channels that it left.
    pub(crate) channels_left: BTreeSet<String>,
}

/// Who controls a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A character that joined; it perceives.
    Guest(CharacterKind),
    /// A non-player character; it does not perceive.
    Resident,
}

impl Present {
    /// A character that has perceived nothing yet.
    pub(crate) fn new(name: String, kind: Kind, room: &'static Room) -> Self {
        Self {
            skeleton: Arc::new(NameSkeleton::of(&name)),
            name,
            kind,
            room,
            delivered: 0,
            is_away: false,
            channels_left: BTreeSet::new(),
        }
    }

    /// The sender that `observer` sees for this character `id`.
    pub(crate) fn as_sender(&self, id: &EntityId) -> Sender {
        let (id, name) = (id.clone(), self.name.clone());
        match self.kind {
            Kind::Guest(CharacterKind::Assistant(_)) => Sender::Assistant { id, name },
            Kind::Guest(CharacterKind::Player) | Kind::Resident => Sender::Entity { id, name },
        }
    }

    /// The key of the assistant that controls it, if one does.
    pub(crate) fn key(&self) -> Option<&AssistantId> {
        match &self.kind {
            Kind::Guest(CharacterKind::Assistant(key)) => Some(key),
            Kind::Guest(CharacterKind::Player) | Kind::Resident => None,
        }
    }

    pub(crate) fn is_assistant(&self) -> bool {
        self.key().is_some()
    }

    /// Whether it has a feed.
    pub(crate) fn perceives(&self) -> bool {
        matches!(self.kind, Kind::Guest(_))
    }

    /// Whether it perceives what happens around it.
    pub(crate) fn is_attending(&self) -> bool {
        self.perceives() && !self.is_away
    }

    pub(crate) fn is_on(&self, channel: &str) -> bool {
        self.is_attending() && !self.channels_left.contains(channel)
    }
}

/// All characters in the world, by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roster(BTreeMap<EntityId, Present>);

/// The result of joining.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Joining {
    /// The character was here under this name.
    AlreadyHere,
    /// The character was here and has a new name now.
    Renamed,
    /// The character arrived.
    Arrived,
}

impl Roster {
    /// A roster of the non-player characters only.
    pub(crate) fn try_new() -> Result<Self, IdError> {
        let residents = NON_PLAYER_CHARACTERS.iter().map(|resident| {
            let name = resident.name.to_owned();
            let present = Present::new(name, Kind::Resident, resident.room);
            Ok((EntityId::try_new(resident.id)?, present))
        });
        Ok(Self(residents.collect::<Result<_, IdError>>()?))
    }

    pub(crate) fn find(&self, id: &EntityId) -> Option<&Present> {
        self.0.get(id)
    }

    pub(crate) fn find_mut(&mut self, id: &EntityId) -> Option<&mut Present> {
        self.0.get_mut(id)
    }

    pub(crate) fn insert(&mut self, id: EntityId, present: Present) {
        self.0.insert(id, present);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&EntityId, &Present)> {
        self.0.iter()
    }

    /// The other characters in `room`, by id.
    pub(crate) fn others_in<'a>(
        &'a self,
        room: &'a Room,
        but: &'a EntityId,
    ) -> impl Iterator<Item = (&'a EntityId, &'a Present)> {
        self.here(room).filter(move |(id, _)| *id != but)
    }

    /// The characters in `room`, by id.
    pub(crate) fn here(&self, room: &Room) -> impl Iterator<Item = (&EntityId, &Present)> {
        self.iter()
            .filter(move |(_, present)| present.room == room && !present.is_away)
    }

    /// The character that an assistant controls.
    pub(crate) fn embodies(&self, assistant: &AssistantId) -> Option<&EntityId> {
        self.iter()
            .find(|(_, present)| {
                matches!(&present.kind, Kind::Guest(CharacterKind::Assistant(it)) if it == assistant)
            })
            .map(|(id, _)| id)
    }

    /// Adds a character in the first room; a known character stays where it was.
    pub(crate) fn join(&mut self, character: &Character) -> Result<Joining, JoinRefusal> {
        check_name(&character.name)?;
        let skeleton = NameSkeleton::of(&character.name);
        self.check_free(character, &skeleton)?;
        if let Some(present) = self.0.get_mut(&character.id) {
            if present.kind != Kind::Guest(character.kind.clone()) {
                return Err(JoinRefusal::OtherKind {
                    id: character.id.clone(),
                });
            }
            let is_renamed = present.name != character.name;
            present.name.clone_from(&character.name);
            present.skeleton = Arc::new(skeleton);
            return Ok(match (std::mem::take(&mut present.is_away), is_renamed) {
                (true, _) => Joining::Arrived,
                (false, true) => Joining::Renamed,
                (false, false) => Joining::AlreadyHere,
            });
        }
        if self.iter().filter(|(_, one)| one.perceives()).count() >= CHARACTER_LIMIT {
            return Err(JoinRefusal::Full);
        }
        let kind = Kind::Guest(character.kind.clone());
        let present = Present::new(character.name.clone(), kind, FIRST_ROOM);
        self.insert(character.id.clone(), present);
        Ok(Joining::Arrived)
    }

    fn check_free(
        &self,
        character: &Character,
        skeleton: &NameSkeleton,
    ) -> Result<(), JoinRefusal> {
        let mut others = self.iter().filter(|(id, _)| **id != character.id);
        let alike = others.find(|(_, other)| other.skeleton.is_confusable_with(skeleton));
        if let Some((id, other)) = alike {
            let (name, by) = (other.name.clone(), id.clone());
            return Err(if fold(&name) == fold(&character.name) {
                JoinRefusal::NameTaken { name, by }
            } else {
                JoinRefusal::NameLooksLike { name, by }
            });
        }
        if let CharacterKind::Assistant(assistant) = &character.kind
            && let Some(id) = self.embodies(assistant)
            && *id != character.id
        {
            return Err(JoinRefusal::AssistantTaken {
                assistant: assistant.clone(),
                id: id.clone(),
            });
        }
        Ok(())
    }
}

/// The result of matching a word with a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pick<T> {
    One(T),
    Many(Vec<String>),
    None,
}

/// The option called `wanted` in any case, or the only option that starts with it.
pub(crate) fn pick<'a, T>(wanted: &str, options: impl Iterator<Item = (&'a str, T)>) -> Pick<T> {
    let wanted = fold(wanted.trim());
    if wanted.is_empty() {
        return Pick::None;
    }
    let mut begun = Vec::new();
    for (name, option) in options {
        let folded = fold(name);
        if folded == wanted {
            return Pick::One(option);
        }
        if folded.starts_with(&wanted) {
            begun.push((name, option));
        }
    }
    if begun.len() > 1 {
        return Pick::Many(begun.into_iter().map(|(name, _)| name.to_owned()).collect());
    }
    begun
        .pop()
        .map_or(Pick::None, |(_, option)| Pick::One(option))
}

fn fold(name: &str) -> String {
    name.to_lowercase()
}
