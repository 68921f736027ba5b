//! Those who appear in the tests, and a world for them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, Effect, EffectKey, EntityId, Query, Timestamp, ToolName, Words,
};
use dormouse_sandbox::{Character, CharacterKind, Sandbox, SandboxOpenError};
use dormouse_testing::ManualClock;
use serde_json::Value;
use tempfile::TempDir;

/// A place for a world, which goes when this goes.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("world.redb")
    }

    pub(crate) fn open(&self) -> Sandbox {
        open(&self.path()).unwrap()
    }

    /// A world in which Alice, Bob (players), Dormouse and Vole (assistants) are in the first room.
    pub(crate) async fn settled(&self) -> Sandbox {
        let world = self.open();
        for name in ["Alice", "Bob", "Dormouse", "Vole"] {
            world.join(character(name)).await.unwrap();
        }
        world
    }
}

pub(crate) fn open(path: &Path) -> Result<Sandbox, SandboxOpenError> {
    let clock = ManualClock::new(Timestamp::EPOCH).stepping(Duration::from_secs(1));
    Sandbox::open(path, Arc::new(clock))
}

pub(crate) fn id(name: &str) -> EntityId {
    EntityId::try_new(name).unwrap()
}

pub(crate) fn key(name: &str) -> AssistantId {
    AssistantId::try_new(name).unwrap()
}

pub(crate) fn words(text: &str) -> Words {
    Words::try_new(text).unwrap()
}

/// The character of this name; its id is its name.
pub(crate) fn character(name: &str) -> Character {
    let kind = match name {
        "Dormouse" | "Vole" => CharacterKind::Assistant(key(name)),
        _ => CharacterKind::Player,
    };
    Character {
        id: id(name),
        name: name.to_owned(),
        kind,
    }
}

pub(crate) fn effect(effect_key: &str, actor: &str, tool: &str, arguments: &Value) -> Effect {
    Effect {
        key: EffectKey::try_new(effect_key).unwrap(),
        actor: key(actor),
        tool: ToolName::try_new(tool).unwrap(),
        arguments: arguments.as_object().unwrap().clone(),
        reply_to: None,
        within: None,
    }
}

pub(crate) fn query(actor: &str, tool: &str, arguments: &Value) -> Query {
    Query {
        actor: key(actor),
        tool: ToolName::try_new(tool).unwrap(),
        arguments: arguments.as_object().unwrap().clone(),
    }
}
