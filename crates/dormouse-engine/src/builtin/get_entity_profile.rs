//! `get_entity_profile`: looks up what is known of somebody.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    BuiltinOutcome, MemoryQuery,
    table::{Builtin, entity, object},
};
use crate::privacy::listeners;

pub(super) const TOOL: Builtin = Builtin {
    name: super::GET_ENTITY_PROFILE,
    description: "What you know of somebody or something.",
    parameters: || object(&["entity"], &json!({"entity": entity()})),
    category: ToolCategory::SafeChain,
    is_look_up: true,
    is_indispensable: false,
    decide: |call| {
        Ok(BuiltinOutcome::AskMemory(MemoryQuery::Profile {
            who: call.text("entity").to_owned(),
            listeners: listeners(call.state, call.turn),
        }))
    },
};
