//! Finding the entity that a command names.

use dormouse_contracts::EntityId;
use dormouse_memory::Memory;
use dormouse_text::unescape_id;

use crate::{command::CommandFailure, exit::Exit};

/// The command does not name exactly one entity.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WhoError {
    #[error("no entity has the id or name {who:?}; `dormouse entity list` prints all")]
    Unknown {
        /// The id or name in the command.
        who: String,
    },
    #[error(
        "several entities have the name {who:?}; give one of their ids: {}",
        ids(known)
    )]
    Several {
        /// The id or name in the command.
        who: String,
        /// The entities with this name.
        known: Vec<EntityId>,
    },
}

impl CommandFailure for WhoError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

fn ids(known: &[EntityId]) -> String {
    let ids: Vec<String> = known.iter().map(ToString::to_string).collect();
    ids.join(", ")
}

/// The entity with this id, or the only one with this name.
pub(crate) fn find(memory: &Memory, who: &str) -> Result<EntityId, WhoError> {
    memory.with_entities(|entities| {
        // An id as it is, or as it was printed.
        for id in [who.to_owned(), unescape_id(who)] {
            let by_id = EntityId::try_new(id).ok();
            if let Some(id) = by_id.filter(|id| entities.profile(id).is_some()) {
                return Ok(id);
            }
        }
        let who = who.to_owned();
        match entities.known_as(&who).as_slice() {
            [] => Err(WhoError::Unknown { who }),
            [only] => Ok((*only).clone()),
            several => Err(WhoError::Several {
                known: several.iter().map(|id| (*id).clone()).collect(),
                who,
            }),
        }
    })
}
