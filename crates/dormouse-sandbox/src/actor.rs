//! The actor thread of the world, the only one that changes the state and uses the file. It handles requests in order, and
//! writes waiting changes together in one commit.
//!
//! The state in memory equals the content of the file whenever a question is answered. A group of changes works on that
//! state. If its commit fails, the state is discarded, and the file is reopened and read again. While the disk is full, the
//! file cannot be opened for writing; then questions are answered from a read-only snapshot.
//!
//! A question about the state in memory needs neither the file nor the thread: its caller answers it, unless the thread is at
//! work. Waking a thread and being woken by it takes longer than the answer.

use std::{
    collections::BTreeSet,
    error::Error,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{BoxError, Clock, EntityId, IdError, WorldError, WorldErrorKind, WorldId};
use dormouse_database::{DatabaseFault, DatabaseHandle};
use tokio::sync::mpsc;

use crate::{
    readers::Readers,
    records::StoreError,
    request::{ActorRequest, ChangeRequest, not_reached},
    roster::Roster,
    transaction::WorldTransaction,
    world::{MemoryView, World, WorldView},
};

#[cfg(test)]
mod tests;

/// The most requests handled together.
const GROUP: usize = 256;

/// The state of the thread.
pub(crate) struct SandboxActor {
    shared: SharedState,
    id: WorldId,
    clock: Arc<dyn Clock>,
}

/// The state of the world. The thread has it while it works on a group of requests, and its callers while they look at it.
#[derive(Clone)]
pub(crate) struct SharedState(Arc<Mutex<SandboxState>>);

struct SandboxState {
    access: Access,
    readers: Readers,
}

impl SharedState {
    /// Answers a question about what is in memory. Gives the question back if the thread is at work, or has to read the file
    /// first.
    pub(crate) fn look<T, F>(&self, question: F) -> Result<Result<T, StoreError>, F>
    where
        F: FnOnce(MemoryView<'_>) -> Result<T, StoreError>,
    {
        // Never waits: the thread keeps the state while it writes. After a panic the thread says what happened.
        let Ok(mut state) = self.0.try_lock() else {
            return Err(question);
        };
        let SandboxState { access, readers } = &mut *state;
        match access.world.as_ref().filter(|_| !access.has_failed) {
            Some(world) => Ok(question(MemoryView { world, readers })),
            None => Err(question),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SandboxState> {
        // A question that panicked has changed nothing but notes of readers.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The world, as far as it can be opened.
struct Access {
    database: DatabaseHandle,
    /// The non-player characters, who are not in the file.
    residents: Roster,
    /// The content of the file; `None` until it is read again after a failure.
    world: Option<World>,
    /// Whether a failure has closed the database, until it is reopened.
    has_failed: bool,
}

impl Access {
    /// The world for writing, reopened if a failure has closed it.
    fn writable(&mut self) -> Result<(&DatabaseHandle, &mut World), StoreError> {
        self.recover()?;
        self.load()
    }

    /// The world for reading. Fails only if the disk cannot be read.
    fn readable(&mut self) -> Result<(&DatabaseHandle, &mut World), StoreError> {
        if let Err(unwritable) = self.recover() {
            // The database can only read a snapshot now. Without a snapshot, the caller gets the error of opening for
            // writing, which is more useful.
            return self.load().map_err(|_unreadable| unwritable);
        }
        self.load()
    }

    fn recover(&mut self) -> Result<(), StoreError> {
        if self.has_failed {
            // The content in memory may be that of a snapshot.
            self.world = None;
            self.database.reopen()?;
            self.has_failed = false;
        }
        Ok(())
    }

    fn load(&mut self) -> Result<(&DatabaseHandle, &mut World), StoreError> {
        let world = match self.world.take() {
            Some(world) => world,
            None => World::load(&self.database, self.residents.clone())?,
        };
        Ok((&self.database, self.world.insert(world)))
    }

    /// After a failure the database refuses everything, and its content is unknown.
    fn fail(&mut self) {
        self.has_failed = true;
    }
}

/// The result of writing a group of changes.
enum Written {
    /// The requests changed nothing, because they were refused or only looked; nothing was written.
    Nothing,
    /// The changes of these characters are on disk, and acknowledged entries were removed.
    All(BTreeSet<EntityId>),
}

/// Why a group of changes was not written.
struct Unwritten {
    error: StoreError,
    /// The number of the group, if its commit had started: then only the file shows whether it took effect.
    begun: Option<u64>,
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Self {
        Self { error, begun: None }
    }
}

impl From<DatabaseFault> for Unwritten {
    fn from(fault: DatabaseFault) -> Self {
        StoreError::from(fault).into()
    }
}

impl SandboxActor {
    /// Takes over the world in this database, with this content.
    pub(crate) fn try_new(
        database: DatabaseHandle,
        world: World,
        residents: Roster,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, IdError> {
        let id = world.id()?;
        let access = Access {
            database,
            residents,
            world: Some(world),
            has_failed: false,
        };
        let state = SandboxState {
            access,
            readers: Readers::default(),
        };
        Ok(Self {
            shared: SharedState(Arc::new(Mutex::new(state))),
            id,
            clock,
        })
    }

    /// The id of the world.
    pub(crate) fn id(&self) -> &WorldId {
        &self.id
    }

    /// The state, to look at.
    pub(crate) fn shared(&self) -> SharedState {
        self.shared.clone()
    }

    /// Handles requests until all senders are gone.
    pub(crate) fn run(self, mut requests: mpsc::Receiver<ActorRequest>) {
        while let Some(first) = requests.blocking_recv() {
            let mut changes = Vec::new();
            let mut questions = Vec::new();
            let mut next = Some(first);
            while let Some(request) = next {
                match request {
                    ActorRequest::Change(change) => changes.push(change),
                    ActorRequest::Ask(question) => questions.push(question),
                }
                let waiting = changes.len() + questions.len() < GROUP;
                next = if waiting {
                    requests.try_recv().ok()
                } else {
                    None
                };
            }
            self.serve(changes);
            // Questions and changes of a group waited at the same time, so either order is correct. Questions come last
            // and see the changes.
            for question in questions {
                question.answer(self.shared.lock().view());
            }
        }
        if let Err(failure) = self.write(&mut []) {
            tracing::warn!(error = %failure.source, "acknowledgements were not stored: perceptions will come again");
        }
    }

    fn serve(&self, mut changes: Vec<Box<dyn ChangeRequest>>) {
        if changes.is_empty() {
            return;
        }
        // Answers are given without the lock: their receivers often look at the world at once.
        let fate = self.write(&mut changes);
        for change in changes {
            change.answer(match &fate {
                Ok(()) => Ok(()),
                Err(failure) => Err(failure.to_world_error()),
            });
        }
    }

    fn write(&self, changes: &mut [Box<dyn ChangeRequest>]) -> Result<(), Failure> {
        self.shared.lock().write(&self.id, &*self.clock, changes)
    }
}

impl SandboxState {
    fn view(&mut self) -> Result<WorldView<'_>, WorldError> {
        let (database, world) = self.access.readable().map_err(not_reached)?;
        let readers = &mut self.readers;
        Ok(WorldView {
            database,
            memory: MemoryView { world, readers },
        })
    }

    fn write(
        &mut self,
        id: &WorldId,
        clock: &dyn Clock,
        changes: &mut [Box<dyn ChangeRequest>],
    ) -> Result<(), Failure> {
        let unopened = |error| Failure::new(WorldErrorKind::NotReached, error);
        let (database, world) = self.access.writable().map_err(unopened)?;
        let readers = &self.readers;
        let written = database.write(|writing| {
            let revision = world.revision.saturating_add(1);
            let transaction = WorldTransaction::begin(writing, &mut world.roster, id);
            write_group(transaction, revision, readers, clock, changes)
        });
        let unwritten = match written {
            Ok(Written::Nothing) => return Ok(()),
            Ok(Written::All(touched)) => {
                world.revision = world.revision.saturating_add(1);
                self.readers.pruned();
                self.readers.publish(&world.roster, &touched);
                return Ok(());
            }
            Err(unwritten) => unwritten,
        };
        tracing::warn!(
            error = &unwritten.error as &dyn Error,
            "a group of changes was not written"
        );
        self.access.fail();
        self.readers.missed_some();
        // Only the file shows whether the commit took effect. Reading it needs no disk space, which may be what was
        // missing.
        let revision = self.access.readable().map(|(_, world)| world.revision);
        let kind = match (unwritten.begun, revision) {
            (None, _) => WorldErrorKind::NotReached,
            (Some(begun), Ok(revision)) if revision < begun => WorldErrorKind::NotReached,
            (Some(_), _) => WorldErrorKind::Unanswered,
        };
        Err(Failure::new(kind, unwritten.error))
    }
}

fn write_group(
    mut transaction: WorldTransaction<'_>,
    revision: u64,
    readers: &Readers,
    clock: &dyn Clock,
    changes: &mut [Box<dyn ChangeRequest>],
) -> Result<Written, Unwritten> {
    for change in changes.iter_mut() {
        change.make(&mut transaction, clock)?;
    }
    // Acknowledgements are written with the next change. Only the last ones get a commit of their own.
    let is_last = changes.is_empty() && !readers.acknowledged().is_empty();
    if !transaction.has_changes() && !is_last {
        return Ok(Written::Nothing);
    }
    transaction.prune(readers.acknowledged())?;
    transaction.finish(revision)?;
    let touched = transaction.commit().map_err(|error| Unwritten {
        error,
        begun: Some(revision),
    })?;
    Ok(Written::All(touched))
}

/// A failure that affects all changes of a group.
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

/// The cause of a failure, shared by the errors of all affected changes.
#[derive(Debug)]
struct Shared(Arc<BoxError>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shared {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
