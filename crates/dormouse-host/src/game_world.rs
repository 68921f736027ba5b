//! A game outside of this process, opened by its adapter.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_bridge::BridgeFile;
use dormouse_contracts::{AssistantId, Habitat};

/// A game outside of this process, opened by its adapter. A clone is another handle to it.
#[derive(Clone)]
pub struct GameWorld {
    habitat: Arc<dyn Habitat>,
    file: BridgeFile,
    address: String,
    connections: Arc<Mutex<BTreeMap<AssistantId, String>>>,
}

impl fmt::Debug for GameWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameWorld")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl GameWorld {
    /// A game at this address, with the file that keeps what was heard and done in it.
    #[must_use]
    pub fn new(
        habitat: Arc<dyn Habitat>,
        file: BridgeFile,
        address: String,
        connections: GameConnections,
    ) -> Self {
        Self {
            habitat,
            file,
            address,
            connections: connections.0,
        }
    }

    pub(crate) fn habitat(&self) -> Arc<dyn Habitat> {
        Arc::clone(&self.habitat)
    }

    /// The file that keeps what was heard and done.
    pub(crate) fn file(&self) -> &BridgeFile {
        &self.file
    }

    /// The address of the game, and how this assistant is connected to it, for people.
    #[must_use]
    pub fn to_text(&self, assistant: &AssistantId) -> String {
        let connections = lock(&self.connections);
        let connection = connections
            .get(assistant)
            .map_or("is not connected yet", String::as_str);
        format!("{}: {connection}", self.address)
    }
}

/// The connections to a game, as their adapter reports them. A clone reports about the same ones.
#[derive(Clone, Debug, Default)]
pub struct GameConnections(Arc<Mutex<BTreeMap<AssistantId, String>>>);

impl GameConnections {
    /// Notes what became of the connection of an assistant.
    pub fn note(&self, assistant: &AssistantId, what: String) {
        lock(&self.0).insert(assistant.clone(), what);
    }
}

/// No change under the lock can be left half done, so a poisoned lock does not matter.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
