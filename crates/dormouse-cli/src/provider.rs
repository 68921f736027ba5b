//! The models that an assistant can use: selecting them by flags, and sending requests to them.
//!
//! [`command`] is `dormouse provider`; everything else here is used by other commands, too.

use std::env;

pub(crate) use dormouse_host::provider::{
    Chosen, Models, ProviderError, assemble, network, price_table, select, service,
};
use dormouse_providers::Environment;

mod asking;
pub(crate) mod command;
mod flags;
mod known;

pub(crate) use asking::{one_word, probe_tools};
pub(crate) use flags::ProviderFlags;
pub(crate) use known::Known;

/// The environment of this process.
pub(crate) fn environment() -> Environment {
    Environment::of(|name| env::var_os(name))
}
