//! `recall_memories`: looks up what was said or stored before.

use dormouse_contracts::ToolCategory;
use serde_json::{Value, json};

use super::{
    BuiltinOutcome, MemoryQuery, NotShown,
    call::Call,
    pending,
    table::{Builtin, LINE_LIMIT, object, text},
};
use crate::privacy::listeners;

/// How many lines a recall returns if the model does not say.
const DEFAULT_LIMIT: usize = 5;

pub(super) const TOOL: Builtin = Builtin {
    name: super::RECALL_MEMORIES,
    description: "Look up what was said or stored before. Returns the lines that fit best, with when and from whom.",
    parameters: || {
        object(
            &["query"],
            &json!({
                "query": text(LINE_LIMIT),
                "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            }),
        )
    },
    category: ToolCategory::SafeChain,
    is_look_up: true,
    is_indispensable: true,
    decide,
};

#[expect(clippy::unnecessary_wraps, reason = "the signature of all tools")]
fn decide(call: &Call<'_>) -> Result<BuiltinOutcome, NotShown> {
    let limit = call.arguments.get("limit").and_then(Value::as_u64);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    Ok(BuiltinOutcome::AskMemory(MemoryQuery::Recall {
        query: call.text("query").to_owned(),
        limit: limit.unwrap_or(DEFAULT_LIMIT),
        without: pending(call.state, call.turn),
        through: call.state.seq,
        quote_trust: call.quote_trust,
        listeners: listeners(call.state, call.turn),
    }))
}
