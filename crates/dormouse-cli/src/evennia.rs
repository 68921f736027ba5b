//! The game in which assistants live, and `dormouse evennia`.

mod check;
mod setup;
mod staff;

use std::{collections::BTreeMap, sync::Arc};

use clap::{Args, Subcommand, ValueEnum};
use dormouse_contracts::AssistantId;
use dormouse_evennia::{
    Account, EvenniaGame, EvenniaOpenError, EvenniaSettings, EvenniaWorld, OnNotice, OnStaff,
    Password,
};
use dormouse_host::{DataFolder, SystemClock, config::Config};
use dormouse_providers::{Environment, ResolveSecretError, SecretSource};

use crate::{
    command::{CommandError, CommandFailure, Places},
    exit::Exit,
};

pub(crate) use staff::attend as attend_staff;

/// The variable with the password of the configured assistant's account.
const PASSWORD: &str = "DORMOUSE_EVENNIA_PASSWORD";

/// A world to live in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorldChoice {
    /// The world that world.kind in the configuration names
    #[default]
    Folder,
    /// The game of [evennia], as with world.kind = "evennia" (docs/evennia.md)
    Evennia,
}

/// Living in a game.
#[derive(Debug, Subcommand)]
pub(crate) enum Evennia {
    /// Print what to install in the game and what to type there, so that an assistant can live in it
    Setup(setup::Setup),
    /// Check the game: address, account, package, versions, permissions, and what it attests
    Check(Check),
}

/// Checking a game. Everything else is in the configuration.
#[derive(Debug, Args)]
pub(crate) struct Check {}

pub(crate) fn run(places: &Places, command: Evennia) -> Result<Exit, CommandError> {
    match command {
        Evennia::Setup(setup) => setup::run(places, &setup),
        Evennia::Check(Check {}) => check::run(places),
    }
}

/// A game cannot be lived in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GameError {
    #[error(
        "evennia.account is not set; expected the account of {0} in the game. `dormouse evennia setup` says how to make one"
    )]
    NoAccount(AssistantId),
    #[error("the password of the account {account:?} in the game cannot be read from {place}")]
    Password {
        account: String,
        place: String,
        source: ResolveSecretError,
    },
    #[error(
        "evennia.url is {0:?}; expected ws://HOST:PORT, or wss://HOST:PORT for an encrypted connection"
    )]
    Url(String),
    #[error(transparent)]
    Open(#[from] EvenniaOpenError),
}

impl GameError {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NoAccount(_) | Self::Password { .. } | Self::Url(_) => Exit::Usage,
            Self::Open(EvenniaOpenError::File(_)) => Exit::InUse,
            Self::Open(_) => Exit::Failure,
        }
    }
}

impl CommandFailure for GameError {
    fn exit(&self) -> Exit {
        Self::exit(self)
    }
}

/// The assistants that have an account in the game, with their accounts.
fn accounts(
    config: &Config,
    environment: &Environment,
) -> Result<BTreeMap<AssistantId, Account>, GameError> {
    let (section, configured) = (&config.evennia, config.assistant.key());
    if section.account.is_none() && section.residents.is_empty() {
        return Err(GameError::NoAccount(configured));
    }
    let mut accounts = BTreeMap::new();
    let mut add = |key: &AssistantId, name: &str, source: &SecretSource, place: &str| {
        let secret = environment.key_from(source);
        let secret = secret.map_err(|source| GameError::Password {
            account: name.to_owned(),
            place: place.to_owned(),
            source,
        })?;
        let password = secret.map_or_else(String::new, |secret| secret.expose().to_owned());
        let account = Account {
            name: name.to_owned(),
            password: Password::new(password),
        };
        accounts.insert(key.clone(), account);
        Ok::<(), GameError>(())
    };
    if let Some(account) = &section.account {
        let usual = SecretSource::Environment(PASSWORD.to_owned());
        match &section.password_from {
            Some(source) => add(&configured, account, &source.value, source.place())?,
            None => add(&configured, account, &usual, PASSWORD)?,
        }
    }
    for (key, resident) in &section.residents {
        let source = &resident.password_from;
        add(key, &resident.account, &source.value, source.place())?;
    }
    Ok(accounts)
}

/// The address, if it is one.
fn url(config: &Config) -> Result<String, GameError> {
    let url = &config.evennia.url;
    let host = url
        .strip_prefix("ws://")
        .or_else(|| url.strip_prefix("wss://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains('@') => Ok(url.clone()),
        _ => Err(GameError::Url(url.clone())),
    }
}

/// Opens the game as the world of the assistants that have an account in it. It connects in the background.
pub(crate) async fn open(
    data: &DataFolder,
    config: &Config,
    environment: &Environment,
    (on_notice, on_staff): (OnNotice, OnStaff),
) -> Result<EvenniaWorld, GameError> {
    let settings = EvenniaSettings {
        url: url(config)?,
        residents: accounts(config, environment)?,
        commands: config.evennia.commands.clone(),
        folder: data.path().to_owned(),
        clock: Arc::new(SystemClock),
        on_notice,
        on_staff,
    };
    Ok(EvenniaGame::open(settings).await?)
}
