//! A game as a world, without anybody who thinks.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use dormouse_contracts::{AssistantId, Clock, EntityId, Perception, Senses, Timestamp};
use dormouse_evennia::{
    Account, EvenniaGame, EvenniaSettings, EvenniaWorld, Notice, Password, StaffRequest,
};
use dormouse_tests::Game;
use tokio::time::{sleep, timeout};

pub(crate) struct Now;

impl Clock for Now {
    #[expect(
        clippy::disallowed_methods,
        reason = "a real game has the time of the machine"
    )]
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

/// The assistants, and their accounts.
pub(crate) const RESIDENTS: [(&str, &str); 2] = [("dormouse", "bob"), ("vole", "eve")];

pub(crate) fn assistant(key: &str) -> AssistantId {
    AssistantId::try_new(key).unwrap()
}

pub(crate) fn character(key: &str) -> EntityId {
    EntityId::try_new(format!("assistant:{key}")).unwrap()
}

/// Lets both assistants live in the game, and waits until they do.
pub(crate) async fn inhabit(game: &Game, folder: &Path, commands: &[&str]) -> EvenniaWorld {
    let accounts = RESIDENTS.map(|(key, account)| (key, account, game.password(account)));
    let (world, noticed) = open(game, folder, commands, &accounts).await;
    let is_ready = |notice: &Notice| matches!(notice, Notice::Ready { .. });
    noticed.times(RESIDENTS.len(), is_ready).await;
    world
}

/// The first of the assistants, with its account and password.
pub(crate) fn assistant_account(game: &Game) -> (&str, &str, &str) {
    let [(key, account), _] = RESIDENTS;
    (key, account, game.password(account))
}

/// What is reported to the operator, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noticed(Arc<Mutex<Vec<Notice>>>);

impl Noticed {
    /// Waits until so many of these have come.
    pub(crate) async fn times(&self, count: usize, is_meant: impl Fn(&Notice) -> bool) {
        let come = async {
            while self
                .0
                .lock()
                .unwrap()
                .iter()
                .filter(|it| is_meant(it))
                .count()
                < count
            {
                sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = timeout(Duration::from_secs(60), come).await;
        assert!(waited.is_ok(), "{:?}", self.0.lock().unwrap());
    }
}

/// Lets assistants live in the game with these accounts and passwords.
pub(crate) async fn open(
    game: &Game,
    folder: &Path,
    commands: &[&str],
    accounts: &[(&str, &str, &str)],
) -> (EvenniaWorld, Noticed) {
    let account = |(key, name, password): &(&str, &str, &str)| {
        let password = Password::new(*password);
        let name = (*name).to_owned();
        (assistant(key), Account { name, password })
    };
    let noticed = Noticed::default();
    let Noticed(notices) = noticed.clone();
    let settings = EvenniaSettings {
        url: game.url().to_owned(),
        residents: accounts.iter().map(account).collect(),
        commands: commands.iter().map(|it| (*it).to_owned()).collect(),
        folder: folder.to_owned(),
        clock: Arc::new(Now),
        on_notice: Arc::new(move |_, notice| notices.lock().unwrap().push(notice)),
        on_staff: Arc::new(|asked: StaffRequest| asked.answer("seen".to_owned(), true)),
    };
    (EvenniaGame::open(settings).await.unwrap(), noticed)
}

/// Waits until an assistant perceives something with these words, and returns it.
pub(crate) async fn perceives(world: &dyn Senses, key: &str, words: &str) -> Perception {
    let observer = character(key);
    let mut after = 0;
    let found = async {
        loop {
            let new = world.await_perceptions(&observer, after).await.unwrap();
            if let Some(found) = new.iter().find(|it| it.words.as_claimed().contains(words)) {
                return found.clone();
            }
            after = new.last().map_or(after, |it| it.attested.delivery.number);
        }
    };
    let found = timeout(Duration::from_secs(60), found).await;
    found.unwrap_or_else(|_| panic!("{key} does not perceive {words:?}"))
}
