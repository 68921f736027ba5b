//! A data folder whose assistants answer offline, and a person who pages them.

use std::{fs, path::Path, sync::Arc};

use dormouse_contracts::{AssistantId, EntityId, Words};
use dormouse_engine::Rest;
use dormouse_host::{DataFolder, Host, HostSettings, Resident, config::Config, provider::Models};
use dormouse_offline::OfflineModel;
use dormouse_providers::Environment;
use dormouse_sandbox::{Act, Character, CharacterKind};

/// The same person asks everybody, as fast as they answer, and nobody refuses.
const CONFIG: &str =
    "[memory]\nembedder = \"none\"\n[admission]\nwaiting = 0\nburst = 0\nlines_per_minute = 0\n";

#[derive(Clone)]
pub(super) struct Room {
    pub(super) host: Host,
    alice: EntityId,
}

impl Room {
    /// Opens it for assistants whose prompts show so many earlier turns at most.
    pub(super) async fn open(folder: &Path, max_history: usize) -> Self {
        let host = open_host(folder, max_history).await;
        let alice = EntityId::try_new("player:alice").unwrap();
        let character = Character {
            id: alice.clone(),
            name: "Alice".to_owned(),
            kind: CharacterKind::Player,
        };
        host.world().join(character).await.unwrap();
        Self { host, alice }
    }

    /// Wakes an assistant, which leaves the room: from then on pages alone reach it. Otherwise each of many would hear each other.
    pub(super) async fn wake(&self, key: &AssistantId) -> Resident {
        let resident = self.host.wake(key).await.unwrap();
        assert_eq!(resident.handle().at_rest().await, Rest::Settled);
        let left = self.host.world().leave(resident.character()).await;
        left.unwrap();
        resident
    }

    /// Pages an assistant, and waits until its turn is over and everything is on disk.
    pub(super) async fn exchange(&self, resident: &Resident, words: &str) {
        let act = Act::Page {
            to: resident.name().to_owned(),
            words: Words::try_new(words).unwrap(),
        };
        let acted = self.host.world().act(&self.alice, act).await.unwrap();
        resident.heard(&acted.deliveries).await.unwrap();
        assert_eq!(resident.handle().at_rest().await, Rest::Settled);
    }
}

pub(super) async fn open_host(folder: &Path, max_history: usize) -> Host {
    fs::create_dir_all(folder).unwrap();
    let file = folder.join("dormouse.toml");
    let limits = format!("[limits]\nmax_history = {max_history}\n");
    fs::write(&file, format!("{CONFIG}{limits}")).unwrap();
    let (config, _) = Config::load(Some(&file), &file, []).unwrap();
    let models = Models::of(Arc::new(OfflineModel::new()));
    let settings = HostSettings::with_models(config, Environment::of(|_| None), models);
    let data = DataFolder::at(folder).unwrap();
    Host::open(settings, &data).await.unwrap()
}
