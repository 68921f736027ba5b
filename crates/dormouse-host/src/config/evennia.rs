//! `[evennia]`: the game in which assistants live if `world.kind` is "evennia". This crate reads the section; an
//! adapter connects to the game.

use std::collections::BTreeMap;

use dormouse_contracts::AssistantId;
use dormouse_providers::SecretSource;
use serde::Deserialize;

use super::{located::Located, section::section, words};

section! {
    /// `[evennia]`: the game in which the assistants live if world.kind is "evennia"; see evennia.md.
    pub struct EvenniaSection {
        /// The address of the game's websocket; wss:// encrypts
        #[schemars(extend("x-may-hold-a-key" = "in an address", "default" = "ws://127.0.0.1:4002"))]
        url: String = "ws://127.0.0.1:4002".to_owned(),
        /// The account of the configured assistant in the game
        #[schemars(with = "String", extend("x-unset" = "nobody lives in a game", "x-example" = "Dormouse"))]
        account: Option<String> = None,
        /// Where the password of this account is: "env:NAME", "file:PATH" or "keyring:SERVICE/USER"
        #[schemars(with = "String", extend(
            "x-may-hold-a-key" = "always", "x-unset" = "the variable DORMOUSE_EVENNIA_PASSWORD", "x-example" = "file:/run/secrets/game",
        ))]
        password_from: Option<Located<SecretSource>> = None,
        /// Further assistants in the same game, by key, with their accounts
        #[schemars(schema_with = "words::residents", extend(
            "default" = {}, "x-may-hold-a-key" = "always",
            "x-example" = {"vole": {"account": "Vole", "password_from": "env:VOLE_PASSWORD"}},
        ))]
        residents: BTreeMap<AssistantId, GameAccount> = BTreeMap::new(),
        /// Commands of the game that assistants may type, beyond their tools; "emit" and "set" add a tool of their own
        #[schemars(with = "Vec<String>", extend("default" = [], "x-example" = ["dance", "emit"]))]
        commands: Vec<String> = Vec::new(),
    }
}

/// The account of a further assistant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameAccount {
    /// Its name.
    pub account: String,
    /// Where its password is.
    pub password_from: Located<SecretSource>,
}
