//! `dormouse memory`: looking into the memory of the data folder, and changing it. Commands that only look create no memory
//! where there is no log.

mod args;
mod changes;
mod compact;
mod conclude;
mod consolidate;
mod hygiene;
mod import_export;
mod index;
mod render;
mod search;
mod show;
mod withheld;

pub(crate) use args::Memory;

use crate::{
    command::{CommandError, MemoryFile, Places, block_on},
    exit::Exit,
};
pub(crate) use consolidate::{consolidator, cost};

pub(crate) use conclude::{conclude, configured_only};

/// Looks into the memory, or changes it.
pub(crate) fn run(places: &Places, command: Memory) -> Result<Exit, CommandError> {
    let file = MemoryFile::locate(places)?;
    let done = block_on(Box::pin(carry_out(&file, command)))?;
    done.map_err(|error| file.with_rebuild_hint(error))
}

async fn carry_out(file: &MemoryFile, command: Memory) -> Result<Exit, CommandError> {
    match command {
        Memory::Add(add) => changes::add(file, add).await,
        Memory::Search(asked) => search::search(file, *asked).await,
        Memory::List(list) => show::list(file, &list).await,
        Memory::Show(of) => show::show(file, of).await,
        Memory::Why(of) => show::why(file, of).await,
        Memory::Import {
            from,
            trust,
            own,
            public,
            json,
        } => {
            let claims = import_export::claims(trust, own);
            import_export::import(file, &from, claims, public.into(), json.printing()).await
        }
        Memory::Export { into } => import_export::export(file, into).await,
        Memory::Hygiene { apply, json } => {
            hygiene::hygiene(file, apply.into(), json.printing()).await
        }
        Memory::Consolidate(asked) => consolidate::consolidate(file, &asked).await,
        Memory::Compact(asked) => Box::pin(compact::compact(file, &asked)).await,
        Memory::Rebuild {
            by,
            from_log,
            yes,
            json,
        } => {
            if from_log {
                file.replace_from_log(yes.into()).await?;
            }
            index::rebuild(file, &by, json.printing()).await
        }
        Memory::Migrate(migrate) => index::migrate(file, migrate).await,
        Memory::Stats { by, json } => show::stats(file, &by, json.printing()).await,
        Memory::Undo { event, json } => changes::undo(file, event, json.printing()).await,
        Memory::Withdraw(of) => changes::withdraw(file, of).await,
        Memory::Publish(of) => changes::publish(file, of).await,
        Memory::Erase { of, yes: _ } => changes::erase(file, of).await,
        Memory::Supersede { of, by, since } => changes::supersede(file, of, by, since).await,
    }
}
