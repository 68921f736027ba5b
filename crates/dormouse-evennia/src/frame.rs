//! The frames of the websocket: `[name, [arguments], {keywords}]`.

use std::{collections::BTreeSet, fmt};

use dormouse_contracts::EntityId;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::{
    event::GameEvent,
    room::{EntityKind, GameEntity, RoomState},
};

/// The largest frame that is read, in bytes. The game itself bounds nothing: a player may say half a megabyte.
pub(crate) const LARGEST_FRAME: usize = 1 << 20;

/// The version of the protocol with the game's package.
pub(crate) const PROTOCOL: u32 = 1;

/// A frame that the game sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FromGame {
    LoggedIn,
    /// Text for a screen, without attestation.
    Text(String),
    Hello(Box<GameHello>),
    Event(Box<GameEvent>),
    Done(ActDone),
    State(Box<RoomState>),
    /// The resident has another character or another room, or none.
    You,
    Server(ServerEvent),
    Staff(StaffCommand),
    Error(GameError),
    /// Any other frame; games may send what they like.
    Other,
}

/// The answer of the game's package to a greeting.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct GameHello {
    pub(crate) v: u32,
    #[serde(default)]
    pub(crate) package: String,
    #[serde(default)]
    pub(crate) evennia: String,
    #[serde(default)]
    pub(crate) game: String,
    pub(crate) you: GameEntity,
    /// A random id that the game keeps in its database.
    pub(crate) life: String,
    #[serde(default)]
    pub(crate) seq: u64,
    /// Whether the game's database is older than what this client has stored.
    #[serde(default)]
    pub(crate) restored: bool,
    /// How many entries of the feed were dropped because it was full.
    #[serde(default)]
    pub(crate) lost: u64,
    /// What the game's operator should mend, in sentences.
    #[serde(default)]
    pub(crate) problems: Vec<String>,
}

/// What the game knows about an act.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct ActDone {
    pub(crate) key: String,
    pub(crate) state: ActState,
    /// Whether a command that was begun runs now, so that its end is still to be reported.
    #[serde(default)]
    pub(crate) running: bool,
    #[serde(default)]
    pub(crate) output: Vec<String>,
    #[serde(default)]
    pub(crate) output_cut: bool,
    /// Whether the resident, or what it carries, is elsewhere afterwards.
    #[serde(default)]
    pub(crate) changed: bool,
    /// Why the command failed.
    #[serde(default)]
    pub(crate) error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActState {
    Done,
    Failed,
    Begun,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerEvent {
    Reloading,
    Stopping,
}

/// A command of the game's staff for this assistant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct StaffCommand {
    pub(crate) id: String,
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) switches: Vec<String>,
    #[serde(default)]
    pub(crate) args: String,
    pub(crate) who: GameEntity,
}

/// The package refused something.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct GameError {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) error: String,
    /// The frame, or the key of an act.
    #[serde(default)]
    pub(crate) about: Option<String>,
}

/// Why a frame is skipped. The text of the frame is not repeated: it may be anything.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("it is not JSON of the form [name, [arguments], {{keywords}}]")]
    Form(#[source] serde_json::Error),
    #[error("{name} has no argument; expected one object")]
    Empty { name: String },
    #[error("the argument of {name} is not what the protocol describes")]
    Content {
        name: String,
        #[source]
        source: serde_json::Error,
    },
}

/// Reads a frame.
pub(crate) fn read(text: &str) -> Result<FromGame, FrameError> {
    let (name, arguments, _keywords): (String, Vec<Value>, Map<String, Value>) =
        serde_json::from_str(text).map_err(FrameError::Form)?;
    let first = arguments.into_iter().next();
    Ok(match name.as_str() {
        "logged_in" => FromGame::LoggedIn,
        "text" => match first {
            Some(Value::String(text)) => FromGame::Text(text),
            Some(_) | None => FromGame::Other,
        },
        "dormouse_hello" => FromGame::Hello(content(name, first)?),
        "dormouse_event" => FromGame::Event(content(name, first)?),
        "dormouse_done" => FromGame::Done(content(name, first)?),
        "dormouse_state" => FromGame::State(content(name, first)?),
        "dormouse_you" => FromGame::You,
        "dormouse_staff" => FromGame::Staff(content(name, first)?),
        "dormouse_server" => {
            #[derive(Deserialize)]
            struct Content {
                event: ServerEvent,
            }
            FromGame::Server(content::<Content>(name, first)?.event)
        }
        "dormouse_error" => FromGame::Error(content(name, first)?),
        _ => FromGame::Other,
    })
}

fn content<T: DeserializeOwned>(name: String, first: Option<Value>) -> Result<T, FrameError> {
    match first {
        None => Err(FrameError::Empty { name }),
        Some(value) => {
            serde_json::from_value(value).map_err(|source| FrameError::Content { name, source })
        }
    }
}

/// An entry of a resident's feed. It is stored as a text, together with the perception that was made from the entry. A game
/// that was restored from a copy may use a number twice, but not at the same time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeedPosition {
    pub(crate) life: String,
    pub(crate) seq: u64,
    pub(crate) at: f64,
}

impl fmt::Display for FeedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.life, self.seq, self.at)
    }
}

impl FeedPosition {
    /// Reads what was stored; `None` if it is damaged.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (rest, at) = text.rsplit_once('/')?;
        let (life, seq) = rest.rsplit_once('/')?;
        Some(Self {
            life: life.to_owned(),
            seq: seq.parse().ok()?,
            at: at.parse().ok().filter(|at: &f64| at.is_finite())?,
        })
    }
}

