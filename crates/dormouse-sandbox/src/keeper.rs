//! The thread that keeps the world: it alone owns the state and the file, takes requests in order, and writes
//! the changes that wait together in one commit.
//!
//! The state in memory is what the file holds, never more: a group of changes works on a copy, which takes the
//! place of the state once the commit has answered. After a failure the file is opened anew and read again.

use std::{path::PathBuf, sync::Arc};

use dormouse_contracts::{
    BoxError, Clock, EntityId, IdError, Timestamp, WorldError, WorldErrorKind, WorldId,
};
use dormouse_database::Database;
use redb::ReadableTable;
use tokio::sync::mpsc;

use crate::{
    draft::Draft,
    file::{self, OpenError},
    readers::Readers,
    records::{BORN_KEY, CHARACTERS, CharacterRecord, META, REVISION_KEY, StoreError},
    request::{Change, Request},
    roster::Roster,
};

#[cfg(test)]
mod tests;

/// The most requests served together.
const GROUP: usize = 256;

/// How the world is opened, at the start and after a failure.
pub(crate) type Opener = Box<dyn Fn() -> Result<World, OpenError> + Send>;

/// Opens the world in the file at `path`, whenever asked. If there is none it is made, as one made at `now`.
pub(crate) fn opener(path: PathBuf, now: Timestamp) -> Opener {
    Box::new(move || {
        World::load(file::open(&path, now)?, Roster::try_new()?).map_err(|error| {
            OpenError::Damaged {
                path: path.clone(),
                source: error.into(),
            }
        })
    })
}

/// The world as the file holds it.
pub(crate) struct World {
    pub(crate) database: Database,
    pub(crate) roster: Roster,
    revision: u64,
    born: Option<u64>,
}

impl World {
    /// Reads who is where. `residents` are those who are there anyway.
    pub(crate) fn load(database: Database, residents: Roster) -> Result<Self, StoreError> {
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
            database,
            roster,
            born,
        })
    }

    /// The name the world gives itself: another world in the same place has another one, so that nobody takes its
    /// deliveries for those of this one.
    fn id(&self) -> Result<WorldId, IdError> {
        match self.born {
            Some(born) => WorldId::try_new(format!("sandbox-{born}")),
            None => WorldId::try_new("sandbox"),
        }
    }
}

/// What a question may look at.
pub(crate) struct View<'a> {
    pub(crate) world: &'a World,
    pub(crate) readers: &'a mut Readers,
}

/// The thread's own state.
pub(crate) struct Keeper {
    opener: Opener,
    id: WorldId,
    clock: Arc<dyn Clock>,
    /// None after a failure, until the file could be opened again.
    world: Option<World>,
    readers: Readers,
}

/// What came of a group of changes.
enum Written {
    /// They were refusals and looks: there was nothing to write.
    Nothing,
    /// They are on disk, and what was acknowledged is gone from it.
    All,
}

/// Why a group of changes was not written.
struct Unwritten {
    error: StoreError,
    /// The number the group would have, if its commit had begun: then only the file knows whether it ended.
    begun: Option<u64>,
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Self {
        Self { error, begun: None }
    }
}

impl Keeper {
    /// Opens the world.
    pub(crate) fn open(opener: Opener, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let world = opener()?;
        Ok(Self {
            opener,
            id: world.id()?,
            clock,
            world: Some(world),
            readers: Readers::default(),
        })
    }

    /// The name the world gives itself.
    pub(crate) fn id(&self) -> &WorldId {
        &self.id
    }

