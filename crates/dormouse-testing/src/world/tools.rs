//! Tools of every kind.

use dormouse_contracts::{Speech, SpeechKind, ToolCategory, ToolName, ToolReach, ToolSpec};
use serde_json::{Value, json};

/// One tool per combination of category and reach that an engine treats differently.
pub(super) fn tools() -> Vec<ToolSpec> {
    use ToolCategory::{Dangerous, SafeChain, Terminal};
    use ToolReach::{Effect, Query};
    vec![
        spec(
            "say",
            "Say something aloud.",
            &["message"],
            Terminal,
            Effect,
        ),
        spec(
            "whisper",
            "Say something to one listener.",
            &["to", "message"],
            Terminal,
            Effect,
        ),
        spec("move", "Go through an exit.", &["exit"], SafeChain, Effect),
        spec("inspect_location", "Look around.", &[], SafeChain, Query),
        spec(
            "detonate",
            "Blow up a thing.",
            &["thing"],
            Dangerous,
            Effect,
        ),
    ]
}

/// A tool with exactly these parameters. Each one is a required text.
fn spec(
    name: &str,
    description: &str,
    parameters: &[&str],
    category: ToolCategory,
    reach: ToolReach,
) -> ToolSpec {
    let properties: serde_json::Map<String, Value> = parameters
        .iter()
        .map(|name| ((*name).to_owned(), schema(name)))
        .collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": parameters,
        "additionalProperties": false,
    });
    ToolSpec {
        category,
        reach,
        speech: speech(name),
        ..ToolSpec::effect(ToolName::try_new(name).unwrap(), description, schema)
    }
}

/// A text parameter. A spoken text has a limit, as in most worlds.
fn schema(parameter: &str) -> Value {
    match parameter {
        "message" => json!({ "type": "string", "maxLength": 4_000 }),
        _ => json!({ "type": "string" }),
    }
}

fn speech(tool: &str) -> Option<Speech> {
    let (kind, to) = match tool {
        "say" => (SpeechKind::Aloud, None),
        "whisper" => (SpeechKind::Whisper, Some("to".to_owned())),
        _ => return None,
    };
    let words = "message".to_owned();
    Some(Speech { kind, words, to })
}
