//! The positions of all characters, and the resolution of names.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use dormouse_contracts::{AssistantId, EntityId, IdError, Sender};
use dormouse_text::NameSkeleton;

use crate::{
    character::{CHARACTER_LIMIT, Character, CharacterKind, JoinRefusal, check_name},
    place::Room,
    room_view::NAMED,
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

    /// Whether others see it in this room.
    pub(crate) fn is_in(&self, room: &Room) -> bool {
        self.seen_in().is_some_and(|seen_in| seen_in == room)
    }

    /// The room in which others see it; none if it has left the world.
    fn seen_in(&self) -> Option<&'static Room> {
        (!self.is_away).then_some(self.room)
    }

    /// Whether it perceives what happens around it.
    pub(crate) fn is_attending(&self) -> bool {
        self.perceives() && !self.is_away
    }

    pub(crate) fn is_on(&self, channel: &str) -> bool {
        self.is_attending() && !self.channels_left.contains(channel)
    }
}

/// All characters in the world, by id. Maps by id, name and room answer questions about one character or one room, so
/// the answer takes no longer in a world with many others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roster {
    characters: BTreeMap<EntityId, Present>,
    /// Who has each name, by the name in lower case.
    names: BTreeMap<String, Vec<EntityId>>,
    /// Who is in each room and has not left the world, by the key of the room.
    rooms: BTreeMap<&'static str, BTreeSet<EntityId>>,
    /// The character of each assistant.
    assistants: BTreeMap<AssistantId, EntityId>,
    /// How many of the characters joined.
    guests: usize,
}

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
        let mut roster = Self::default();
        for resident in NON_PLAYER_CHARACTERS {
            let present = Present::new(resident.name.to_owned(), Kind::Resident, resident.room);
            roster.insert(EntityId::try_new(resident.id)?, present);
        }
        Ok(roster)
    }

    pub(crate) fn find(&self, id: &EntityId) -> Option<&Present> {
        self.characters.get(id)
    }

    /// Changes where a character is, or what it has perceived; `None` if nobody has this id.
    pub(crate) fn change<T>(
        &mut self,
        id: &EntityId,
        change: impl FnOnce(&mut Present) -> T,
    ) -> Option<T> {
        let present = self.characters.get_mut(id)?;
        let from = present.seen_in();
        let changed = change(present);
        let to = present.seen_in();
        self.move_between(id, from, to);
        Some(changed)
    }

    /// Adds a character whose id is new.
    pub(crate) fn insert(&mut self, id: EntityId, present: Present) {
        self.move_between(&id, None, present.seen_in());
        self.give_name(&id, &present.name);
        if let Some(key) = present.key() {
            self.assistants.insert(key.clone(), id.clone());
        }
        self.guests += usize::from(present.perceives());
        self.characters.insert(id, present);
    }

    fn give_name(&mut self, id: &EntityId, name: &str) {
        self.names.entry(fold(name)).or_default().push(id.clone());
    }

    fn take_name(&mut self, id: &EntityId, name: &str) {
        let name = fold(name);
        if let Some(called) = self.names.get_mut(&name) {
            called.retain(|one| one != id);
            if called.is_empty() {
                self.names.remove(&name);
            }
        }
    }

    fn move_between(
        &mut self,
        id: &EntityId,
        from: Option<&'static Room>,
        to: Option<&'static Room>,
    ) {
        if from == to {
            return;
        }
        if let Some(there) = from.and_then(|from| self.rooms.get_mut(from.key)) {
            there.remove(id);
        }
        if let Some(to) = to {
            self.rooms.entry(to.key).or_default().insert(id.clone());
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&EntityId, &Present)> {
        self.characters.iter()
    }

    /// The other characters in `room`, by id.
    pub(crate) fn others_in<'a>(
        &'a self,
        room: &'a Room,
        but: &'a EntityId,
    ) -> impl Iterator<Item = (&'a EntityId, &'a Present)> {
        self.here(room).filter(move |(id, _)| *id != but)
    }

    /// How many other characters are in `room`.
    pub(crate) fn count_others_in(&self, room: &Room, but: &EntityId) -> usize {
        let here = self.rooms.get(room.key);
        here.map_or(0, |here| here.len() - usize::from(here.contains(but)))
    }

    /// The characters in `room`, by id.
    pub(crate) fn here(&self, room: &Room) -> impl Iterator<Item = (&EntityId, &Present)> {
        let here = self.rooms.get(room.key).into_iter().flatten();
        here.filter_map(|id| self.characters.get_key_value(id))
    }

    /// The character that an assistant controls.
    pub(crate) fn embodies(&self, assistant: &AssistantId) -> Option<&EntityId> {
        self.assistants.get(assistant)
    }

    /// The character among `those` that is called `wanted` in any case, or the only one whose name starts with it.
    pub(crate) fn called(
        &self,
        wanted: &str,
        those: impl Fn(&Present) -> bool,
    ) -> Pick<(&EntityId, &Present)> {
        let wanted = fold(wanted.trim());
        if wanted.is_empty() {
            return Pick::None;
        }
        let begun = self
            .names
            .range::<str, _>((Bound::Included(wanted.as_str()), Bound::Unbounded));
        let begun = begun.take_while(|(name, _)| name.starts_with(&wanted));
        let found = begun.flat_map(|(name, ids)| ids.iter().map(move |id| (name, id)));
        let found = found.filter_map(|(name, id)| Some((name, self.characters.get_key_value(id)?)));
        let mut found = found.filter(|(_, (_, present))| those(present));
        let Some((name, first)) = found.next() else {
            return Pick::None;
        };
        // The same name comes before all that only start with it.
        if *name == wanted {
            return Pick::One(first);
        }
        let more = found.map(|(_, (_, present))| present.name.clone());
        let more: Vec<_> = more.take(NAMED).collect();
        match more.is_empty() {
            true => Pick::One(first),
            false => Pick::Many([vec![first.1.name.clone()], more].concat()),
        }
    }

    /// Adds a character in the first room; a known character stays where it was.
    pub(crate) fn join(&mut self, character: &Character) -> Result<Joining, JoinRefusal> {
        check_name(&character.name)?;
        let known = self.find(&character.id);
        // The name that somebody already has was compared with all others when it was new.
        let is_new_name = known.is_none_or(|known| known.name != character.name);
        if is_new_name {
            self.check_free(character)?;
        }
        let is_known = known.is_some();
        if let Some(known) = known
            && known.kind != Kind::Guest(character.kind.clone())
        {
            return Err(JoinRefusal::OtherKind {
                id: character.id.clone(),
            });
        }
        if is_known {
            if is_new_name {
                self.rename(&character.id, &character.name);
            }
            let was_away = self.change(&character.id, |present| {
                std::mem::take(&mut present.is_away)
            });
            return Ok(match (was_away.unwrap_or_default(), is_new_name) {
                (true, _) => Joining::Arrived,
                (false, true) => Joining::Renamed,
                (false, false) => Joining::AlreadyHere,
            });
        }
        if self.guests >= CHARACTER_LIMIT {
            return Err(JoinRefusal::Full);
        }
        let kind = Kind::Guest(character.kind.clone());
        let present = Present::new(character.name.clone(), kind, FIRST_ROOM);
        self.insert(character.id.clone(), present);
        Ok(Joining::Arrived)
    }

    fn rename(&mut self, id: &EntityId, name: &str) {
        let renamed = self.characters.get_mut(id).map(|present| {
            present.skeleton = Arc::new(NameSkeleton::of(name));
            std::mem::replace(&mut present.name, name.to_owned())
        });
        if let Some(before) = renamed {
            self.take_name(id, &before);
            self.give_name(id, name);
        }
    }

    /// Compares a new name with all others.
    fn check_free(&self, character: &Character) -> Result<(), JoinRefusal> {
        let skeleton = NameSkeleton::of(&character.name);
        let mut others = self.iter().filter(|(id, _)| **id != character.id);
        let alike = others.find(|(_, other)| other.skeleton.is_confusable_with(&skeleton));
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
