//! Many assistants in one process, over one log and in one world.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, BoxFuture, ChatModel, EntityId, LoadSnapshot,
    ReadError, ReadEvents, SaveSnapshot, Senses, Seq, Snapshot, StoredEvent, ToolSource,
};
use dormouse_engine::{Accepted, AdmissionSettings, AssistantConfig, Rest};
use dormouse_offline::OfflineModel;
use dormouse_sandbox::CharacterKind;
use dormouse_store::RedbLog;
use dormouse_tests::{LIMIT, Resident, tell};
use futures_util::future::join_all;
use tokio::time::timeout;

use crate::{
    account::{Account, every_decision_is_the_same_again},
    host::{Host, entity, key},
};

const ASSISTANTS: u64 = 16;
const MESSAGES: u64 = 20;

/// One of the assistants and the player who talks to it.
struct Pair {
    key: AssistantId,
    body: EntityId,
    name: String,
    player: EntityId,
    resident: Resident,
}

/// A log that counts how often it was asked to append.
struct Counted {
    log: RedbLog,
    appends: Arc<AtomicU64>,
}

impl Append for Counted {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        self.appends.fetch_add(1, Ordering::Relaxed);
        self.log.append(request)
    }
}

impl ReadEvents for Counted {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

impl SaveSnapshot for Counted {
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>> {
        self.log.save_snapshot(assistant, snapshot)
    }
}

impl LoadSnapshot for Counted {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.log.load_snapshot(assistant, up_to)
    }
}

async fn pair(
    host: &Host,
    number: u64,
    model: &Arc<dyn ChatModel>,
    appends: &Arc<AtomicU64>,
) -> Pair {
    let key = key(&format!("resident-{number}"));
    let (body, name) = (
        entity(&format!("assistant:{key}")),
        format!("Resident{number:02}"),
    );
    let kind = CharacterKind::Assistant(key.clone());
    host.join(&body, &name, kind).await;
    let player = entity(&format!("player:{number}"));
    let guest = format!("Guest{number:02}");
    host.join(&player, &guest, CharacterKind::Player).await;
    let mut ports = host.ports(&key, Arc::clone(model));
    ports.log = Arc::new(Counted {
        log: host.log.clone(),
        appends: Arc::clone(appends),
    });
    let mut config = AssistantConfig::new(key.clone());
    // Each player says everything at once, and is to be answered line by line.
    config.admission = AdmissionSettings::off();
    let resident = Resident::wake(config, host.sandbox.specs(), ports).await;
    Pair {
        key,
        body,
        name,
        player,
        resident,
    }
}

impl Pair {
    /// What the player says, one after the other.
    async fn talk(&self, host: &Host) {
        for number in 1..=MESSAGES {
            let text = match number % 4 {
                0 => format!("what is item {}?", number - 1),
                1 => format!("hello, this is message {number}"),
                _ => format!("remember that item {number} of {} is n{number}", self.key),
            };
            let listener = (&self.body, self.name.as_str());
            host.whisper(&self.player, listener, &text).await;
        }
    }

    /// Hands over what the assistant perceives, until it has heard everything the player says.
    async fn listen(&self, host: &Host) {
        let (mut triggers, mut after) = (0, 0);
        while triggers < MESSAGES {
            for perception in host.perceived(&self.body, after).await {
                after = perception.attested.delivery.number;
                if let Accepted::Logged { classification, .. } =
                    self.resident.hear(perception).await
                {
                    triggers += u64::from(classification.verdict == MessageVerdict::Trigger);
                }
            }
            let taken = host.sandbox.acknowledge(&self.body, after).await;
            taken.expect("the world lets go of what was taken in");
        }
        assert_eq!(self.resident.rest().await, Rest::Settled);
    }

    /// Checks that its life is its own, and whole.
    async fn check(&self, host: &Host) -> usize {
        every_decision_is_the_same_again(host, &self.key).await;
        let account = Account::of(host, &self.key).await;
        account.every_message_is_answered_once();
        assert_eq!(account.triggers().count() as u64, MESSAGES);
        for heard in account.triggers() {
            let sender = heard.perception.attested.sender.id();
            assert_eq!(
                sender,
                Some(&self.player),
                "nobody hears another's whispers"
            );
        }
        let own = format!("of {}", self.key);
        assert!(account.memories.iter().all(|line| line.contains(&own)));
        assert_eq!(account.memories.len() as u64, MESSAGES / 2);
        account.events
    }
}

async fn live(data: &Path) {
    let host = Host::open(data);
    let model: Arc<dyn ChatModel> = Arc::new(OfflineModel::new());
    let appends = Arc::default();
    let mut pairs = Vec::new();
    for number in 0..ASSISTANTS {
        pairs.push(Box::pin(pair(&host, number, &model, &appends)).await);
    }
    let before = host.log.stats();
    let at_once = pairs
        .iter()
        .map(|pair| async { tokio::join!(pair.talk(&host), pair.listen(&host)) });
    let all = timeout(LIMIT, join_all(at_once)).await;
    all.expect("everybody is answered in time");
    let after = host.log.stats();

    let mut events = 0;
    for pair in &pairs {
        events += pair.check(&host).await;
    }
    let appends = appends.load(Ordering::Relaxed);
    let syncs = after.syncs - before.syncs;
    tell(&format!(
        "{ASSISTANTS} assistants, {} messages, {events} events in {appends} appends: {syncs} syncs",
        ASSISTANTS * MESSAGES
    ));
    // An append by itself takes two syncs. How many share one depends on how busy the machine is.
    assert!(
        syncs < appends * 3 / 2,
        "appends share syncs: {syncs} for {appends}"
    );
    for pair in pairs {
        pair.resident.end().await;
    }
    assert!(host.log.verify().unwrap().is_intact());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_assistants_in_one_process_answer_everything_once_and_share_their_syncs() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    Box::pin(live(folder.path())).await;
}
