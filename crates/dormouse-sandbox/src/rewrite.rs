//! Copies a world into a new file with some words replaced, so that no byte of the new file contains the removed words.

use std::{fmt, path::Path};

use dormouse_contracts::{BoxError, Timestamp};
use dormouse_database::{DatabaseFault, DatabaseHandle};
use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use crate::{
    file::{self, KIND, SandboxOpenError},
    records::{ACTS, CHARACTERS, EFFECT_ORDER, EFFECTS, FEEDS, HEARD, META, StoreError},
};

/// Decides how the records of a world change while it is rewritten. Each record is JSON.
pub trait RewriteWorld {
    /// Returns the new form of a perception in an observer's feed; `None` if it stays as it is.
    ///
    /// # Errors
    ///
    /// Any error ends the rewriting.
    fn perception(&mut self, record: &str) -> Result<Option<String>, BoxError>;

    /// Returns the new form of an assistant's effect and its outcome; `None` if it stays as it is.
    ///
    /// # Errors
    ///
    /// Any error ends the rewriting.
    fn effect(&mut self, record: &str) -> Result<Option<String>, BoxError>;
}

/// A world was not rewritten. It is unchanged, and the new file is incomplete or missing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldRewriteError {
    /// One of the two files cannot be opened.
    #[error(transparent)]
    Open(#[from] SandboxOpenError),
    /// A file failed, or a record could not be changed.
    #[error("the world could not be rewritten")]
    Failed(#[source] BoxError),
}

/// Copies the world in the file `from` into a new file at `into`, with the records that `change` returns. Nobody else
/// may have `from` open. The world keeps its id, its characters and all numbers.
///
/// Blocks until the new file is complete, on disk and closed. Returns how many records were changed.
///
/// # Errors
///
/// [`WorldRewriteError`]. What was written of the new file stays; remove it.
pub fn rewrite_world(
    from: &Path,
    into: &Path,
    change: &mut dyn RewriteWorld,
) -> Result<u64, WorldRewriteError> {
    let old = DatabaseHandle::open_existing(from, &KIND).map_err(SandboxOpenError::from)?;
    let reading = old.begin_read()?;
    copy(&reading, into, change)
}

/// A world as it was at one moment. While this exists, the world's file keeps what it had then.
pub struct WorldMoment(pub(crate) ReadTransaction);

impl fmt::Debug for WorldMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldMoment").finish_non_exhaustive()
    }
}

impl WorldMoment {
    /// Copies the world into a new file at `into`. It keeps its id, so it belongs to the same logs.
    ///
    /// Blocks until the new file is complete, on disk and closed.
    ///
    /// # Errors
    ///
    /// [`WorldRewriteError`]. What was written of the new file stays; remove it.
    pub fn write(&self, into: &Path) -> Result<(), WorldRewriteError> {
        copy(&self.0, into, &mut AsItWas).map(drop)
    }
}

/// Changes nothing.
struct AsItWas;

impl RewriteWorld for AsItWas {
    fn perception(&mut self, _record: &str) -> Result<Option<String>, BoxError> {
        Ok(None)
    }

    fn effect(&mut self, _record: &str) -> Result<Option<String>, BoxError> {
        Ok(None)
    }
}

/// Counts the records of a world that `change` would change, as they were at its last commit. Writes and locks nothing, so
/// another process may have the world open.
///
/// # Errors
///
/// [`WorldRewriteError`].
pub fn count_changed(from: &Path, change: &mut dyn RewriteWorld) -> Result<u64, WorldRewriteError> {
    let world = DatabaseHandle::open_view(from, &KIND).map_err(SandboxOpenError::from)?;
    let reading = world.begin_read()?;
    let feeds = reading.open_table(FEEDS).map_err(broken)?;
    let effects = reading.open_table(EFFECTS).map_err(broken)?;
    let perceptions = changed(&feeds, |record| change.perception(record), |_, _| Ok(()))?;
    let acts = changed(&effects, |record| change.effect(record), |_, _| Ok(()))?;
    Ok(perceptions + acts)
}

fn copy(
    reading: &ReadTransaction,
    into: &Path,
    change: &mut dyn RewriteWorld,
) -> Result<u64, WorldRewriteError> {
    let new = file::open(into, Timestamp::EPOCH)?;
    let copied = new.write(|writing| {
        copy_as_is(reading, &writing)?;
        let perceptions = {
            let old = reading.open_table(FEEDS).map_err(broken)?;
            let mut new = writing.open_table(FEEDS).map_err(broken)?;
            let put = |key: (&str, u64), record: &str| {
                new.insert(key, record).map_err(broken)?;
                Ok(())
            };
            changed(&old, |record| change.perception(record), put)?
        };
        let acts = {
            let old = reading.open_table(EFFECTS).map_err(broken)?;
            let mut new = writing.open_table(EFFECTS).map_err(broken)?;
            let put = |key: &str, record: &str| {
                new.insert(key, record).map_err(broken)?;
                Ok(())
            };
            changed(&old, |record| change.effect(record), put)?
        };
        writing.commit().map_err(broken)?;
        Ok(perceptions + acts)
    });
    new.close();
    copied
}

/// Copies every record as `change` returns it. Returns how many were changed.
fn changed<K: redb::Key + 'static>(
    records: &impl ReadableTable<K, &'static str>,
    mut change: impl FnMut(&str) -> Result<Option<String>, BoxError>,
    mut put: impl FnMut(K::SelfType<'_>, &str) -> Result<(), WorldRewriteError>,
) -> Result<u64, WorldRewriteError> {
    let mut changed = 0;
    for entry in records.iter().map_err(broken)? {
        let (key, record) = entry.map_err(broken)?;
        let other = change(record.value()).map_err(WorldRewriteError::Failed)?;
        changed += u64::from(other.is_some());
        put(
            key.value(),
            other.as_deref().unwrap_or_else(|| record.value()),
        )?;
    }
    Ok(changed)
}

/// Copies the tables that contain nobody's words.
fn copy_as_is(
    reading: &ReadTransaction,
    writing: &WriteTransaction,
) -> Result<(), WorldRewriteError> {
    macro_rules! copy {
        ($($table:ident),+) => {$(
            let mut table = writing.open_table($table).map_err(broken)?;
            for entry in reading.open_table($table).map_err(broken)?.iter().map_err(broken)? {
                let (key, value) = entry.map_err(broken)?;
                table.insert(key.value(), value.value()).map_err(broken)?;
            }
            drop(table);
        )+};
    }
    copy!(META, CHARACTERS, HEARD, ACTS, EFFECT_ORDER);
    Ok(())
}

fn broken<E: Into<redb::Error>>(error: E) -> WorldRewriteError {
    WorldRewriteError::Failed(StoreError::from(error.into()).into())
}

impl From<DatabaseFault> for WorldRewriteError {
    fn from(fault: DatabaseFault) -> Self {
        Self::Failed(StoreError::from(fault).into())
    }
}
