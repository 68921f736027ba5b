//! `end_conversation`: ends the running conversation with somebody and archives it.

use dormouse_contracts::ToolCategory;
use serde_json::json;

use super::{
    Draft,
    table::{Builtin, entity, object},
};

pub(super) const TOOL: Builtin = Builtin {
    name: "end_conversation",
    description: "End your conversation with somebody. The next message begins another one.",
    parameters: || object(&["entity"], &json!({"entity": entity()})),
    category: ToolCategory::SafeChain,
    is_look_up: false,
    is_indispensable: false,
    decide: |call| Ok(call.change(Some(Draft::EndConversation), None)),
};
