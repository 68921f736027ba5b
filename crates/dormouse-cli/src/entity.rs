//! `dormouse entity`: whom the assistant knows. What only looks makes no memory.

mod args;
mod changing;
mod looking;

use dormouse_contracts::EntityId;
use dormouse_entities::{EntityChange, NewObservation};
use dormouse_memory::Memory;

pub(crate) use args::Entity;
use changing::change;

use crate::{
    args::Places,
    exit::Exit,
    memory::{CommandError, Place, block_on},
};

/// Somebody is not known, or not well enough said.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EntityError {
    #[error("nobody of the id or name {who:?} is known: `dormouse entity list` prints who is")]
    Unknown {
        /// What was asked for.
        who: String,
    },
    #[error("several are called {who:?}: say which by id, {}", ids(known))]
    Several {
        /// What was asked for.
        who: String,
        /// Who is called so.
        known: Vec<EntityId>,
    },
    #[error("nothing was given to set: `dormouse entity set --help` lists what there is")]
    Nothing,
}

fn ids(known: &[EntityId]) -> String {
    let ids: Vec<String> = known.iter().map(ToString::to_string).collect();
    ids.join(", ")
}

/// Looks at whom the assistant knows, or changes it.
pub(crate) fn run(places: &Places, command: Entity) -> Result<Exit, CommandError> {
    let place = Place::locate(places)?;
    block_on(Box::pin(carry_out(&place, command)))
}

async fn carry_out(place: &Place, command: Entity) -> Result<Exit, CommandError> {
    let memory = match &command {
        Entity::Create { .. } => place.open_or_make().await?,
        Entity::List { form } | Entity::Block { form, .. } => place.look(form.json.into()).await?,
        Entity::Show(who) => place.look(who.form.json.into()).await?,
        _ => place.open(None).await?,
    };
    let memory = &memory;
    match command {
        Entity::List { form } => looking::list(memory, form),
        Entity::Show(who) => looking::show(memory, &known(memory, &who.who)?, who.form),
        Entity::Block { tokens, form } => looking::block(memory, tokens, form),
        Entity::Create {
            id,
            name,
            kind,
            form,
        } => {
            let what = format!("{id} is known as {}", name.as_str());
            let created = EntityChange::Created {
                entity: id,
                entity_type: kind.into(),
                name,
            };
            change(memory, created, form, &what).await
        }
        Entity::Observe {
            who,
            text,
            source,
            trust,
        } => {
            let entity = known(memory, &who.who)?;
            let what = format!("noted about {entity}");
            let observation = NewObservation {
                content: text,
                source,
                trust,
                origin: None,
            };
            let observed = EntityChange::Observed {
                entity,
                observation,
            };
            change(memory, observed, who.form, &what).await
        }
        Entity::Alias { who, alias, remove } => {
            let entity = known(memory, &who.who)?;
            let name = alias.as_str().to_owned();
            let (changed, what) = if remove {
                let what = format!("{entity} is not known as {name}");
                (EntityChange::AliasRemoved { entity, alias }, what)
            } else {
                let what = format!("{entity} is also known as {name}");
                (EntityChange::AliasAdded { entity, alias }, what)
            };
            change(memory, changed, who.form, &what).await
        }
        Entity::Merge { from, into, form } => {
            let (from, into) = (known(memory, &from)?, known(memory, &into)?);
            let what = format!("{from} is {into}; `dormouse entity unmerge {from}` takes it back");
            change(memory, EntityChange::Merged { from, into }, form, &what).await
        }
        Entity::Unmerge(of) => {
            let what = format!("{} is somebody by itself again", of.id);
            let unmerged = EntityChange::Unmerged { entity: of.id };
            change(memory, unmerged, of.form, &what).await
        }
        Entity::Set(set) => {
            let entity = known(memory, &set.who.who)?;
            changing::set(memory, &entity, *set).await
        }
        Entity::Delete(who) => {
            let entity = known(memory, &who.who)?;
            let what =
                format!("{entity} deleted; `dormouse entity restore {entity}` takes it back");
            change(memory, EntityChange::Deleted { entity }, who.form, &what).await
        }
        Entity::Restore(of) => {
            let what = format!("{} is known again", of.id);
            let restored = EntityChange::Restored { entity: of.id };
            change(memory, restored, of.form, &what).await
        }
    }
}

/// Who is meant: the one of this id, or the only one of this name.
fn known(memory: &Memory, who: &str) -> Result<EntityId, EntityError> {
    memory.with_entities(|entities| {
        let by_id = EntityId::try_new(who).ok();
        if let Some(id) = by_id.filter(|id| entities.profile(id).is_some()) {
            return Ok(id);
        }
        let who = who.to_owned();
        match entities.known_as(&who).as_slice() {
            [] => Err(EntityError::Unknown { who }),
            [only] => Ok((*only).clone()),
            several => Err(EntityError::Several {
                known: several.iter().map(|id| (*id).clone()).collect(),
                who,
            }),
        }
    })
}
