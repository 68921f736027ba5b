//! `add_pending_action`: notes what is to be done for somebody, at a moment or at some time.

use dormouse_contracts::{Timestamp, ToolCategory};
use dormouse_entities::ActionText;
use serde_json::{Value, json};

use super::{
    Basis, BuiltinOutcome, Draft, NotShown, Provenance,
    call::Call,
    table::{Builtin, entity, object, sources, text},
};
use crate::state::Promises;

pub(super) const TOOL: Builtin = Builtin {
    name: "add_pending_action",
    description: "Note what you mean to do for somebody. With due_at you are called at that moment, to do it then.",
    parameters: || {
        object(
            &["entity", "description"],
            &json!({
                "entity": entity(),
                "description": text(200),
                "priority": {"type": "integer", "minimum": 1, "maximum": 10},
                "due_at": {"type": "string", "maxLength": 40, "description": "The moment, if it is for one: 2026-11-23T18:00:00Z."},
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide,
};

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let due_at = match moment(call, "due_at") {
        Ok(due_at) => due_at,
        Err(refusal) => return Ok(BuiltinOutcome::Refused(refusal)),
    };
    let provenance = call.provenance(call.text("description"), &call.subject())?;
    let draft = draft(call, due_at, &provenance);
    Ok(call.change(draft, Some(provenance.shown())))
}

fn draft(call: &Call<'_>, due_at: Option<Timestamp>, provenance: &Provenance) -> Option<Draft> {
    let priority = call.arguments.get("priority").and_then(Value::as_u64);
    let priority = priority.and_then(|priority| u8::try_from(priority).ok());
    let description = ActionText::shortened(call.text("description"))?;
    Some(Draft::AddAction(
        description,
        priority.unwrap_or(1),
        due_at,
        Basis::of(provenance),
    ))
}

/// The moment in an argument, if there is one.
fn moment(call: &Call<'_>, key: &str) -> Result<Option<Timestamp>, String> {
    let text = call.text(key);
    if text.is_empty() {
        return Ok(None);
    }
    if call.state.promises.iter().len() >= Promises::MOST {
        return Err("too many things are to be done at a moment already".to_owned());
    }
    text.parse().map(Some).map_err(|_invalid| {
        format!("{key} is {text:?}; expected a date and time such as 2026-11-23T18:00:00Z")
    })
}
