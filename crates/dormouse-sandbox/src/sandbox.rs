//! The handle on the world.

use std::{
    fmt,
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
};

use dormouse_contracts::{Clock, EntityId, ToolSpec, WorldError, WorldId};
use tokio::sync::mpsc;

use crate::{
    act::{Act, ActError, Acted},
    character::{Character, JoinError},
    draft::Draft,
    file::OpenError,
    keeper::{Keeper, Opener, View, opener},
    records::StoreError,
    request::{self, Request},
    tools,
};

/// How many requests wait at most; whoever comes later waits to be let in.
const QUEUE: usize = 256;

/// A small world in one file. Cloning the handle is cheap and gives another handle on the same world.
///
/// The world is one thread that takes requests in order and writes the changes that wait together in one
/// commit; every answer to a change is durable. Dropping the last handle waits until that thread has written
/// what it was asked and has closed the file, which takes milliseconds.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    /// Taken when the last handle goes, so that the thread ends.
    keeper: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
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
        drop(self.keeper.take());
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // A thread that panicked has said so on its own; the file is closed either way.
            thread.join().ok();
        }
    }
}

impl Sandbox {
    /// Opens the world in the file at `path`, and creates it if there is none.
    ///
    /// Checks every page of the file, so it takes time in proportion to its size (about a second for a
    /// gigabyte), and blocks meanwhile. Starts one thread. `clock` tells when things happen.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; nothing that is already there is ever replaced.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let now = clock.now();
        Self::keep(opener(path.to_owned(), now), clock)
    }

    /// Has a world kept that is opened in this way.
    pub(crate) fn keep(opener: Opener, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let tools = tools::specs()?;
        let keeper = Keeper::open(opener, clock)?;
        let id = keeper.id().clone();
        let (sender, requests) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new()
            .name("sandbox".to_owned())
            .spawn(move || keeper.run(requests))
            .map_err(OpenError::Thread)?;
        Ok(Self(Arc::new(Inner {
            keeper: Some(sender),
            thread: Some(thread),
            id,
            tools,
        })))
    }

    /// The name this world gives itself in every delivery. It is made with the world and stays with its file.
    #[must_use]
    pub fn id(&self) -> &WorldId {
        &self.0.id
    }

    /// The tools an assistant has in this world: say, whisper, page, pose, inspect_location and move.
    ///
    /// Speaking (say, whisper, page) is terminal: the others have the word. A pose accompanies speech and asks
    /// for no answer, and going somewhere is what one does before looking or speaking there and is undone by
    /// going back; both may be followed by another call.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.0.tools.clone()
    }

    /// Lets a character in. One that is new arrives in the first room, and those there see it; one that is
    /// known stays where it is, and takes the name given. Durable once answered.
    ///
    /// Dropping the future leaves the character in or out.
    ///
    /// # Errors
    ///
    /// [`JoinError`]: what is wrong with the character, or that the world could not be reached.
    pub async fn join(&self, character: Character) -> Result<(), JoinError> {
        let joined = self.change(move |draft, clock| draft.join(&character, clock.now()));
        Ok(joined.await.map_err(JoinError::World)??)
    }

    /// Has a character do something. Durable once answered; [`Act`] says who notices.
    ///
    /// Dropping the future leaves the act done or not done.
    ///
    /// # Errors
    ///
    /// - [`ActError::Refused`]: why the world refuses; nothing happened.
    /// - [`ActError::World`]: the world could not be reached, or did not answer; its kind tells.
    pub async fn act(&self, actor: &EntityId, act: Act) -> Result<Acted, ActError> {
        let actor = actor.clone();
        let acted = self.change(move |draft, clock| draft.act(&actor, &act, clock.now()));
        Ok(acted.await.map_err(ActError::World)??)
    }

    pub(crate) async fn change<T: Send + 'static>(
        &self,
        make: impl FnMut(&mut Draft<'_>, &dyn Clock) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, WorldError> {
        request::change(self.0.keeper.as_ref(), make).await
    }

    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(View<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, WorldError> {
        request::ask(self.0.keeper.as_ref(), ask).await
    }
}
