//! A game as a world.

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use dormouse_bridge::{Bridge, BridgeFile, BridgeOpenError, QueueError};
use dormouse_contracts::{AssistantId, Clock, EntityId, IdError, WorldId};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    client::{Client, Order},
    frame::{FeedPosition, Password},
    game::{EvenniaGame, Link},
    notice::Notice,
    people::People,
    session::Session,
    staff::{OnStaff, StaffRequest},
    tools::tools,
};

/// The file that keeps what was heard and done, and the one that keeps who was met, in the data folder.
pub const EVENNIA_FILE: &str = "evennia.redb";
const PEOPLE: &str = "evennia-people.json";

/// How many requests may wait for a connection. If there are more, their callers wait.
const ORDERS: usize = 64;

/// How long leaving the game may take.
const LEAVING: Duration = Duration::from_secs(3);

/// The account of an assistant in a game.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Its password.
    pub password: Password,
}

/// Called with what the operator should know about the connection of an assistant.
pub type OnNotice = Arc<dyn Fn(&AssistantId, Notice) + Send + Sync>;

/// What is needed to live in a game.
pub struct EvenniaSettings {
    /// The address of the game's websocket, such as `ws://127.0.0.1:4002`.
    pub url: String,
    /// The assistants that live in it, with their accounts.
    pub residents: BTreeMap<AssistantId, Account>,
    /// The commands of the game that assistants may type, beyond the tools.
    pub commands: Vec<String>,
    /// The data folder.
    pub folder: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Called with what the operator should know.
    pub on_notice: OnNotice,
    /// Called with the commands of the game's staff.
    pub on_staff: OnStaff,
}

impl fmt::Debug for EvenniaSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvenniaSettings")
            .field("url", &self.url)
            .field("residents", &self.residents)
            .finish_non_exhaustive()
    }
}

/// Why a game cannot be opened as a world.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvenniaOpenError {
    /// The file cannot be opened.
    #[error("the file of the game's messages cannot be opened")]
    File(#[from] BridgeOpenError),
    /// An assistant's feed could not be created.
    #[error("the file of the game's messages cannot be written")]
    Queue(#[from] QueueError),
    /// The character of an assistant cannot have this id.
    #[error("an assistant cannot have this key")]
    Id(#[from] IdError),
}

/// A game in which assistants live. The connections are opened at once, and again whenever they end. Dropping the world
/// cuts them; [`EvenniaGame::close`] lets the assistants leave the game properly.
pub type EvenniaWorld = Bridge<EvenniaGame>;

impl EvenniaGame {
    /// Opens the file in the data folder, and begins to connect. Does not wait for the game. Needs a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`EvenniaOpenError`].
    pub async fn open(settings: EvenniaSettings) -> Result<EvenniaWorld, EvenniaOpenError> {
        let file = BridgeFile::open(&settings.folder.join(EVENNIA_FILE), "evennia")?;
        let people = People::open(&settings.folder.join(PEOPLE));
        let people = Arc::new(Mutex::new(people));
        let acts = act_prefix(file.world());
        let mut tasks = JoinSet::new();
        let mut residents = BTreeMap::new();
        for (assistant, account) in settings.residents {
            let character = EntityId::try_new(format!("assistant:{assistant}"))?;
            file.queue().enter(&character).await?;
            let (orders, taken) = mpsc::channel(ORDERS);
            let link = Link {
                assistant: Some(assistant.clone()),
                orders: orders.clone(),
            };
            residents.insert(character.clone(), link);
            let game = {
                let people = people.lock().unwrap_or_else(PoisonError::into_inner);
                people.game_of(&account.name)
            };
            let stored = file.queue().position(&character).await?;
            let stored = stored.and_then(|text| FeedPosition::read(&text));
            let session = Session::new(&account.name, account.password, Instant::now());
            let on_notice = Arc::clone(&settings.on_notice);
            let on_staff = Arc::clone(&settings.on_staff);
            let noticed = assistant.clone();
            let client = Client {
                url: settings.url.clone(),
                character,
                acts: acts.clone(),
                session: session.resumes(game, stored),
                queue: Some(file.queue()),
                people: Arc::clone(&people),
                clock: Arc::clone(&settings.clock),
                on_notice: Box::new(move |notice| on_notice(&noticed, notice)),
                on_staff: Box::new(move |command| {
                    on_staff(StaffRequest::new(&assistant, command, &orders));
                }),
                orders: taken,
                replies: BTreeMap::new(),
                asked: 0,
            };
            tasks.spawn(client.run());
        }
        let game = EvenniaGame {
            residents,
            people,
            allowed: settings.commands.clone(),
            acts,
            clock: settings.clock,
            tasks: Mutex::new(tasks),
        };
        Ok(Bridge::new(game, tools(&settings.commands)?, &file))
    }

    /// Lets all assistants leave the game. After that nothing can be done in it.
    pub async fn close(&self) {
        for link in self.residents.values() {
            // A task that has ended has left.
            drop(link.orders.send(Order::Close).await);
        }
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        let left = async { while tasks.join_next().await.is_some() {} };
        if timeout(LEAVING, left).await.is_err() {
            tracing::warn!("an assistant could not leave the game properly");
        }
    }
}

/// What the keys of acts begin with, so that assistants of two data folders never use the same key. Short, because the game
/// bounds keys.
fn act_prefix(world: &WorldId) -> String {
    let text = world.as_str();
    let end = text.len().saturating_sub(16);
    format!("{}:", text.get(end..).unwrap_or(text))
}
