//! The world of a data folder, as its configuration says.

use std::{path::PathBuf, sync::Arc};

use dormouse_contracts::{Clock, Habitat};
use dormouse_sandbox::Sandbox;

use crate::{config::WorldKind, folder::DataFolder, host::HostError, http_world::HttpWorld};

/// The world of a data folder.
#[derive(Clone, Debug)]
pub enum FolderWorld {
    /// The sandbox in the folder.
    Sandbox(Sandbox),
    /// A world outside of this process.
    Http(Arc<HttpWorld>),
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
        })
    }

    /// The world of this folder, if its file is there. Nobody else may have it open.
    ///
    /// # Errors
    ///
    /// [`HostError`].
    pub fn open_existing(
        kind: WorldKind,
        folder: &DataFolder,
        clock: Arc<dyn Clock>,
    ) -> Result<Option<Self>, HostError> {
        match Self::file(kind, folder).exists() {
            true => Self::open(kind, folder, clock).map(Some),
            false => Ok(None),
        }
    }

    /// The file of the world.
    pub(crate) fn file(kind: WorldKind, folder: &DataFolder) -> PathBuf {
        match kind {
            WorldKind::Sandbox => folder.world(),
            WorldKind::Http => folder.http_world(),
        }
    }

    /// What the assistants live in.
    #[must_use]
    pub fn habitat(&self) -> Arc<dyn Habitat> {
        match self {
            Self::Sandbox(sandbox) => Arc::new(sandbox.clone()),
            Self::Http(world) => world.habitat(),
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
        }
    }

    /// The world outside of this process, if the folder has one.
    #[must_use]
    pub fn http(&self) -> Option<&Arc<HttpWorld>> {
        match self {
            Self::Sandbox(_) => None,
            Self::Http(world) => Some(world),
        }
    }
}
