//! The models that an assistant can use: choosing them, assembling them, and asking them.
//!
//! [`command`] is `dormouse provider`; everything else here is used by other commands, too.

mod asking;
mod choice;
pub(crate) mod command;
mod error;
mod flags;
mod key;
mod known;
mod models;
mod open;
#[cfg(test)]
mod tests;

pub(crate) use asking::{one_word, probe_tools};
pub(crate) use choice::{Chosen, select};
pub(crate) use error::ProviderError;
pub(crate) use flags::ProviderFlags;
pub(crate) use known::Known;
pub(crate) use models::{Models, assemble, network, price_table, service};
pub(crate) use open::environment;
