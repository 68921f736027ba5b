//! `dormouse entity`: the people and things that the assistant knows. Commands that only look create no memory.

mod args;
mod changes;
mod show;
mod who;

use dormouse_entities::{EntityChange, NewObservation};

pub(crate) use args::Entity;
pub(crate) use who::{WhoError, find};

use crate::{
    command::{CommandError, MemoryFile, Missing, Places, block_on},
    exit::Exit,
};

/// Prints what the assistant knows, or changes it.
pub(crate) fn run(places: &Places, command: Entity) -> Result<Exit, CommandError> {
    let file = MemoryFile::locate(places)?;
    let done = block_on(Box::pin(carry_out(&file, command)))?;
    done.map_err(|error| file.with_rebuild_hint(error))
}

async fn carry_out(file: &MemoryFile, command: Entity) -> Result<Exit, CommandError> {
    let command = match command {
        Entity::List { topic, json } => {
            let memory = file.view(json.printing()).await?;
            show::list(&memory, topic.as_deref(), json.printing())?;
            return Ok(memory.exit());
        }
        Entity::Show(who) => {
            let memory = file.view(who.json.printing()).await?;
            show::show(&memory, &find(&memory, &who.who)?, who.json.printing())?;
            return Ok(memory.exit());
        }
        Entity::Block { tokens, json } => {
            let memory = file.view(json.printing()).await?;
            show::block(&memory, tokens, json.printing())?;
            return Ok(memory.exit());
        }
        command => command,
    };
    let missing = match &command {
        Entity::Create { .. } => Missing::Create,
        _ => Missing::Fail,
    };
    let logged = &mut file.open_to_change(missing).await?;
    let memory = &logged.memory().clone();
    match command {
        // These are done above.
        Entity::List { .. } | Entity::Show(_) | Entity::Block { .. } => Ok(Exit::Success),
        Entity::Create {
            id,
            name,
            kind,
            json,
        } => {
            let what = format!("{id} is known as {}", name.as_str());
            let created = EntityChange::Created {
                entity: id,
                entity_type: kind.into(),
                name,
            };
            changes::change(logged, created, json.printing(), &what).await
        }
        Entity::Observe {
            who,
            text,
            source,
            trust,
        } => {
            let entity = find(memory, &who.who)?;
            let what = format!("observation about {entity} added");
            let observation = NewObservation::by_operator(text, source, trust);
            let observed = EntityChange::Observed {
                entity,
                observation,
            };
            changes::change(logged, observed, who.json.printing(), &what).await
        }
        Entity::Alias { who, alias, remove } => {
            let entity = find(memory, &who.who)?;
            let name = alias.as_str().to_owned();
            let (changed, what) = if remove {
                let what = format!("{entity} is no longer known as {name}");
                (EntityChange::AliasRemoved { entity, alias }, what)
            } else {
                let what = format!("{entity} is also known as {name}");
                (EntityChange::AliasAdded { entity, alias }, what)
            };
            changes::change(logged, changed, who.json.printing(), &what).await
        }
        Entity::Merge { from, into, json } => {
            let (from, into) = (find(memory, &from)?, find(memory, &into)?);
            let what = format!(
                "{from} is now part of {into}; `dormouse entity unmerge {from}` undoes this"
            );
            changes::change(
                logged,
                EntityChange::Merged { from, into },
                json.printing(),
                &what,
            )
            .await
        }
        Entity::Unmerge(of) => {
            let what = format!("{} is an entity of its own again", of.id);
            let unmerged = EntityChange::Unmerged { entity: of.id };
            changes::change(logged, unmerged, of.json.printing(), &what).await
        }
        Entity::Set(set) => {
            let entity = find(memory, &set.who.who)?;
            changes::set(logged, &entity, *set).await
        }
        Entity::Delete(who) => {
            let entity = find(memory, &who.who)?;
            let what = format!("{entity} deleted; `dormouse entity restore {entity}` undoes this");
            changes::change(
                logged,
                EntityChange::Deleted { entity },
                who.json.printing(),
                &what,
            )
            .await
        }
        Entity::Restore(of) => {
            let what = format!("{} is restored", of.id);
            let restored = EntityChange::Restored { entity: of.id };
            changes::change(logged, restored, of.json.printing(), &what).await
        }
    }
}
