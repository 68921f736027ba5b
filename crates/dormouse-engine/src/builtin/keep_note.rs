//! `keep_note`: keeps a fact, a pattern or a guideline in each prompt.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    table::{Builtin, object, sources, text},
};
use crate::{event::Event, self_notes::SELF_NOTE_LIMIT};

pub(super) const TOOL: Builtin = Builtin {
    name: "keep_note",
    description: "Note what every turn shows you: a fact (what somebody prefers), a pattern (what recurs), or a guideline (how you mean to behave).",
    parameters: || {
        object(
            &["kind", "text"],
            &json!({
                "kind": {"enum": ["fact", "pattern", "guideline"]},
                "text": text(SELF_NOTE_LIMIT),
                "sources": sources(),
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let provenance = call.provenance(call.text("text"), "")?;
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let settings = &call.state.configuration.settings;
    let names = settings.name.iter().map(String::as_str);
    let names: Vec<_> = names.chain([call.own.as_str()]).collect();
    let note = (call.read("kind"), call.goal_note("text", provenance));
    let notes = &call.state.self_notes;
    let noted = notes.keep(note, &names, &settings.own, call.author()?);
    let noted = noted.map_err(|error| error.to_string())?;
    let mut result = provenance.shown();
    if let Some(result) = result.as_object_mut() {
        result.insert("note".to_owned(), noted.id.0.into());
    }
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::SelfNoted(noted)],
        result,
    })
}
