//! Changing what is known of somebody.

use dormouse_contracts::EntityId;
use dormouse_entities::{AttributeUpdate, EntityChange, Metric};
use dormouse_memory::Memory;

use super::{EntityError, args::Set};
use crate::{
    exit::Exit,
    memory::{CommandError, Form, reason, told},
};

/// Makes one change and says which it was.
pub(super) async fn change(
    memory: &Memory,
    change: EntityChange,
    form: Form,
    what: &str,
) -> Result<Exit, CommandError> {
    let made = memory.change_entity(change, &reason("changed")).await?;
    told(form, made, what)
}

/// Makes every change that was asked for, each of which is one by itself.
pub(super) async fn set(
    memory: &Memory,
    entity: &EntityId,
    asked: Set,
) -> Result<Exit, CommandError> {
    let form = asked.who.form;
    let changes = changes(entity, asked);
    if changes.is_empty() {
        return Err(EntityError::Nothing.into());
    }
    for (made, what) in changes {
        change(memory, made, form, &format!("{what} of {entity} set")).await?;
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
