//! Makes a folder in which many have lived. One of them lives. The others get its log with their own names, which a fork also
//! does; the state, the memory and the character of each are made from that by the parts that make them in a life.

use std::{path::Path, sync::Arc, time::Duration};

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, NewEvent, ReadError, SaveSnapshot, Senses, Seq,
    StoredEvent, Words, each_event,
};
use dormouse_engine::{Event, LoggedMemory, Rest, encode_snapshot, restore};
use dormouse_host::{DataFolder, SystemClock};
use dormouse_memory::Memory;
use dormouse_offline::OfflineModel;
use dormouse_sandbox::{Act, Character, CharacterKind, Sandbox};
use dormouse_store::RedbLog;
use tokio::task::JoinSet;

use crate::{EVENTS, admit_guests, all_away, character, guest, name, open, speaking::GUESTS};

/// How many are made at the same time.
const AT_ONCE: usize = 16;

/// What the first of them hears, again and again.
const SAID: [&str; 5] = [
    "my sister Ada plants beans on Tuesdays",
    "do you remember what my sister plants?",
    "the boat to Fenwick leaves at seven",
    "I like tea without milk",
    "when does the boat leave?",
];

/// Makes the folder, and returns how many events its log has.
pub(crate) async fn make(folder: &Path, keys: &[AssistantId]) -> u64 {
    let (first, others) = keys.split_first().unwrap();
    live(folder, first).await;
    let maker = Arc::new(Maker::open(folder, first).await);
    let mut making = JoinSet::new();
    for key in others {
        if making.len() == AT_ONCE {
            making.join_next().await.unwrap().unwrap();
        }
        let (maker, key) = (Arc::clone(&maker), key.clone());
        making.spawn(async move { maker.make(&key).await });
    }
    while let Some(made) = making.join_next().await {
        made.unwrap();
    }
    for key in others {
        maker.hear(key).await;
    }
    let known = maker.log.assistants().unwrap();
    known.iter().map(|(_, end)| end.0).sum()
}

/// Lets the first of them live.
async fn live(folder: &Path, key: &AssistantId) {
    let host = open(
        folder,
        Arc::new(OfflineModel::new()),
        Duration::from_millis(50),
    )
    .await;
    admit_guests(host.world()).await;
    let resident = host.wake(key).await.unwrap();
    let mut said = 0;
    while host.log().end_of(key).unwrap().0 < EVENTS {
        let words = Words::try_new(format!("{} ({said})", SAID[said % SAID.len()])).unwrap();
        let page = Act::Page {
            to: name(key),
            words,
        };
        let acted = host.world().act(&guest(said % GUESTS), page).await.unwrap();
        resident.heard(&acted.deliveries).await.unwrap();
        assert_eq!(resident.handle().at_rest().await, Rest::Settled);
        said += 1;
    }
    drop(resident);
    all_away(&host).await;
    host.close().await;
}

/// Makes those who live as the first one did.
struct Maker {
    folder: DataFolder,
    log: RedbLog,
    world: Sandbox,
    first: AssistantId,
    life: Vec<StoredEvent>,
}

impl Maker {
    async fn open(folder: &Path, first: &AssistantId) -> Self {
        let folder = DataFolder::at(folder).unwrap();
        let log = RedbLog::open(&folder.log()).unwrap();
        let world = Sandbox::open(&folder.world(), Arc::new(SystemClock)).unwrap();
        let mut life = Vec::new();
        each_event(&log, first, .., |stored| {
            life.push(stored.clone());
            Ok::<_, ReadError>(())
        })
        .await
        .unwrap();
        Self {
            folder,
            log,
            world,
            first: first.clone(),
            life,
        }
    }

    async fn make(&self, key: &AssistantId) {
        let joining = Character {
            id: character(key),
            name: name(key),
            kind: CharacterKind::Assistant(key.clone()),
        };
        self.world.join(joining).await.unwrap();
        let life = AppendRequest {
            assistant: key.clone(),
            expected: Seq::ZERO,
            events: self
                .life
                .iter()
                .map(|stored| self.copied(stored, key))
                .collect(),
        };
        self.log.append(life).await.unwrap();
        let state = Box::new(restore(&self.log, key).await.unwrap());
        let snapshot = encode_snapshot(&state).unwrap();
        self.log.save_snapshot(key, snapshot).await.unwrap();
        let memory = Memory::builder(key.clone(), SystemClock);
        let memory = memory.open(self.folder.memory(key)).await.unwrap();
        let remembered =
            LoggedMemory::open(self.log.clone(), memory.clone(), Arc::new(SystemClock));
        drop(remembered.await.unwrap());
        memory.close().await;
    }

    /// Lets one have heard who else arrived.
    async fn hear(&self, key: &AssistantId) {
        let observer = character(key);
        let heard = self.world.last_delivery(&observer).await.unwrap();
        self.world.acknowledge(&observer, heard).await.unwrap();
    }

    /// The event with the key and the name of another one, whose deliveries begin at 1 as those of a fork do.
    fn copied(&self, stored: &StoredEvent, key: &AssistantId) -> NewEvent {
        let kind = Event::decode(stored).unwrap().kind();
        let payload = String::from_utf8(stored.payload.clone()).unwrap();
        let payload = payload.replace(self.first.as_str(), key.as_str());
        let payload = payload.replace(&name(&self.first), &name(key));
        let payload = match kind {
            "perceived" => payload.replace(self.world.id().as_str(), "before-the-fork"),
            _ => payload,
        };
        NewEvent {
            at: stored.at,
            kind,
            schema: stored.schema,
            payload: payload.into_bytes(),
        }
    }
}
