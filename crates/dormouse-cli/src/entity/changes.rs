//! Changing what is known about an entity.

use dormouse_contracts::EntityId;
use dormouse_engine::LoggedMemory;
use dormouse_entities::EntityChange;
use dormouse_host::OpenLog;

use super::args::Set;
use crate::{
    command::{CommandError, CommandFailure, Printing, author, print_change, reason},
    exit::Exit,
};

/// `set` without anything to set.
#[derive(Debug, thiserror::Error)]
#[error("nothing to set; `dormouse entity set --help` lists the options")]
struct NothingToSet;

impl CommandFailure for NothingToSet {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// What to do if an entity cannot be separated again.
const UNMERGE_HINT: &str = "expected the id FROM of an earlier `dormouse entity merge FROM INTO`";

/// What to do if an entity cannot be restored.
const RESTORE_HINT: &str = "expected the id of an earlier `dormouse entity delete`";

/// Makes one change and prints its event.
pub(super) async fn change(
    memory: &mut LoggedMemory<OpenLog>,
    change: EntityChange,
    printing: Printing,
    what: &str,
) -> Result<Exit, CommandError> {
    let hint = match &change {
        EntityChange::Unmerged { .. } => Some(UNMERGE_HINT),
        EntityChange::Restored { .. } => Some(RESTORE_HINT),
        _ => None,
    };
    let reason = reason("changed");
    let made = memory.change_entity(change, author(), &reason).await;
    let made = made.map_err(CommandError::from);
    let made = made.map_err(|error| match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    })?;
    print_change(printing, made, what)
}

/// Makes every change that was asked for, or none. Each can be undone separately.
pub(super) async fn set(
    memory: &mut LoggedMemory<OpenLog>,
    entity: &EntityId,
    asked: Set,
) -> Result<Exit, CommandError> {
    let printing = asked.who.json.printing();
    let (changes, what): (Vec<_>, Vec<_>) = asked.edit().changes(entity).into_iter().unzip();
    if changes.is_empty() {
        return Err(NothingToSet.into());
    }
    let reason = reason("changed");
    let made = memory.change_entities(changes, author(), &reason);
    for (made, what) in made.await?.into_iter().zip(what) {
        print_change(printing, made, &format!("{what} of {entity} set"))?;
    }
    Ok(Exit::Success)
}