    /// Serves requests until nobody can send any more.
    pub(crate) fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        while let Some(first) = requests.blocking_recv() {
            let mut changes = Vec::new();
            let mut questions = Vec::new();
            let mut next = Some(first);
            while let Some(request) = next {
                match request {
                    Request::Change(change) => changes.push(change),
                    Request::Ask(question) => questions.push(question),
                }
                let waiting = changes.len() + questions.len() < GROUP;
                next = if waiting {
                    requests.try_recv().ok()
                } else {
                    None
                };
            }
            self.serve(changes);
            // Asked at the same time as the changes were, so either order is right; this one sees them.
            for question in questions {
                question.answer(self.view());
            }
        }
        if let Err(failure) = self.write(&mut []) {
            tracing::warn!(error = %failure.source, "what was acknowledged last will be delivered again");
        }
    }

    fn view(&mut self) -> Result<View<'_>, WorldError> {
        let world = awake(&mut self.world, &self.opener)?;
        let readers = &mut self.readers;
        Ok(View { world, readers })
    }

    fn serve(&mut self, mut changes: Vec<Box<dyn Change>>) {
        if changes.is_empty() {
            return;
        }
        let fate = self.write(&mut changes);
        if let (Ok(()), Some(world)) = (&fate, &self.world) {
            self.readers.publish(&world.roster);
        }
        for change in changes {
            change.answer(match &fate {
                Ok(()) => Ok(()),
                Err(failure) => Err(failure.to_world_error()),
            });
        }
    }

    fn write(&mut self, changes: &mut [Box<dyn Change>]) -> Result<(), Failure> {
        let world = awake(&mut self.world, &self.opener).map_err(|e| Failure::new(e.kind(), e))?;
        let unwritten = match write_group(world, &self.readers, &self.id, &*self.clock, changes) {
            Ok(Written::Nothing) => return Ok(()),
            Ok(Written::All) => {
                self.readers.pruned();
                return Ok(());
            }
            Err(unwritten) => unwritten,
        };
        tracing::warn!(error = %unwritten.error, "a group of changes was not written");
        // The database refuses everything after a failure, so it is opened again; only the file knows what it holds.
        self.world = None;
        let reopened = awake(&mut self.world, &self.opener).map(|world| world.revision);
        let kind = match (unwritten.begun, reopened) {
            (None, _) => WorldErrorKind::NotReached,
            (Some(begun), Ok(revision)) if revision < begun => WorldErrorKind::NotReached,
            (Some(_), _) => WorldErrorKind::Unanswered,
        };
        Err(Failure::new(kind, unwritten.error))
    }
}

/// The world, opened again if a failure has closed it.
fn awake<'a>(world: &'a mut Option<World>, opener: &Opener) -> Result<&'a mut World, WorldError> {
    let opened = match world.take() {
        Some(opened) => opened,
        None => {
            opener().map_err(|e| WorldError::new(WorldErrorKind::NotReached, Some(e.into())))?
        }
    };
    Ok(world.insert(opened))
}

fn write_group(
    world: &mut World,
    readers: &Readers,
    id: &WorldId,
    clock: &dyn Clock,
    changes: &mut [Box<dyn Change>],
) -> Result<Written, Unwritten> {
    let mut draft = Draft::begin(&world.database, &world.roster, id)?;
    for change in changes.iter_mut() {
        change.make(&mut draft, clock)?;
    }
    // What was acknowledged is not worth a commit of its own, but for the last one.
    let is_last = changes.is_empty() && !readers.acknowledged().is_empty();
    if !draft.has_changes() && !is_last {
        return Ok(Written::Nothing);
    }
    let revision = world.revision.saturating_add(1);
    draft.prune(readers.acknowledged())?;
    draft.finish(revision)?;
    world.roster = draft.commit().map_err(|error| Unwritten {
        error,
        begun: Some(revision),
    })?;
    world.revision = revision;
    Ok(Written::All)
}

/// A failure that all changes of a group share.
struct Failure {
    kind: WorldErrorKind,
    source: Arc<BoxError>,
}

impl Failure {
    fn new(kind: WorldErrorKind, source: impl Into<BoxError>) -> Self {
        let source = Arc::new(source.into());
        Self { kind, source }
    }

    fn to_world_error(&self) -> WorldError {
        WorldError::new(self.kind, Some(Shared(Arc::clone(&self.source)).into()))
    }
}

/// The cause of a failure, as told to each of those it struck.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Shared(Arc<BoxError>);
