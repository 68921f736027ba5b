//! `dormouse evennia check`: whether an assistant can live in the game.

use std::{sync::Arc, time::Duration};

use dormouse_evennia::Notice;
use dormouse_host::SystemClock;
use tokio::time::timeout;

use super::{accounts, url};
use crate::{
    command::{CommandError, Places, block_on, say},
    exit::Exit,
    provider,
};

/// How long the game may take to let an assistant in.
const PATIENCE: Duration = Duration::from_secs(30);

/// Logs in with each account, and prints what the game says.
pub(crate) fn run(places: &Places) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let (config, _) = places.configuration(&data)?;
    let (url, accounts) = (url(&config)?, accounts(&config, &provider::environment())?);
    let mut exit = Exit::Success;
    for (key, account) in accounts {
        say(&format!("{key}: the account {:?} at {url}", account.name))?;
        // If standard output is closed, the next line fails as well.
        let on_notice = |notice: &Notice| drop(say(&format!("  {notice}")));
        let checked = block_on(async {
            let clock = Arc::new(SystemClock);
            let checking = dormouse_evennia::check(&url, account, clock, on_notice);
            timeout(PATIENCE, Box::pin(checking)).await
        })?;
        match checked {
            Ok(Ok(true)) => {}
            Ok(Ok(false) | Err(_)) => exit = Exit::Failure,
            Err(_elapsed) => {
                say("  the game did not let it in within 30 s")?;
                exit = Exit::Failure;
            }
        }
    }
    Ok(exit)
}
