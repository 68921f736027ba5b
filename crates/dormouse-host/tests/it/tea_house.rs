//! What the tests share: a host in a folder, and Alice who visits it.

use std::{path::Path, sync::Arc};

use dormouse_contracts::{AssistantId, ChatModel, Clock, EntityId, Seq, Timestamp, Words};
use dormouse_engine::{ConfiguredModel, decide_again};
use dormouse_host::{DataFolder, Host, HostError, HostSettings, config::Config, provider::Models};
use dormouse_offline::OfflineModel;
use dormouse_providers::{Environment, token_counter_for};
use dormouse_sandbox::{Act, Acted, Character, CharacterKind};
use dormouse_store::LogView;
use dormouse_tools::NamedToolSource;
use tokio::{runtime::Builder, time::Instant};

/// A folder for a host. Each life in its log is decided again at the end of the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let path = self.path().join("log.redb");
        if std::thread::panicking() || !path.exists() {
            return;
        }
        // The test's own runtime is busy with this drop.
        let decided = std::thread::scope(|scope| {
            let again = || {
                let runtime = Builder::new_current_thread().build().unwrap();
                runtime.block_on(every_decision_is_the_same_again(&path));
            };
            scope.spawn(again).join()
        });
        if let Err(panic) = decided {
            std::panic::resume_unwind(panic);
        }
    }
}

async fn every_decision_is_the_same_again(path: &Path) {
    let log = LogView::open(path).unwrap();
    for (key, _) in log.assistants().unwrap() {
        let counter = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
        let again = decide_again(&log, &key, Seq(u64::MAX), counter).await;
        again.unwrap();
    }
}

/// A clock that follows tokio's time.
pub(crate) struct RunningClock(Instant);

impl Clock for RunningClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_795_219_200_000_000).plus(self.0.elapsed())
    }
}

pub(crate) fn key(key: &str) -> AssistantId {
    AssistantId::try_new(key).unwrap()
}

pub(crate) async fn open(folder: &Path) -> Result<Host, HostError> {
    open_with(folder, Arc::new(OfflineModel::new())).await
}

pub(crate) async fn open_with(folder: &Path, model: Arc<dyn ChatModel>) -> Result<Host, HostError> {
    open_with_tools(folder, model, Vec::new()).await
}

pub(crate) async fn open_with_tools(
    folder: &Path,
    model: Arc<dyn ChatModel>,
    tool_sources: Vec<NamedToolSource>,
) -> Result<Host, HostError> {
    let mut settings = settings(model);
    settings.clock = Arc::new(RunningClock(Instant::now()));
    settings.tool_sources = tool_sources;
    Host::open(settings, &DataFolder::at(folder).unwrap()).await
}

/// The same with this clock.
pub(crate) async fn open_at(
    folder: &Path,
    model: Arc<dyn ChatModel>,
    clock: Arc<dyn Clock>,
) -> Host {
    let mut settings = settings(model);
    settings.clock = clock;
    let folder = DataFolder::at(folder).unwrap();
    Host::open(settings, &folder).await.unwrap()
}

fn settings(model: Arc<dyn ChatModel>) -> HostSettings {
    let environment = Environment::of(|_| None);
    HostSettings::with_models(Config::default(), environment, Models::of(model))
}

pub(crate) fn alice() -> EntityId {
    EntityId::try_new("player:alice").unwrap()
}

pub(crate) async fn admit_alice(host: &Host) {
    let character = Character {
        id: alice(),
        name: "Alice".to_owned(),
        kind: CharacterKind::Player,
    };
    host.world().join(character).await.unwrap();
}

/// What Alice says to somebody wherever they are.
pub(crate) async fn page(host: &Host, to: &str, words: &str) -> Acted {
    let act = Act::Page {
        to: to.to_owned(),
        words: Words::try_new(words).unwrap(),
    };
    host.world().act(&alice(), act).await.unwrap()
}

/// What Alice says to nobody in particular.
pub(crate) async fn say(host: &Host, words: &str) {
    let act = Act::Say(Words::try_new(words).unwrap());
    host.world().act(&alice(), act).await.unwrap();
}
