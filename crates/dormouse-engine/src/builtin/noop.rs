//! `noop`: does nothing.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{BuiltinOutcome, table::Builtin};
use crate::event::NOOP;

pub(super) const TOOL: Builtin = Builtin {
    name: NOOP,
    description: "Do nothing: you are done, or there is nothing to do.",
    parameters: || {
        json!({"type": "object", "additionalProperties": true, "properties": {
            "reason": {"type": "string", "description": "Why."}}})
    },
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: true,
    decide: |_| {
        Ok(BuiltinOutcome::Decided {
            events: Vec::new(),
            result: json!({}),
        })
    },
};
