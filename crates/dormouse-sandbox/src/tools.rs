//! The tools for assistants in this world, and the acts of their calls.

use dormouse_contracts::{
    Arguments, ChannelId, EntityId, IdError, Receipt, Speech, SpeechKind, ToolCategory, ToolName,
    ToolReach, ToolSpec, Words,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    act::{Act, ActRefusal, ActView},
    decide::Decision,
    room_view::{Detail, NAMED},
    roster::Roster,
    tea_house::CHANNELS,
};

#[cfg(test)]
mod tests;

/// The longest message by the tools' schemas, in characters; every such text fits into `Words`.
const MESSAGE_LIMIT: usize = 4_000;

/// The longest reason for ringing the bell, in characters.
const REASON_LIMIT: usize = 200;

/// Why a tool call is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallRefusal {
    #[error("this world has no tool {:?}", .0.as_str())]
    NoSuchTool(ToolName),
    #[error("{0} only looks; it is not carried out")]
    NoEffect(ToolName),
    #[error("{0} is not a way of looking")]
    NoQuery(ToolName),
    #[error("the arguments do not fit: {0}")]
    Arguments(#[source] serde_json::Error),
    #[error(transparent)]
    Refused(#[from] ActRefusal),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageTo {
    to: String,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChannelMessage {
    channel: ChannelId,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    action: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Direction {
    direction: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inspect {
    #[serde(default)]
    detail_level: Detail,
}

fn read<T: DeserializeOwned>(arguments: &Arguments) -> Result<T, CallRefusal> {
    serde_json::from_value(Value::Object(arguments.clone())).map_err(CallRefusal::Arguments)
}

fn words(text: String) -> Result<Words, CallRefusal> {
    Ok(Words::try_new(text).map_err(ActRefusal::Words)?)
}

/// The act of a call of an effect tool.
pub(crate) fn act(tool: &ToolName, arguments: &Arguments) -> Result<Act, CallRefusal> {
    match tool.as_str() {
        "say" => Ok(Act::Say(words(read::<Message>(arguments)?.message)?)),
        "pose" => Ok(Act::Pose(words(read::<Action>(arguments)?.action)?)),
        "whisper" => {
            let MessageTo { to, message } = read(arguments)?;
            let words = words(message)?;
            Ok(Act::Whisper { to, words })
        }
        "page" => {
            let MessageTo { to, message } = read(arguments)?;
            let words = words(message)?;
            Ok(Act::Page { to, words })
        }
        "ring_bell" => Ok(Act::RingBell(words(read::<Reason>(arguments)?.reason)?)),
        "channel" => {
            let ChannelMessage { channel, message } = read(arguments)?;
            let words = words(message)?;
            Ok(Act::Channel { channel, words })
        }
        "move" => {
            let Direction { direction } = read(arguments)?;
            Ok(Act::Move { direction })
        }
        "inspect_location" => Err(CallRefusal::NoEffect(tool.clone())),
        _ => Err(CallRefusal::NoSuchTool(tool.clone())),
    }
}

/// The level of detail that a call of `inspect_location` asks for.
pub(crate) fn look(tool: &ToolName, arguments: &Arguments) -> Result<Detail, CallRefusal> {
    match tool.as_str() {
        "inspect_location" => Ok(read::<Inspect>(arguments)?.detail_level),
        "say" | "whisper" | "page" | "channel" | "pose" | "move" | "ring_bell" => {
            Err(CallRefusal::NoQuery(tool.clone()))
        }
        _ => Err(CallRefusal::NoSuchTool(tool.clone())),
    }
}

/// The result for the model after an effect: who noticed, or where the assistant is now.
pub(crate) fn receipt(
    tool: &ToolName,
    decision: &Decision,
    roster: &Roster,
    actor: &EntityId,
) -> Receipt {
    let detail = match &decision.seen {
        ActView::Room(view) => json!({ "moved_to": view.room }),
        ActView::Channel { channel, .. } => json!({ "channel": channel }),
        ActView::Own { to: Some(name), .. } => json!({ "to": name }),
        ActView::Own { to: None, .. } => {
            let names: Vec<_> = (decision.heard.iter())
                .filter(|heard| heard.observer != *actor)
                .filter_map(|heard| roster.find(&heard.observer))
                .take(NAMED)
                .map(|one| one.name.as_str())
                .collect();
            let noticed = if tool.as_str() == "pose" {
                "seen_by"
            } else {
                "heard_by"
            };
            json!({ noticed: names })
        }
    };
    Receipt::new(detail)
}

fn text(what: &str, limit: usize) -> Value {
    // The pattern rejects text of white space only, which is not a valid message.
    json!({ "type": "string", "description": what, "minLength": 1, "maxLength": limit, "pattern": "\\S" })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The tools of this world.
///
/// Speaking makes it the others' turn, so say, whisper, page and channel end the loop. A pose accompanies speech ("smiles", then
/// speaks). A move often precedes looking or speaking, and can be undone. Both may be followed by another call. Nobody can
/// take back the sound of the bell, and everybody hears it, so that is dangerous.
///
/// # Errors
///
/// Never, in practice: the names are constants.
pub fn sandbox_tools() -> Result<Vec<ToolSpec>, IdError> {
    use {ToolCategory::*, ToolReach::*};
    let message = || text("What to say.", MESSAGE_LIMIT);
    let to = |where_| text(where_, 64);
    let here = "The name of somebody in this room.";
    let anywhere = "The name of somebody anywhere in this world.";
    let detail = json!({
        "type": "string",
        "enum": ["brief", "full"],
        "description": "brief: names only; full (the default): with descriptions."
    });
    let channels = json!({
        "type": "string",
        "enum": CHANNELS,
        "description": "The name of the channel."
    });
    let listed = [
        (
            "say",
            "Say something aloud to everyone in the room.",
            object(&json!({ "message": message() }), &["message"]),
            (Terminal, Effect),
        ),
        (
            "whisper",
            "Say something to one person in the room that nobody else hears.",
            object(
                &json!({ "to": to(here), "message": message() }),
                &["to", "message"],
            ),
            (Terminal, Effect),
        ),
        (
            "page",
            "Send a private message to one person, wherever they are.",
            object(
                &json!({ "to": to(anywhere), "message": message() }),
                &["to", "message"],
            ),
            (Terminal, Effect),
        ),
        (
            "channel",
            "Say something on a channel, to everyone on it, wherever they are.",
            object(
                &json!({ "channel": channels, "message": message() }),
                &["channel", "message"],
            ),
            (Terminal, Effect),
        ),
        (
            "pose",
            "Do something that everyone in the room sees. It is shown after your name.",
            object(
                &json!({ "action": text("What you do, in the third person: \"smiles.\"", MESSAGE_LIMIT) }),
                &["action"],
            ),
            (SafeChain, Effect),
        ),
        (
            "inspect_location",
            "Look around: the room, its exits, the things and the people in it.",
            object(&json!({ "detail_level": detail }), &[]),
            (SafeChain, Query),
        ),
        (
            "move",
            "Leave the room by one of its exits.",
            object(
                &json!({ "direction": text("The direction of an exit, such as \"north\", or the name of somebody who has gone through one.", 64) }),
                &["direction"],
            ),
            (SafeChain, Effect),
        ),
        (
            "ring_bell",
            "Ring the bell of the house: everybody in every room hears it, and why. Only for an emergency.",
            object(
                &json!({ "reason": text("Why you ring it, in a sentence.", REASON_LIMIT) }),
                &["reason"],
            ),
            (Dangerous, Effect),
        ),
    ];
    let listed = listed.into_iter();
    listed
        .map(|(name, description, parameters, (category, reach))| {
            Ok(ToolSpec {
                category,
                reach,
                speech: speech(name),
                ..ToolSpec::effect(ToolName::try_new(name)?, description, parameters)
            })
        })
        .collect()
}

/// How a tool speaks, if it does. A pose is shown to others and contains no speech.
fn speech(tool: &str) -> Option<Speech> {
    let (kind, words, to) = match tool {
        "say" => (SpeechKind::Aloud, "message", None),
        "ring_bell" => (SpeechKind::Aloud, "reason", None),
        "whisper" => (SpeechKind::Whisper, "message", Some("to")),
        "page" => (SpeechKind::Page, "message", Some("to")),
        "channel" => (SpeechKind::Channel, "message", Some("channel")),
        _ => return None,
    };
    Some(Speech {
        kind,
        words: words.to_owned(),
        to: to.map(str::to_owned),
    })
}
