//! A call of a tool, and the command line that carries it out.

use dormouse_contracts::{
    Arguments, Audience, ChannelId, EntityId, Rejection, ToolName, Words, WordsError,
};
use dormouse_text::one_line;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    frame::{Addressee, Hearers},
    people::People,
    room::{EntityKind, RoomState},
};

/// The longest command line that the game's package accepts, in characters.
const LINE_LIMIT: usize = 16_000;

/// Why a call is not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallRefusal {
    #[error("this world has no tool {0:?}")]
    NoSuchTool(ToolName),
    #[error("the arguments do not fit: {0}")]
    Arguments(#[source] serde_json::Error),
    #[error(transparent)]
    Words(#[from] WordsError),
    #[error("your character is not in the game now")]
    NoRoom,
    #[error("nobody called {name:?} is here; here are: {here}")]
    NotHere { name: String, here: String },
    #[error("nobody plays {0:?} now, so nobody would hear it")]
    NotPlayed(String),
    #[error("there is no {name:?} here; here are: {here}")]
    NoSuchThing { name: String, here: String },
    #[error("you carry no {name:?}; you carry: {carried}")]
    NotCarried { name: String, carried: String },
    #[error("there is no exit {name:?}; exits: {exits}")]
    NoSuchExit { name: String, exits: String },
    #[error("{count} here are called {name:?}, and the game cannot tell which one is meant")]
    Ambiguous { name: String, count: usize },
    #[error("the name {0:?} has a character that means something else in a command of this game")]
    Name(String),
    #[error("nobody called {0:?} has been met in this game; say it to them when they are here")]
    NeverMet(String),
    #[error("the command {command:?} is not allowed; allowed: {allowed}")]
    NotAllowed { command: String, allowed: String },
    #[error("the command line has more than {LINE_LIMIT} characters")]
    TooLong,
}

impl From<CallRefusal> for Rejection {
    fn from(refusal: CallRefusal) -> Self {
        Self::new(refusal.to_string())
    }
}

/// What a tool is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Say(Words),
    Whisper {
        to: String,
        words: Words,
    },
    Page {
        to: String,
        words: Words,
    },
    Pose(Words),
    Emit(Words),
    Channel {
        channel: ChannelId,
        words: Words,
    },
    Move {
        direction: String,
    },
    Look {
        at: Option<String>,
    },
    Get {
        thing: String,
    },
    Drop {
        thing: String,
    },
    Give {
        thing: String,
        to: String,
    },
    Execute {
        command: String,
    },
    SetAttribute {
        object: String,
        attribute: String,
        value: String,
    },
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
struct Direction {
    direction: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    #[serde(default)]
    target: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thing {
    thing: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThingTo {
    thing: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandLine {
    command: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attribute {
    object: String,
    attribute: String,
    value: String,
}

pub(crate) fn arguments<T: DeserializeOwned>(given: &Arguments) -> Result<T, CallRefusal> {
    serde_json::from_value(Value::Object(given.clone())).map_err(CallRefusal::Arguments)
}

impl Call {
    pub(crate) fn read(tool: &ToolName, given: &Arguments) -> Result<Self, CallRefusal> {
        let words = |text: String| Ok::<_, CallRefusal>(Words::try_new(text)?);
        Ok(match tool.as_str() {
            "say" => Self::Say(words(arguments::<Message>(given)?.message)?),
            "emit" => Self::Emit(words(arguments::<Message>(given)?.message)?),
            "pose" => Self::Pose(words(arguments::<Action>(given)?.action)?),
            "whisper" => {
                let MessageTo { to, message } = arguments(given)?;
                let words = words(message)?;
                Self::Whisper { to, words }
            }
            "page" => {
                let MessageTo { to, message } = arguments(given)?;
                let words = words(message)?;
                Self::Page { to, words }
            }
            "channel" => {
                let ChannelMessage { channel, message } = arguments(given)?;
                let words = words(message)?;
                // As it is perceived: names of channels have no case in a game.
                let channel =
                    ChannelId::try_new(channel.as_str().to_lowercase()).unwrap_or(channel);
                Self::Channel { channel, words }
            }
            "move" => Self::Move {
                direction: arguments::<Direction>(given)?.direction,
            },
            "look" => Self::Look {
                at: arguments::<Target>(given)?.target,
            },
            "get" => Self::Get {
                thing: arguments::<Thing>(given)?.thing,
            },
            "drop" => Self::Drop {
                thing: arguments::<Thing>(given)?.thing,
            },
            "give" => {
                let ThingTo { thing, to } = arguments(given)?;
                Self::Give { thing, to }
            }
            "execute_command" => Self::Execute {
                command: arguments::<CommandLine>(given)?.command,
            },
            "set_attribute" => {
                let Attribute {
                    object,
                    attribute,
                    value,
                } = arguments(given)?;
                Self::SetAttribute {
                    object,
                    attribute,
                    value,
                }
            }
            _ => return Err(CallRefusal::NoSuchTool(tool.clone())),
        })
    }

    /// The assistant's words, if the call says something.
    pub(crate) fn words(&self) -> Option<&Words> {
        match self {
            Self::Say(words)
            | Self::Pose(words)
            | Self::Emit(words)
            | Self::Whisper { words, .. }
            | Self::Page { words, .. }
            | Self::Channel { words, .. } => Some(words),
            Self::Move { .. }
            | Self::Look { .. }
            | Self::Get { .. }
            | Self::Drop { .. }
            | Self::Give { .. }
            | Self::Execute { .. }
            | Self::SetAttribute { .. } => None,
        }
    }

    /// Whether it is one of the commands of speech, whose output repeats the words or says why nobody heard them.
    pub(crate) fn is_speech(&self) -> bool {
        !matches!(self, Self::Execute { .. } | Self::SetAttribute { .. })
    }

    /// Whether it moves something, so that a game in which nothing moved has refused it.
    pub(crate) fn moves_something(&self) -> bool {
        matches!(
            self,
            Self::Move { .. } | Self::Get { .. } | Self::Drop { .. } | Self::Give { .. }
        )
    }

    /// The command line, and who will hear words of the assistant.
    pub(crate) fn plan(
        &self,
        seen: &RoomState,
        people: &People,
        allowed: &[String],
    ) -> Result<Plan, CallRefusal> {
        let room = || seen.room.as_ref().ok_or(CallRefusal::NoRoom);
        let aloud = || seen.listeners().unwrap_or(Audience::Public);
        let mut addressee = None;
        let (line, heard_by) = match self {
            Self::Say(words) => {
                room()?;
                (format!("say {}", spoken(words)), Some(aloud()))
            }
            Self::Pose(words) => {
                room()?;
                (format!("pose {}", no_template(words)), Some(aloud()))
            }
            Self::Emit(words) => {
                room()?;
                // `emit` alone would tell the room and nobody in it.
                (
                    format!("remit here = {}", no_template(words)),
                    Some(aloud()),
                )
            }
            Self::Whisper { to, words } => {
                let (name, id) = person(seen, to)?;
                if !seen
                    .people
                    .iter()
                    .any(|one| one.name() == name && one.hears)
                {
                    return Err(CallRefusal::NotPlayed(name.to_owned()));
                }
                let audience = Audience::of([id.clone()]);
                addressee = Some(Addressee {
                    kind: EntityKind::Object,
                    name: name.to_owned(),
                    person: id,
                });
                (format!("whisper {name} = {}", spoken(words)), audience)
            }
            Self::Page { to, words } => {
                let (name, id) = people
                    .account(to)
                    .ok_or_else(|| CallRefusal::NeverMet(to.clone()))?;
                let name = plain_name(name)?;
                addressee = Some(Addressee {
                    kind: EntityKind::Account,
                    name: name.to_owned(),
                    person: id.clone(),
                });
                (
                    format!("page {name} = {}", spoken(words)),
                    Audience::of([id.clone()]),
                )
            }
            Self::Channel { channel, words } => {
                let name = plain_name(channel.as_str())?;
                let audience = Audience::Channel(channel.clone());
                (
                    format!("channel {name} = {}", spoken(words)),
                    Some(audience),
                )
            }
            Self::Move { direction } => (exit(seen, direction)?, None),
            Self::Look { at: None } => ("look".to_owned(), None),
            Self::Look { at: Some(at) } => (format!("look {}", visible(seen, at)?), None),
            Self::Get { thing } => (format!("get {}", thing_here(seen, thing)?), None),
            Self::Drop { thing } => (format!("drop {}", carried(seen, thing)?), None),
            Self::Give { thing, to } => {
                let (name, _) = person(seen, to)?;
                (format!("give {} to {name}", carried(seen, thing)?), None)
            }
            Self::Execute { command } => {
                let line = one_line(command);
                let first = line.split_whitespace().next().unwrap_or_default();
                check_allowed(first, allowed)?;
                // Nobody knows who hears what a command says.
                (line, Some(Audience::Public))
            }
            Self::SetAttribute {
                object,
                attribute,
                value,
            } => {
                check_allowed("set", allowed)?;
                let (object, attribute) = (visible(seen, object)?, plain_name(attribute)?);
                let value = one_line(value).replace('|', "||");
                let line = format!("set {object}/{attribute} = {value}");
                (line, Some(Audience::Public))
            }
        };
        if line.chars().count() > LINE_LIMIT {
            return Err(CallRefusal::TooLong);
        }
        Ok(Plan {
            line,
            heard_by,
            addressee,
        })
    }
}

/// What is done for a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) line: String,
    /// Who hears words of the assistant, besides itself; `None` if it has none.
    pub(crate) heard_by: Option<Audience>,
    /// Whom the line names as the only listener.
    pub(crate) addressee: Option<Addressee>,
}

impl Plan {
    /// What the game has to check at the moment of the act. `is_limited`: the words are not for everybody.
    pub(crate) fn only(&self, is_limited: bool) -> Option<Hearers> {
        match (&self.addressee, &self.heard_by) {
            (Some(addressee), _) => Some(Hearers::To(addressee.clone())),
            (None, Some(Audience::Entities(present))) if is_limited => {
                Some(Hearers::Within(present.clone()))
            }
            (None, _) => None,
        }
    }
}

/// The words as others shall see them: in one line, so that nothing looks like a line of its own, and without markup.
fn spoken(words: &Words) -> String {
    one_line(words.as_claimed()).replace('|', "||")
}

/// A name that cannot be read as anything else in a command line.
fn plain_name(name: &str) -> Result<&str, CallRefusal> {
    let is_special =
        |c: char| c.is_control() || matches!(c, '=' | ',' | ';' | '/' | '|' | '*' | '#' | '"');
    match name.trim() {
        "" => Err(CallRefusal::Name(name.to_owned())),
        name if name.contains(is_special) => Err(CallRefusal::Name(name.to_owned())),
        name => Ok(name),
    }
}

fn same(one: &str, another: &str) -> bool {
    one.trim().to_lowercase() == another.trim().to_lowercase()
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.take(20).collect();
    match names.is_empty() {
        true => "nobody and nothing".to_owned(),
        false => names.join(", "),
    }
}

/// Somebody in the room.
fn person<'a>(seen: &'a RoomState, name: &str) -> Result<(&'a str, EntityId), CallRefusal> {
    let mut found = seen.people.iter().filter(|one| same(one.name(), name));
    let Some(one) = found.next() else {
        return Err(CallRefusal::NotHere {
            name: name.to_owned(),
            here: listed(seen.people.iter().map(|one| one.name())),
        });
    };
    let more = found.count();
    if more > 0 {
        return Err(CallRefusal::Ambiguous {
            name: name.to_owned(),
            count: more + 1,
        });
    }
    let id = one
        .person()
        .map_err(|_invalid| CallRefusal::Name(name.to_owned()))?;
    Ok((plain_name(one.name())?, id))
}

/// For a command whose text is a template of the game: braces and dollar signs would be filled in.
fn no_template(words: &Words) -> String {
    let text = spoken(words).replace('{', "{{").replace('}', "}}");
    text.replace('$', "$$")
}

/// One of several names, in any case. Two of one name are left to the game, which asks which one is meant.
fn named<'a>(mut names: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    names.find(|it| same(it, name))
}

fn thing_here<'a>(seen: &'a RoomState, name: &str) -> Result<&'a str, CallRefusal> {
    let things = || seen.things.iter().map(|it| &*it.key);
    let found = named(things(), name).ok_or_else(|| CallRefusal::NoSuchThing {
        name: name.to_owned(),
        here: listed(things()),
    });
    plain_name(found?)
}

