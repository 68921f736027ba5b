//! The content of the file: tables, and the JSON records in them.

use std::collections::BTreeSet;

use dormouse_contracts::{Effect, EntityId, Outcome, Timestamp};
use dormouse_database::DatabaseFault;
use redb::TableDefinition;
use serde::{Deserialize, Serialize};

use crate::{
    character::CharacterKind,
    roster::{Kind, Present},
    tea_house::{FIRST_ROOM, room},
};

/// The format this version writes and reads.
pub(crate) const FORMAT: u64 = 2;

/// The name of this table identifies a world file; it also contains the format.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new(META_NAME);
pub(crate) const META_NAME: &str = "dormouse_sandbox";
/// The number of written changes. After a failed commit it shows whether the commit took effect.
pub(crate) const REVISION_KEY: &str = "revision";
/// The creation time of the world, in microseconds since 1970. It distinguishes worlds at the same path.
pub(crate) const BORN_KEY: &str = "born";

/// Entity id → [`CharacterRecord`].
pub(crate) const CHARACTERS: TableDefinition<'_, &str, &str> = TableDefinition::new("characters");

/// Observer and number → `Perception`.
pub(crate) const FEEDS: TableDefinition<'_, (&str, u64), &str> = TableDefinition::new("feeds");

/// How many acts are remembered, so that an answer to one can name it (`reply_to`). Answers to older acts are delivered
/// without `reply_to`.
pub(crate) const ACTS_REMEMBERED: u64 = 1_000;

/// Number of an act and observer → number of its delivery to that observer.
pub(crate) const HEARD: TableDefinition<'_, (u64, &str), u64> = TableDefinition::new("heard");

/// Observer and number of a delivery → number of the act.
pub(crate) const ACTS: TableDefinition<'_, (&str, u64), u64> = TableDefinition::new("acts");

/// Effect key → [`EffectRecord`].
pub(crate) const EFFECTS: TableDefinition<'_, &str, &str> = TableDefinition::new("effects");

/// The number of an effect, counting from 1 → its key.
pub(crate) const EFFECT_ORDER: TableDefinition<'_, u64, &str> =
    TableDefinition::new("effect_order");

/// How many keys of acts are remembered for each player. An act that is repeated under an older key happens again.
pub(crate) const KEYS_REMEMBERED: u64 = 1_000;

/// Player and their own key of an act → its number among their acts with a key. The table is made with the first such
/// act.
pub(crate) const KEYED: TableDefinition<'_, (&str, &str), u64> = TableDefinition::new("keyed");

/// Player and number of an act with a key → [`KeyedAct`].
pub(crate) const KEYED_ACTS: TableDefinition<'_, (&str, u64), &str> =
    TableDefinition::new("keyed_acts");

/// What is remembered of an act with a key: no words.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeyedAct {
    pub(crate) key: String,
    pub(crate) deliveries: Vec<(EntityId, u64)>,
}

/// A record could not be read from or written to the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the world's file failed")]
    File(#[from] DatabaseFault),
    #[error("a record of the world's file is invalid")]
    Record(#[from] serde_json::Error),
}

dormouse_database::from_redb!(StoreError::File);

/// The stored form of a character.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CharacterRecord {
    name: String,
    kind: CharacterKind,
    room: String,
    delivered: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_away: bool,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    channels_left: BTreeSet<String>,
}

impl CharacterRecord {
    /// The record of a guest; `None` for a non-player character, which is not stored.
    pub(crate) fn of(present: &Present) -> Option<Self> {
        match &present.kind {
            Kind::Resident => None,
            Kind::Guest(kind) => Some(Self {
                name: present.name.clone(),
                kind: kind.clone(),
                room: present.room.key.to_owned(),
                delivered: present.delivered,
                is_away: present.is_away,
                channels_left: present.channels_left.clone(),
            }),
        }
    }

    /// The character of the record. If its room no longer exists, it is in the first room.
    pub(crate) fn into_present(self) -> Present {
        let room = room(&self.room).unwrap_or(FIRST_ROOM);
        Present {
            delivered: self.delivered,
            is_away: self.is_away,
            channels_left: self.channels_left,
            ..Present::new(self.name, Kind::Guest(self.kind), room)
        }
    }
}

/// The stored form of an effect and its outcome.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EffectRecord {
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    pub(crate) effect: Effect,
    pub(crate) outcome: Outcome,
}
