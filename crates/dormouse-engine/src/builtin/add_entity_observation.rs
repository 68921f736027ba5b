//! `add_entity_observation`: notes what was noticed about somebody.

use dormouse_contracts::ToolCategory;
use dormouse_entities::{NewObservation, ObservationSource, ObservationText};
use serde_json::json;

use super::{
    BuiltinOutcome, Draft, NotShown, Provenance,
    call::Call,
    table::{Builtin, entity, object, sources, text},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "add_entity_observation",
    description: "Note what you noticed about somebody.",
    parameters: || {
        object(
            &["entity", "content"],
            &json!({"entity": entity(), "content": text(500), "sources": sources()}),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide,
};

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let provenance = call.claim(call.text("content"), &call.subject())?;
    let draft = draft(call.text("content"), &provenance);
    Ok(call.change(draft, Some(provenance.belief())))
}

fn draft(text: &str, provenance: &Provenance) -> Option<Draft> {
    Some(Draft::Observe(NewObservation {
        content: ObservationText::shortened(text)?,
        source: ObservationSource::shortened("observation")?,
        trust: provenance.trust,
        origin: Some(provenance.origin),
        sources: provenance.sources.clone(),
        audience: provenance.audience.clone(),
    }))
}