fn carried<'a>(seen: &'a RoomState, name: &str) -> Result<&'a str, CallRefusal> {
    let things = || seen.carried.iter().map(|it| &*it.key);
    let found = named(things(), name).ok_or_else(|| CallRefusal::NotCarried {
        name: name.to_owned(),
        carried: listed(things()),
    });
    plain_name(found?)
}

/// Anything that can be looked at: people, things here and carried, exits, `here` and `me`.
fn visible<'a>(seen: &'a RoomState, name: &str) -> Result<&'a str, CallRefusal> {
    let all = || {
        let people = seen.people.iter().map(|one| one.name());
        let things = seen.things.iter().chain(&seen.carried).map(|it| &*it.key);
        let exits = seen.exits.iter().map(|it| &*it.key);
        people.chain(things).chain(exits)
    };
    let found = named(all().chain(["here", "me"]), name);
    let found = found.ok_or_else(|| CallRefusal::NoSuchThing {
        name: name.to_owned(),
        here: listed(all()),
    });
    plain_name(found?)
}

/// The command that goes through an exit is its name. A direction may also be one of its other names, or the name of the
/// room behind it.
fn exit(seen: &RoomState, name: &str) -> Result<String, CallRefusal> {
    let leads = |exit: &&crate::room::SeenExit| {
        let is_alias = exit.aliases.iter().any(|alias| same(alias, name));
        let is_room = exit.to.as_ref().is_some_and(|to| same(&to.key, name));
        is_alias || is_room
    };
    let mut exits = seen.exits.iter();
    let by_name = exits.find(|exit| same(&exit.key, name));
    let found = by_name.or_else(|| seen.exits.iter().find(leads));
    let found = found.ok_or_else(|| CallRefusal::NoSuchExit {
        name: name.to_owned(),
        exits: listed(seen.exits.iter().map(|it| &*it.key)),
    })?;
    Ok(plain_name(&found.key)?.to_owned())
}

fn check_allowed(command: &str, allowed: &[String]) -> Result<(), CallRefusal> {
    if allowed.iter().any(|it| it == command) {
        return Ok(());
    }
    Err(CallRefusal::NotAllowed {
        command: command.to_owned(),
        allowed: listed(allowed.iter().map(|it| &**it)),
    })
}

#[cfg(test)]
mod tests;
