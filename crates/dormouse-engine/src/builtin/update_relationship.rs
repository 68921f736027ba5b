//! `update_relationship`: changes how much somebody is liked.

use dormouse_contracts::ToolCategory;
use dormouse_entities::{ChangeReason, Favorability};
use serde_json::{Value, json};

use super::{
    Basis, BuiltinOutcome, Draft, NotShown, Provenance,
    call::Call,
    table::{Builtin, entity, object, sources, text},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "update_relationship",
    description: "Change how much you like somebody: a little at a time, and a limited amount a day. How well you know and trust \
                  them follows from your interactions. What people say whom you do not trust changes nothing.",
    parameters: || {
        object(
            &["entity", "metric", "change", "reason"],
            &json!({
                "entity": entity(),
                "metric": {"enum": ["favorability"]},
                "change": {"type": "number", "minimum": -0.2, "maximum": 0.2},
                "reason": text(300),
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
    // Here the person needs a source, too: "be kind to him" does not say who is meant.
    let judged = [call.subject().as_str(), call.text("reason")].join("\n");
    let provenance = call.provenance(&judged, "")?;
    let draft = draft(call, &provenance);
    Ok(call.change(draft, Some(provenance.applied())))
}

fn draft(call: &Call<'_>, provenance: &Provenance) -> Option<Draft> {
    let change = call.arguments.get("change").and_then(Value::as_f64)?;
    #[expect(clippy::cast_possible_truncation, reason = "a step of at most 0.2")]
    let step = Favorability::try_new(change as f32).ok()?;
    let reason = ChangeReason::shortened(call.text("reason"))?;
    Some(Draft::Judge(step, reason, Basis::of(provenance)))
}
