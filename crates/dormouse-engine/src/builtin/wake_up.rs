//! `wake_up`: the assistant decides in its sleep that it wakes. Its turn ends with this.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    table::{Builtin, object, text},
};
use crate::{
    event::{Event, WakeCause},
    sleeping::SLEEP_REASON_LIMIT,
};

pub(super) const TOOL: Builtin = Builtin {
    name: super::WAKE_UP,
    description: "Wake up: the night is over, and your turn ends. For what cannot wait until the morning.",
    parameters: || object(&["reason"], &json!({"reason": text(SLEEP_REASON_LIMIT)})),
    category: ToolCategory::Terminal,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let provenance = call.provenance(call.text("reason"), "")?;
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let cause = WakeCause::Tool(call.id()?);
    let reason = call.goal_note("reason", provenance);
    let woken = call.state.wake_up_because(cause, reason);
    let woken = woken.map_err(|error| error.to_string())?;
    let result = json!({"awake_from_night": woken.night});
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::WokeUp(woken)],
        result,
    })
}
