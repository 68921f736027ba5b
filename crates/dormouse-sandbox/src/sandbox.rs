//! The handle of the world.

use std::{
    fmt,
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
};

use dormouse_contracts::{Clock, EntityId, ToolSpec, WorldError, WorldId};
use dormouse_database::DatabaseHandle;
use tokio::sync::mpsc;

use crate::{
    act::{Act, ActError, Acted, ActedOnce},
    actor::{SandboxActor, SharedState},
    character::{Character, JoinError},
    file::{self, SandboxOpenError},
    records::StoreError,
    request::{self, ActorRequest},
    rewrite::WorldMoment,
    roster::Roster,
    tools,
    transaction::WorldTransaction,
    world::{MemoryView, World, WorldView},
};

/// The most requests in the queue; further callers wait for a place in it.
const QUEUE: usize = 256;

/// A small world in one file. Cloning the handle is cheap, and a clone is a handle of the same world.
///
/// One actor thread handles requests in order and writes waiting changes together in one commit; every confirmed change
/// is durable. Dropping the last handle waits until the thread has written all requests and closed the file, which
/// takes milliseconds.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    /// Taken when the last handle is dropped, which ends the thread.
    actor: Option<mpsc::Sender<ActorRequest>>,
    thread: Option<JoinHandle<()>>,
    state: SharedState,
    id: WorldId,
    tools: Vec<ToolSpec>,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("id", &self.0.id)
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.actor.take());
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // A panic of the thread was already reported; the file is closed in any case.
            thread.join().ok();
        }
    }
}

impl Sandbox {
    /// Opens the world in the file at `path`, or creates it.
    ///
    /// Checks every page of the file, which takes time linear in its size (about a second per gigabyte), and blocks
    /// meanwhile. Starts one thread. `clock` provides the times of events.
    ///
    /// # Errors
    ///
    /// [`SandboxOpenError`]; existing files are never replaced.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, SandboxOpenError> {
        Self::start(path, file::open(path, clock.now())?, clock)
    }

    /// Starts the actor with the world in this database. Errors name the file `path`.
    pub(crate) fn start(
        path: &Path,
        database: DatabaseHandle,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SandboxOpenError> {
        let tools = tools::sandbox_tools()?;
        let residents = Roster::try_new()?;
        let world = World::load(&database, residents.clone()).map_err(|error| {
            SandboxOpenError::Damaged {
                path: path.to_owned(),
                source: error.into(),
            }
        })?;
        let actor = SandboxActor::try_new(database, world, residents, clock)?;
        let (id, state) = (actor.id().clone(), actor.shared());
        let (sender, requests) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new()
            .name("sandbox".to_owned())
            .spawn(move || actor.run(requests))
            .map_err(SandboxOpenError::Thread)?;
        Ok(Self(Arc::new(Inner {
            actor: Some(sender),
            thread: Some(thread),
            state,
            id,
            tools,
        })))
    }

    pub(crate) fn world_id(&self) -> &WorldId {
        &self.0.id
    }

    pub(crate) fn tool_specs(&self) -> &[ToolSpec] {
        &self.0.tools
    }

    /// Adds a character. A new one arrives in the first room, and one that had left is in its room again; the characters there
    /// see it. A known one stays where it is and gets the new name. Durable once confirmed.
    ///
    /// If the future is dropped, the character may have joined or not.
    ///
    /// # Errors
    ///
    /// [`JoinError`]: the character is not acceptable, or the world could not be reached.
    pub async fn join(&self, character: Character) -> Result<(), JoinError> {
        let joined =
            self.change(move |transaction, clock| transaction.join(&character, clock.now()));
        Ok(joined.await.map_err(JoinError::World)??)
    }

    /// Lets a character leave the world; the characters in the room see it. From then on only pages reach it, until it
    /// joins again, in the same room. Does nothing if it is not there. Durable once confirmed.
    ///
    /// If the future is dropped, the character may have left or not.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world could not be reached.
    pub async fn leave(&self, character: &EntityId) -> Result<(), WorldError> {
        let id = character.clone();
        self.change(move |transaction, clock| transaction.leave(&id, clock.now()))
            .await
    }

    /// Performs an act of a character. Durable once confirmed; [`Act`] says who notices.
    ///
    /// If the future is dropped, the act may have happened or not.
    ///
    /// # Errors
    ///
    /// - [`ActError::Refused`]: the world refuses; nothing happened.
    /// - [`ActError::World`]: the world could not be reached, or did not answer; the error kind says which.
    pub async fn act(&self, actor: &EntityId, act: Act) -> Result<Acted, ActError> {
        let actor = actor.clone();
        let acted =
            self.change(move |transaction, clock| transaction.act(&actor, &act, clock.now()));
        Ok(acted.await.map_err(ActError::World)??)
    }

    /// Performs an act of a character, unless one was performed under the same key: then nothing happens, and the deliveries are
    /// those of the first one. So a caller that got no answer can call again, after a restart too. The last thousand keys of
    /// each character are remembered; rewriting the world forgets them.
    ///
    /// If the future is dropped, the act may have happened or not.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::act`]. A refused act does not use its key.
    pub async fn act_once(
        &self,
        actor: &EntityId,
        key: &str,
        act: Act,
    ) -> Result<ActedOnce, ActError> {
        let (actor, key) = (actor.clone(), key.to_owned());
        let acted = self.change(move |transaction, clock| {
            transaction.act_once(&actor, &key, &act, clock.now())
        });
        Ok(acted.await.map_err(ActError::World)??)
    }

    /// The world as it is now: with every change that was confirmed before this call, and none that begins after it.
    /// Also calls `meanwhile`, and nothing happens in the world until that returns. So what `meanwhile` looks at, such as a
    /// log, fits the world of this moment.
    ///
    /// If the future is dropped, `meanwhile` may have been called or not.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world could not be reached.
    pub async fn moment<T: Send + 'static>(
        &self,
        meanwhile: impl FnOnce() -> T + Send + 'static,
    ) -> Result<(WorldMoment, T), WorldError> {
        self.ask(move |view| {
            let world = WorldMoment(view.database.begin_read()?);
            Ok((world, meanwhile()))
        })
        .await
    }

    pub(crate) async fn change<T: Send + 'static>(
        &self,
        make: impl FnMut(&mut WorldTransaction<'_>, &dyn Clock) -> Result<T, StoreError>
        + Send
        + 'static,
    ) -> Result<T, WorldError> {
        request::change(self.0.actor.as_ref(), make).await
    }

    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(WorldView<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, WorldError> {
        request::ask(self.0.actor.as_ref(), ask).await
    }

    /// Answers a question about what is in memory: at once, unless the world is being written.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce(MemoryView<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, WorldError> {
        match self.0.state.look(question) {
            Ok(answer) => answer.map_err(request::not_reached),
            Err(question) => self.ask(|view| question(view.memory)).await,
        }
    }
}
