//! Changing what is known about an entity.

use dormouse_contracts::EntityId;
use dormouse_engine::LoggedMemory;
use dormouse_entities::{AttributeUpdate, EntityChange, Metric};
use dormouse_host::OpenLog;

use super::args::Set;
use crate::{
    command::{CommandError, CommandFailure, Printing, author, print_change, reason},
    exit::Exit,
};

/// `set` without anything to set.
#[derive(Debug, thiserror::Error)]
#[error("nothing to set; `dormouse entity set --help` lists the options")]
struct NothingToSet;

impl CommandFailure for NothingToSet {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// What to do if an entity cannot be separated again.
const UNMERGE_HINT: &str = "expected the id FROM of an earlier `dormouse entity merge FROM INTO`";

/// What to do if an entity cannot be restored.
const RESTORE_HINT: &str = "expected the id of an earlier `dormouse entity delete`";

/// Makes one change and prints its event.
pub(super) async fn change(
    memory: &mut LoggedMemory<OpenLog>,
    change: EntityChange,
    printing: Printing,
    what: &str,
) -> Result<Exit, CommandError> {
    let hint = match &change {
        EntityChange::Unmerged { .. } => Some(UNMERGE_HINT),
        EntityChange::Restored { .. } => Some(RESTORE_HINT),
        _ => None,
    };
    let reason = reason("changed");
    let made = memory.change_entity(change, author(), &reason).await;
    let made = made.map_err(CommandError::from);
    let made = made.map_err(|error| match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    })?;
    print_change(printing, made, what)
}

/// Makes every change that was asked for. Each can be undone separately.
pub(super) async fn set(
    memory: &mut LoggedMemory<OpenLog>,
    entity: &EntityId,
    asked: Set,
) -> Result<Exit, CommandError> {
    let printing = asked.who.json.printing();
    let changes = changes(entity, asked);
    if changes.is_empty() {
        return Err(NothingToSet.into());
    }
    for (made, what) in changes {
        change(memory, made, printing, &format!("{what} of {entity} set")).await?;
    }
    Ok(Exit::Success)
}

fn changes(entity: &EntityId, asked: Set) -> Vec<(EntityChange, &'static str)> {
    let who = || entity.clone();
    let metric = |metric| EntityChange::MetricSet {
        entity: who(),
        metric,
    };
    let name = asked.name.map(|name| EntityChange::Renamed {
        entity: who(),
        name,
    });
    let kind = asked.kind.map(|kind| EntityChange::Retyped {
        entity: who(),
        entity_type: kind.into(),
    });
    let update = AttributeUpdate {
        communication_style: asked.style,
        interests: asked.interest,
        temperament: asked.temperament,
        preferences: asked.prefer.into_iter().collect(),
        ..AttributeUpdate::default()
    };
    let attributes = (!update.is_empty()).then(|| EntityChange::AttributesUpdated {
        entity: who(),
        update,
        trust: dormouse_contracts::Trust::FULL,
        // What an operator writes may be shown to everybody.
        audience: Some(dormouse_contracts::Audience::Public),
        sources: dormouse_contracts::Sources::default(),
    });
    let favorability = asked.favorability.map(Metric::Favorability).map(metric);
    let trust = asked.trust.map(Metric::Trust).map(metric);
    let rapport = asked.rapport.map(Metric::Rapport).map(metric);
    [
        (name, "name"),
        (kind, "type"),
        (favorability, "favorability"),
        (trust, "trust"),
        (rapport, "rapport"),
        (attributes, "attributes"),
    ]
    .into_iter()
    .filter_map(|(change, what)| Some((change?, what)))
    .collect()
}
