//! What stands in the file: tables, and the JSON records in them.

use dormouse_contracts::{Effect, Outcome, Timestamp};
use redb::TableDefinition;
use serde::{Deserialize, Serialize};

use crate::{
    character::CharacterKind,
    place::{FIRST_ROOM, room},
    roster::{Kind, Present},
};

/// The format this version writes, and the newest it reads.
pub(crate) const FORMAT: u64 = 1;

/// By its name the file is known as a world's; the format stands in it too.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new(META_NAME);
pub(crate) const META_NAME: &str = "dormouse_sandbox";
/// The number of changes written, by which a commit that failed is told apart from one that only seemed to.
pub(crate) const REVISION_KEY: &str = "revision";
/// When the world was made, in microseconds since 1970; what tells it from a later one in the same place.
pub(crate) const BORN_KEY: &str = "born";

/// Entity id → [`CharacterRecord`].
pub(crate) const CHARACTERS: TableDefinition<'_, &str, &str> = TableDefinition::new("characters");

/// Observer and number → `Perception`.
pub(crate) const FEEDS: TableDefinition<'_, (&str, u64), &str> = TableDefinition::new("feeds");

/// Effect key → [`EffectRecord`].
pub(crate) const EFFECTS: TableDefinition<'_, &str, &str> = TableDefinition::new("effects");

/// The number of an effect, counting from 1 → its key.
pub(crate) const EFFECT_ORDER: TableDefinition<'_, u64, &str> =
    TableDefinition::new("effect_order");

/// A record could not be read from or written to the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the world's file failed")]
    File(#[source] Box<redb::Error>),
    #[error("a record of the world's file makes no sense")]
    Record(#[from] serde_json::Error),
}

impl From<redb::Error> for StoreError {
    fn from(error: redb::Error) -> Self {
        Self::File(Box::new(error))
    }
}

macro_rules! from_redb {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for StoreError {
            fn from(error: redb::$error) -> Self {
                Self::File(Box::new(error.into()))
            }
        }
    )*};
}

from_redb!(StorageError, TableError, TransactionError, CommitError);

/// A character, as written.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CharacterRecord {
    name: String,
    kind: CharacterKind,
    room: String,
    delivered: u64,
}

impl CharacterRecord {
    /// The record of a guest; none for a resident, who is not kept in the file.
    pub(crate) fn of(present: &Present) -> Option<Self> {
        match &present.kind {
            Kind::Resident => None,
            Kind::Guest(kind) => Some(Self {
                name: present.name.clone(),
                kind: kind.clone(),
                room: present.room.key.to_owned(),
                delivered: present.delivered,
            }),
        }
    }

    /// Whom the record tells of. A room that is no longer there has become the first one.
    pub(crate) fn into_present(self) -> Present {
        Present {
            name: self.name,
            kind: Kind::Guest(self.kind),
            room: room(&self.room).unwrap_or(FIRST_ROOM),
            delivered: self.delivered,
        }
    }
}

/// An effect and what became of it, as written.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EffectRecord {
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    pub(crate) effect: Effect,
    pub(crate) outcome: Outcome,
}
