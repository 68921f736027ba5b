//! The promises of the crate, through its public API.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what the tests are made of is valid, but for tools that fail on purpose"
)]

mod calls;
mod hostile;
mod registry;
mod router;
mod toolbox;
mod wording;

use std::time::Duration;

use dormouse_contracts::{CallId, ToolCall, ToolCategory, ToolName, ToolReach, ToolSpec};
use dormouse_tools::Registry;
use serde_json::{Value, json};

fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: ToolName::try_new(name).unwrap(),
        description: format!("Does {name}."),
        parameters,
        category: ToolCategory::SafeChain,
        reach: ToolReach::Query,
        timeout: Duration::from_secs(1),
        speech: None,
        required_trust: None,
        cache: None,
        result_trust: None,
    }
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::try_new("call-1").unwrap(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

/// A strict tool, a tool without parameters, and one that takes anything.
fn registry() -> Registry {
    let whisper = json!({
        "type": "object",
        "properties": {
            "to": {"type": "string", "minLength": 1},
            "text": {"type": "string"},
            "mood": {"enum": ["calm", "glad", "sleepy", "cross"]},
            "times": {"type": ["integer", "null"], "minimum": 1},
        },
        "required": ["to", "text"],
        "additionalProperties": false,
    });
    let noop = json!({"type": "object", "additionalProperties": false});
    Registry::try_new([
        tool("whisper", whisper),
        tool("noop", noop),
        tool("remember", json!({"type": "object"})),
    ])
    .unwrap()
}
