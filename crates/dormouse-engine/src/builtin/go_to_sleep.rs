//! `go_to_sleep`: the assistant decides that it sleeps. Its turn ends with this.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, Provenance,
    call::Call,
    table::{Builtin, object, text},
};
use crate::{
    event::Event,
    sleeping::{SLEEP_REASON_LIMIT, SleepWish},
};

pub(super) const TOOL: Builtin = Builtin {
    name: super::GO_TO_SLEEP,
    description: "Fall asleep: your turn ends, and you put in order what you know. Somebody who talks to you wakes you.",
    parameters: || {
        object(
            &["reason"],
            &json!({
                "until": {"type": "string", "maxLength": 40, "description": "A moment: 2026-11-23T06:00:00Z."},
                "reason": text(SLEEP_REASON_LIMIT),
            }),
        )
    },
    category: ToolCategory::Terminal,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let provenance = call.provenance(call.text("reason"), "")?;
        Ok(decide(call, &provenance).unwrap_or_else(BuiltinOutcome::Refused))
    },
};

fn decide(call: &Call<'_>, provenance: &Provenance) -> Result<BuiltinOutcome, String> {
    let wish = SleepWish {
        author: call.author()?,
        until: call.moment("until")?,
        reason: call.given_note("reason", provenance),
    };
    let asleep = call.state.fall_asleep(call.now, wish);
    let asleep = asleep.map_err(|error| error.to_string())?;
    let result = json!({"asleep_until": asleep.until.to_string()});
    Ok(BuiltinOutcome::Decided {
        events: vec![Event::FellAsleep(asleep)],
        result,
    })
}