/// Who may hear an act. The game checks it at the moment of the act, because people move between a look and a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Hearers {
    /// All who are in the room are among these.
    #[serde(rename = "within")]
    Within(BTreeSet<EntityId>),
    /// The name is that of this person.
    #[serde(rename = "to")]
    To(Addressee),
}

/// Somebody by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Addressee {
    /// Whether it names a character in the room, or an account.
    pub(crate) kind: EntityKind,
    pub(crate) name: String,
    pub(crate) person: EntityId,
}

/// A frame for the game.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToGame {
    Login {
        account: String,
        password: Password,
    },
    /// Asks the game for text without colours, and not to divide long texts into pages.
    Options,
    /// With the newest entry of the feed that is stored.
    Hello(Option<FeedPosition>),
    Ack(u64),
    Act {
        key: String,
        line: String,
        only: Option<Hearers>,
    },
    Receipt(String),
    State(u64),
    StaffDone {
        id: String,
        text: String,
        ok: bool,
    },
    /// Takes up the account's character, as a player does who is out of character.
    Enter,
    /// The only input that a game's idle time-out counts.
    Idle,
}

impl ToGame {
    /// The frame as text.
    pub(crate) fn to_text(&self) -> String {
        let frame = match self {
            Self::Login { account, password } => {
                json!(["login", [], { "name": account, "password": password.0 }])
            }
            Self::Options => {
                json!(["client_options", [], { "nocolor": true, "screenheight": 100_000 }])
            }
            Self::Hello(position) => {
                let position = position.as_ref();
                ours(
                    "hello",
                    &json!({
                        "v": PROTOCOL,
                        "life": position.map(|it| &it.life),
                        "after": position.map(|it| it.seq),
                        "after_at": position.map(|it| it.at),
                        "client": concat!("dormouse ", env!("CARGO_PKG_VERSION")),
                    }),
                )
            }
            Self::Ack(seq) => ours("ack", &json!({ "seq": seq })),
            Self::Act { key, line, only } => {
                ours("act", &json!({ "key": key, "line": line, "only": only }))
            }
            Self::Receipt(key) => ours("receipt", &json!({ "key": key })),
            Self::State(request) => ours("state", &json!({ "req": request })),
            Self::StaffDone { id, text, ok } => {
                ours("staff_done", &json!({ "id": id, "text": text, "ok": ok }))
            }
            Self::Enter => json!(["text", ["ic"], {}]),
            Self::Idle => json!(["text", ["idle"], {}]),
        };
        frame.to_string()
    }
}

/// Keywords could have the names of the game's own parameters, so everything is in one positional argument.
fn ours(name: &str, content: &Value) -> Value {
    json!([format!("dormouse_{name}"), [content], {}])
}

/// The password of an account in the game. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Box<str>);

impl Password {
    /// Takes a text as a password.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_a_stock_game_are_read_and_others_are_passed_over() {
        for (text, expected) in [
            (r#"["logged_in", [], {"options": {}}]"#, FromGame::LoggedIn),
            (
                r#"["text", ["Alice says, \"hi\""], {"type": "say"}]"#,
                FromGame::Text("Alice says, \"hi\"".to_owned()),
            ),
            (
                r#"["text", ["help", []], {"type": "help"}]"#,
                FromGame::Text("help".to_owned()),
            ),
            (r#"["health", [1], {"max": 9}]"#, FromGame::Other),
            (r#"["text", [], {}]"#, FromGame::Other),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_frame_is_an_error_that_says_why_and_repeats_nothing() {
        for (text, why) in [
            ("nonsense", "not JSON of the form"),
            ("[]", "not JSON of the form"),
            ("null", "not JSON of the form"),
            (r#"["text"]"#, "not JSON of the form"),
            (r#"{"text": 1}"#, "not JSON of the form"),
            (r#"["text", "look", {}]"#, "not JSON of the form"),
            (r#"["dormouse_event", [], {}]"#, "expected one object"),
            (r#"["dormouse_event", [{"seq": -1}], {}]"#, "dormouse_event"),
            (
                r#"["dormouse_done", [{"key": "k", "state": "perhaps"}], {}]"#,
                "dormouse_done",
            ),
            (
                r#"["dormouse_server", [{"event": 7}], {}]"#,
                "dormouse_server",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
            assert!(!error.contains("nonsense"));
        }
    }

    #[test]
    fn a_position_is_stored_as_a_text_and_read_again() {
        let position = FeedPosition {
            life: "9f".to_owned(),
            seq: 41,
            at: 1_795_912_345.678,
        };
        assert_eq!(position.to_string(), "9f/41/1795912345.678");
        assert_eq!(FeedPosition::read(&position.to_string()), Some(position));
        for damaged in ["", "9f", "9f/41", "9f/x/1.0", "9f/41/NaN"] {
            assert_eq!(FeedPosition::read(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn a_password_is_sent_and_never_printed() {
        let login = ToGame::Login {
            account: "Dormouse".to_owned(),
            password: Password::new("tea \"time\""),
        };
        assert!(!format!("{login:?}").contains("tea"));
        assert_eq!(
            login.to_text(),
            r#"["login",[],{"name":"Dormouse","password":"tea \"time\""}]"#
        );
    }
}
