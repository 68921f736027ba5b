//! The tools of an assistant in a game.

use dormouse_contracts::{
    IdError, Speech, SpeechKind, ToolCategory, ToolName, ToolReach, ToolSpec,
};
use serde_json::{Value, json};

/// The longest message, in characters. The game's package accepts four times as much, escapes included.
const MESSAGE_LIMIT: usize = 4_000;

/// The longest name, in characters.
const NAME_LIMIT: usize = 80;

fn text(what: &str, limit: usize) -> Value {
    // The pattern rejects text of white space only.
    json!({ "type": "string", "description": what, "minLength": 1, "maxLength": limit, "pattern": "\\S" })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// A tool: name, description, properties, required ones, and how it is used.
type Listed = (
    &'static str,
    &'static str,
    Value,
    &'static [&'static str],
    (ToolCategory, ToolReach),
);

/// The tools of a game in which the assistant may use these commands. Speaking makes it the others' turn, so it ends the
/// loop. What an operator allows beyond the tools may change anything in the game, so it is dangerous.
pub(crate) fn tools(allowed: &[String]) -> Result<Vec<ToolSpec>, IdError> {
    let is_allowed = |command: &str| allowed.iter().any(|it| it == command);
    let mut listed = speaking();
    listed.extend(acting());
    if is_allowed("emit") {
        listed.push(emit());
    }
    if is_allowed("set") {
        listed.push(set_attribute());
    }
    if !allowed.is_empty() {
        listed.push(execute(allowed));
    }
    let listed = listed.into_iter();
    listed
        .map(
            |(name, description, properties, required, (category, reach))| {
                let parameters = object(&properties, required);
                Ok(ToolSpec {
                    category,
                    reach,
                    speech: speech(name),
                    ..ToolSpec::effect(ToolName::try_new(name)?, description, parameters)
                })
            },
        )
        .collect()
}

fn message() -> Value {
    text("What to say. Line breaks become spaces.", MESSAGE_LIMIT)
}

fn name(what: &str) -> Value {
    text(what, NAME_LIMIT)
}

fn speaking() -> Vec<Listed> {
    use {ToolCategory::*, ToolReach::*};
    vec![
        (
            "say",
            "Say something aloud to everyone in the room.",
            json!({ "message": message() }),
            &["message"],
            (Terminal, Effect),
        ),
        (
            "whisper",
            "Say something to one person in the room that nobody else hears.",
            json!({ "to": name("The name of somebody in this room."), "message": message() }),
            &["to", "message"],
            (Terminal, Effect),
        ),
        (
            "page",
            "Send a private message to one person, wherever they are.",
            json!({ "to": name("The name of the account of somebody you have met in this game."), "message": message() }),
            &["to", "message"],
            (Terminal, Effect),
        ),
        (
            "channel",
            "Say something on a channel, to everyone on it, wherever they are.",
            json!({ "channel": name("The name of the channel."), "message": message() }),
            &["channel", "message"],
            (Terminal, Effect),
        ),
        (
            "pose",
            "Do something that everyone in the room sees. It is shown after your name.",
            json!({ "action": text("What you do, in the third person: \"smiles.\"", MESSAGE_LIMIT) }),
            &["action"],
            (SafeChain, Effect),
        ),
    ]
}

fn acting() -> Vec<Listed> {
    use {ToolCategory::*, ToolReach::*};
    let detail = json!({
        "type": "string",
        "enum": ["brief", "full"],
        "description": "brief: names only; full (the default): with descriptions."
    });
    let here = || name("The name of something in this room.");
    let carried = || name("The name of something that you carry.");
    vec![
        (
            "inspect_location",
            "Look around: the room, its exits, the things and the people in it, and what you carry.",
            json!({ "detail_level": detail }),
            &[],
            (SafeChain, Query),
        ),
        (
            "who_is_here",
            "List the people in this room.",
            json!({}),
            &[],
            (SafeChain, Query),
        ),
        (
            "move",
            "Leave the room by one of its exits.",
            json!({ "direction": name("The name of an exit, such as \"north\", or of the room behind it.") }),
            &["direction"],
            (SafeChain, Effect),
        ),
        (
            "look",
            "Look closely at somebody or something in this room, or at the room itself, as the game describes it.",
            json!({ "target": name("Whom or what to look at; without it, the room.") }),
            &[],
            (SafeChain, Effect),
        ),
        (
            "get",
            "Pick something up.",
            json!({ "thing": here() }),
            &["thing"],
            (SafeChain, Effect),
        ),
        (
            "drop",
            "Put down something that you carry.",
            json!({ "thing": carried() }),
            &["thing"],
            (SafeChain, Effect),
        ),
        (
            "give",
            "Give something that you carry to somebody in this room.",
            json!({ "thing": carried(), "to": name("The name of somebody in this room.") }),
            &["thing", "to"],
            (SafeChain, Effect),
        ),
    ]
}

fn emit() -> Listed {
    (
        "emit",
        "Show a text to everyone in the room, without your name.",
        json!({ "message": text("The text.", MESSAGE_LIMIT) }),
        &["message"],
        (ToolCategory::Dangerous, ToolReach::Effect),
    )
}

fn set_attribute() -> Listed {
    (
        "set_attribute",
        "Set an attribute of something in this room.",
        json!({
            "object": name("The name of the object, or \"here\" or \"me\"."),
            "attribute": name("The name of the attribute."),
            "value": text("The value, as the game's command `set` reads it.", MESSAGE_LIMIT),
        }),
        &["object", "attribute", "value"],
        (ToolCategory::Dangerous, ToolReach::Effect),
    )
}

fn execute(allowed: &[String]) -> Listed {
    let commands = allowed.join(", ");
    (
        "execute_command",
        "Type a command of the game. Its output is captured.",
        json!({ "command": text(&format!("The command line. It begins with one of: {commands}"), MESSAGE_LIMIT) }),
        &["command"],
        (ToolCategory::Dangerous, ToolReach::Effect),
    )
}

/// How a tool speaks, if it does. A pose is shown to others and contains no speech.
fn speech(tool: &str) -> Option<Speech> {
    let (kind, to) = match tool {
        "say" => (SpeechKind::Aloud, None),
        "whisper" => (SpeechKind::Whisper, Some("to")),
        "page" => (SpeechKind::Page, Some("to")),
        "channel" => (SpeechKind::Channel, Some("channel")),
        _ => return None,
    };
    Some(Speech {
        kind,
        words: "message".to_owned(),
        to: to.map(str::to_owned),
    })
}
