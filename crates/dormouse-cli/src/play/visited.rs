//! The assistant that is visited, and its visitor.

use std::time::Duration;

use dormouse_contracts::{AssistantId, EntityId};
use dormouse_engine::Handle;
use dormouse_host::{
    DataFolder, FolderWorld, Host, HostError, HostSettings, Resident, Woken, WorldContinuity,
    admit_player,
};
use dormouse_memory::Memory;
use dormouse_providers::{EmbedderChoice, GuardedModel};
use dormouse_sandbox::{Character, CharacterKind, Sandbox};
use dormouse_store::RedbLog;

use crate::command::Places;

/// Everything that a visit needs.
#[derive(Debug)]
pub(super) struct Visited {
    pub(super) host: Host<FolderWorld>,
    /// Where things are for a command of the visitor.
    pub(super) places: Places,
    pub(super) log: RedbLog,
    pub(super) memory: Memory,
    pub(super) sandbox: Sandbox,
    pub(super) handle: Handle,
    pub(super) key: AssistantId,
    pub(super) resident: Character,
    pub(super) player: Character,
    pub(super) continuity: WorldContinuity,
    pub(super) models: Vec<GuardedModel>,
    pub(super) embedder: EmbedderChoice,
    pub(super) slow_after: Duration,
}

impl Visited {
    /// Opens the folder, wakes the assistant and lets the visitor enter its world. Nothing runs yet.
    pub(super) async fn open(
        data: &DataFolder,
        places: Places,
        settings: HostSettings,
        (player, key): (&str, Option<&AssistantId>),
    ) -> Result<(Self, Woken, Host<FolderWorld>), HostError> {
        let host = Host::open_folder(settings, data).await?;
        let sandbox = host.world().sandbox()?.clone();
        let key = key_of(&host, key).await?;
        let woken = host.prepare(&key).await?;
        let visited = Self {
            host: host.clone(),
            places,
            log: host.log().clone(),
            memory: woken.memory.clone(),
            sandbox: sandbox.clone(),
            handle: woken.handle.clone(),
            key,
            resident: character(&woken.key, &woken.character, &woken.name),
            player: admit_player(&sandbox, player).await?,
            continuity: woken.continuity,
            models: host.models().to_vec(),
            embedder: host.embedder().clone(),
            slow_after: woken.slow_after,
        };
        Ok((visited, woken, host))
    }

    /// Lets the visitor enter the world of an assistant that already runs.
    pub(super) async fn of(
        host: &Host<FolderWorld>,
        places: Places,
        resident: &Resident,
        player: &str,
    ) -> Result<Self, HostError> {
        Ok(Self {
            host: host.clone(),
            places,
            log: host.log().clone(),
            memory: resident.memory().clone(),
            sandbox: host.world().sandbox()?.clone(),
            handle: resident.handle().clone(),
            key: resident.key().clone(),
            resident: character(resident.key(), resident.character(), resident.name()),
            player: admit_player(host.world().sandbox()?, player).await?,
            continuity: WorldContinuity::Acquainted,
            models: host.models().to_vec(),
            embedder: host.embedder().clone(),
            slow_after: resident.slow_after(),
        })
    }
}

/// The assistant to visit: the one that is named, which must exist, or the configured one, which may be new.
pub(super) async fn key_of(
    host: &Host<FolderWorld>,
    named: Option<&AssistantId>,
) -> Result<AssistantId, HostError> {
    let configured = host.config().assistant.key();
    match named {
        Some(key) if *key != configured => Ok(host.look_up(key).await?.key),
        Some(_) | None => Ok(configured),
    }
}

/// The character of an assistant.
fn character(key: &AssistantId, id: &EntityId, name: &str) -> Character {
    Character {
        id: id.clone(),
        name: name.to_owned(),
        kind: CharacterKind::Assistant(key.clone()),
    }
}
