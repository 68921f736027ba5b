//! The world of a data folder, as its configuration says.

use std::{path::PathBuf, sync::Arc};

use dormouse_contracts::{Clock, Habitat};
use dormouse_sandbox::Sandbox;

use crate::{
    config::WorldKind, folder::DataFolder, game_world::GameWorld, host::HostError,
    http_world::HttpWorld,
};

/// The world of a data folder.
#[derive(Clone, Debug)]
pub enum FolderWorld {
    /// The sandbox in the folder.
    Sandbox(Sandbox),
    /// A world outside of this process.
    Http(Arc<HttpWorld>),
    /// A game.
    Game(GameWorld),
}

impl FolderWorld {
    pub(crate) fn open(
        kind: WorldKind,
        folder: &DataFolder,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, HostError> {
        Ok(match kind {
            WorldKind::Sandbox => Self::Sandbox(Sandbox::open(&folder.world(), clock)?),
            WorldKind::Http => Self::Http(Arc::new(HttpWorld::open(folder, clock.now())?)),
            // Only its adapter can open a game: see `Host::open_game`.
            WorldKind::Evennia => return Err(HostError::InGame),
        })
    }

    /// The file of the world.
    pub(crate) fn file(kind: WorldKind, folder: &DataFolder) -> PathBuf {
        match kind {
            WorldKind::Sandbox => folder.world(),
            WorldKind::Http => folder.http_world(),
            WorldKind::Evennia => folder.game(),
        }
    }

    /// What the assistants live in.
    #[must_use]
    pub fn habitat(&self) -> Arc<dyn Habitat> {
        match self {
            Self::Sandbox(sandbox) => Arc::new(sandbox.clone()),
            Self::Http(world) => world.habitat(),
            Self::Game(game) => game.habitat(),
        }
    }

    /// The sandbox.
    ///
    /// # Errors
    ///
    /// [`HostError::NoSandbox`] if the folder has another world.
    pub fn sandbox(&self) -> Result<&Sandbox, HostError> {
        match self {
            Self::Sandbox(sandbox) => Ok(sandbox),
            Self::Http(_) => Err(HostError::NoSandbox),
            Self::Game(_) => Err(HostError::InGame),
        }
    }

    /// The world outside of this process, if the folder has one.
    #[must_use]
    pub fn http(&self) -> Option<&Arc<HttpWorld>> {
        match self {
            Self::Sandbox(_) | Self::Game(_) => None,
            Self::Http(world) => Some(world),
        }
    }

    /// The game, if the assistants live in one.
    #[must_use]
    pub fn game(&self) -> Option<&GameWorld> {
        match self {
            Self::Sandbox(_) | Self::Http(_) => None,
            Self::Game(game) => Some(game),
        }
    }
}
