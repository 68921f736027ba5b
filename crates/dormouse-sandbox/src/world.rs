//! The state of the world, and how it is loaded from its file.

use dormouse_contracts::{EntityId, IdError, WorldId};
use dormouse_database::DatabaseHandle;
use redb::ReadableTable;

use crate::{
    readers::Readers,
    records::{BORN_KEY, CHARACTERS, CharacterRecord, META, REVISION_KEY, StoreError},
    roster::Roster,
};

/// The state of the world, equal to the content of its file.
pub(crate) struct World {
    pub(crate) roster: Roster,
    pub(crate) revision: u64,
    born: Option<u64>,
}

impl World {
    /// Reads the characters from the file. `residents` contains the non-player characters.
    pub(crate) fn load(database: &DatabaseHandle, residents: Roster) -> Result<Self, StoreError> {
        let mut roster = residents;
        let reading = database.begin_read()?;
        for row in reading.open_table(CHARACTERS)?.iter()? {
            let (id, record) = row?;
            let id = EntityId::try_new(id.value()).map_err(serde::de::Error::custom);
            let record: CharacterRecord = serde_json::from_str(record.value())?;
            roster.insert(id.map_err(StoreError::Record)?, record.into_present());
        }
        let meta = reading.open_table(META)?;
        let revision = meta.get(REVISION_KEY)?;
        let born = meta.get(BORN_KEY)?.map(|born| born.value());
        Ok(Self {
            revision: revision.map_or(0, |revision| revision.value()),
            roster,
            born,
        })
    }

    /// The id of the world. A later world at the same path has another id, so its deliveries cannot be confused with those
    /// of this one.
    pub(crate) fn id(&self) -> Result<WorldId, IdError> {
        match self.born {
            Some(born) => WorldId::try_new(format!("sandbox-{born}")),
            None => WorldId::try_new("sandbox"),
        }
    }
}

/// The data that a question may read.
pub(crate) struct WorldView<'a> {
    pub(crate) database: &'a DatabaseHandle,
    pub(crate) memory: MemoryView<'a>,
}

/// The data that a question may read without the file.
pub(crate) struct MemoryView<'a> {
    pub(crate) world: &'a World,
    pub(crate) readers: &'a mut Readers,
}
