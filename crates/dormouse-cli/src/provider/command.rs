//! `dormouse provider`: which models can be used, and whether they work.

use std::time::Duration;

use crate::{
    command::{CommandError, Places},
    exit::Exit,
};

mod args;
mod check;
mod context;
mod list;
mod pauses;
mod show;
mod spent;
mod status;

pub(crate) use args::Provider;
use context::Context;

/// Lists the providers, shows or tests a model, or ends pauses.
pub(crate) fn run(places: &Places, command: Provider) -> Result<Exit, CommandError> {
    match command {
        Provider::List {
            flags,
            models,
            json,
        } => {
            let context = Context::read(places, json.printing())?;
            list::run(&context, &flags, models)
        }
        Provider::Show { of, json } => {
            let context = Context::read(places, json.printing())?;
            let choice = context.choose(&of)?;
            show::run(&context, &choice, &of.flags)
        }
        Provider::Spent { json } => spent::run(&Context::read(places, json.printing())?),
        Provider::Retry { of, by } => pauses::end(places, of.assistant, by),
        Provider::Test { of, timeout, json } => {
            let context = Context::read(places, json.printing())?;
            let choice = context.choose(&of)?;
            check::run(&context, &choice, &of.flags, Duration::from_secs(timeout))
        }
    }
}
