//! `complete_pending_action`: takes off what was done for somebody.

use dormouse_contracts::ToolCategory;
use dormouse_entities::Completion;
use serde_json::{Value, json};

use super::{
    Draft,
    table::{Builtin, entity, object},
};

pub(super) const TOOL: Builtin = Builtin {
    name: super::COMPLETE_PENDING_ACTION,
    description: "End an intended action by its id in the profile: it is done, or nobody wants it any more.",
    parameters: || {
        object(
            &["entity", "action"],
            &json!({
                "entity": entity(),
                "action": {"type": "integer", "minimum": 1},
                "outcome": {"enum": ["done", "withdrawn"], "description": "done, unless you say otherwise."},
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| {
        let action = call.arguments.get("action").and_then(Value::as_u64);
        // The memory knows when it was noted.
        let completion: Completion = call.read("outcome");
        let draft = action.map(|action| Draft::CompleteAction(action, None, completion));
        Ok(call.change(draft, None))
    },
};
