//! `drop_note`: a fact, a pattern or a guideline is not kept any more.

use dormouse_contracts::ToolCategory;
use serde_json::{Value, json};

use super::{
    BuiltinOutcome,
    call::Call,
    table::{Builtin, object},
};
use crate::{
    event::{Event, SelfNoteId},
    privacy::Shareable,
    self_notes::SelfNoteError,
};

pub(super) const TOOL: Builtin = Builtin {
    name: "drop_note",
    description: "Drop a note that is no longer true.",
    parameters: || {
        object(
            &["note"],
            &json!({"note": {"type": "integer", "minimum": 1, "maximum": u32::MAX}}),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| Ok(decide(call).unwrap_or_else(BuiltinOutcome::Refused)),
};

fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, String> {
    let number = call.arguments.get("note").and_then(Value::as_u64);
    let number = number.and_then(|number| u32::try_from(number).ok());
    let id = SelfNoteId(number.unwrap_or_default());
    // A note that not everybody who listens perceived does not exist here.
    let known = Shareable::of(call.state, call.turn).notes;
    if !known.iter().any(|note| note.id == id) {
        return Err(SelfNoteError::Unknown(id).to_string());
    }
    let dropped = call.state.self_notes.drop_note(id, call.author()?);
    let dropped = dropped.map_err(|error| error.to_string())?;
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::SelfNoteDropped(dropped)],
        result: json!({"dropped": id.0}),
    })
}
