//! `complete_pending_action`: takes off what was done for somebody.

use dormouse_contracts::ToolCategory;
use serde_json::{Value, json};

use super::{
    Draft,
    table::{Builtin, entity, object},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "complete_pending_action",
    description: "It is done: take it off, by its id in the profile.",
    parameters: || {
        object(
            &["entity", "action"],
            &json!({"entity": entity(), "action": {"type": "integer", "minimum": 1}}),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let action = call.arguments.get("action").and_then(Value::as_u64);
        // The memory knows when it was noted.
        let draft = action.map(|action| Draft::CompleteAction(action, None));
        Ok(call.change(draft, None))
    },
};
