//! Prints what an assistant perceives in a game: `watch URL ACCOUNT FOLDER`, with the password in the variable PASSWORD.
#![cfg_attr(not(test), expect(clippy::print_stdout, reason = "an example prints"))]
use std::{collections::BTreeMap, error::Error, sync::Arc, time::SystemTime};

use dormouse_contracts::{AssistantId, Clock, Habitat, Senses, Timestamp};
use dormouse_evennia::{Account, EvenniaGame, EvenniaSettings, Password};

struct Now;

impl Clock for Now {
    #[expect(clippy::disallowed_methods, reason = "this is where time is read")]
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let mut next = || given.next().ok_or("pass the URL, the account and a folder");
    let (url, name, folder) = (next()?, next()?, next()?);
    let password = Password::new(std::env::var("PASSWORD")?);
    let watcher = AssistantId::try_new("watcher")?;
    let settings = EvenniaSettings {
        url,
        residents: BTreeMap::from([(watcher.clone(), Account { name, password })]),
        commands: Vec::new(),
        folder: folder.into(),
        clock: Arc::new(Now),
        on_notice: Arc::new(|who, notice| println!("{who} {notice}")),
        on_staff: Arc::new(|asked| asked.answer("nobody is here".to_owned(), false)),
    };
    let world = EvenniaGame::open(settings).await?;
    let character = world.character(&watcher)?;
    loop {
        for heard in world.await_perceptions(&character, 0).await? {
            let attested = heard.attested;
            let (who, words) = (attested.sender.name(), heard.words.as_claimed());
            println!("{:?} by {who}: {words:?}", attested.source);
            world
                .acknowledge(&character, attested.delivery.number)
                .await?;
        }
    }
}
