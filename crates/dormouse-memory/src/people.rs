//! The rows in which the store keeps people and things.

use dormouse_contracts::{BoxError, EntityId};
use dormouse_entities::{Entities, Rows, Touched};
use serde::Serialize;

/// The prefixes of the keys: each says what the row of an id is.
const PROFILE: &str = "profile/";
const CONVERSATION: &str = "conversation/";
const ARCHIVE: &str = "archive/";
const REMOVED: &str = "removed/";

/// Reads people and things from their rows.
pub(crate) fn load(stored: Vec<(String, Vec<u8>)>) -> Result<Entities, BoxError> {
    let mut rows = Rows::default();
    for (key, row) in stored {
        if key.starts_with(PROFILE) {
            rows.profiles.push(serde_json::from_slice(&row)?);
        } else if let Some(id) = key.strip_prefix(CONVERSATION) {
            let conversation = serde_json::from_slice(&row)?;
            rows.conversations
                .push((EntityId::try_new(id)?, conversation));
        } else if let Some(id) = key.strip_prefix(ARCHIVE) {
            let archive = serde_json::from_slice(&row)?;
            rows.archives.push((EntityId::try_new(id)?, archive));
        } else if key.starts_with(REMOVED) {
            rows.removed.push(serde_json::from_slice(&row)?);
        }
    }
    Ok(Entities::from_rows(rows)?)
}

/// The rows that a change touched, as they are after it; `None` for a row that was removed.
pub(crate) fn rows(
    entities: &Entities,
    touched: &Touched,
) -> serde_json::Result<Vec<(String, Option<Vec<u8>>)>> {
    let mut rows = Vec::new();
    for id in &touched.profiles {
        rows.push(row(PROFILE, id, entities.profile_row(id))?);
    }
    for id in &touched.conversations {
        rows.push(row(CONVERSATION, id, entities.conversation_row(id))?);
    }
    for id in &touched.archives {
        rows.push(row(ARCHIVE, id, entities.archive_row(id))?);
    }
    for id in &touched.removed {
        rows.push(row(REMOVED, id, entities.removed_row(id))?);
    }
    Ok(rows)
}

fn row(
    what: &str,
    id: &EntityId,
    row: Option<&impl Serialize>,
) -> serde_json::Result<(String, Option<Vec<u8>>)> {
    let row = row.map(serde_json::to_vec).transpose()?;
    Ok((format!("{what}{id}"), row))
}
