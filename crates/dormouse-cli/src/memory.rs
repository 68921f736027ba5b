//! `dormouse memory`: looking into the memory of the data folder, and changing it. What only looks makes no memory.

mod adding;
mod args;
mod changing;
mod error;
mod listing;
mod looking;
mod opening;
mod rebinding;
mod searching;
mod telling;
mod transferring;
mod upkeep;

pub(crate) use adding::reason;
use args::{Add, By, List, Migrate, Of, Search};
pub(crate) use args::{Form, Memory, trust};
pub(crate) use changing::told;
pub(crate) use error::{CommandError, open_exit};
pub(crate) use opening::Place;
pub(crate) use rebinding::{Mismatch, check};
pub(crate) use telling::Teller;

use crate::{args::Places, exit::Exit};
use upkeep::Fold;

/// Looks into the memory, or changes it.
pub(crate) fn run(places: &Places, command: Memory) -> Result<Exit, CommandError> {
    let place = Place::locate(places)?;
    block_on(Box::pin(carry_out(&place, command)))
}

/// Runs to the end.
pub(crate) fn block_on(
    work: impl Future<Output = Result<Exit, CommandError>>,
) -> Result<Exit, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CommandError::System)?;
    runtime.block_on(work)
}

async fn carry_out(place: &Place, command: Memory) -> Result<Exit, CommandError> {
    match command {
        Memory::Add(add) => adding::add(place, add).await,
        Memory::Search(search) => searching::search(place, *search).await,
        Memory::List(list) => listing::list(place, &list).await,
        Memory::Show(of) => looking::show(place, of).await,
        Memory::Why(of) => looking::why(place, of).await,
        Memory::Import { from, form } => transferring::import(place, &from, form).await,
        Memory::Export { into } => transferring::export(place, into).await,
        Memory::Hygiene { apply, form } => {
            let fold = if apply { Fold::Apply } else { Fold::Propose };
            upkeep::hygiene(place, fold, form).await
        }
        Memory::Rebuild { by, form } => upkeep::rebuild(place, &by, form).await,
        Memory::Rebind { form } => rebinding::rebind(place, form).await,
        Memory::Migrate(migrate) => upkeep::migrate(place, migrate).await,
        Memory::Stats { by, form } => looking::stats(place, &by, form).await,
        Memory::Undo { change, form } => changing::undo(place, change, form).await,
        Memory::Withdraw(of) => changing::withdraw(place, of).await,
        Memory::Erase { of, yes: _ } => changing::erase(place, of).await,
        Memory::Supersede { of, by, since } => changing::supersede(place, of, by, since).await,
    }
}
