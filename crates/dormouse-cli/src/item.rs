//! The items that `play` prints. As JSON, these are the lines of `docs/json-output.md`.

use dormouse_classify::Classification;
use dormouse_contracts::{Perception, Sender, SourceKind, Timestamp, Trust, invariant};
use dormouse_engine::{Accepted, Pause, Recorded};
use dormouse_sandbox::{Act, ActView};
use serde::Serialize;
use serde_json::Value;

use crate::{
    describe::{self, source_name},
    grammar::posed,
};

/// One item to print.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item {
    /// The assistant is awake and the player is in the world.
    Ready(Ready),
    /// Something happened in the world.
    World(World),
    /// The assistant accepted a message; it is on disk.
    Message(Message),
    /// Something happened to the assistant; it is on disk.
    Event(EventLine),
    /// A line of input was not carried out, or only in part.
    Rejected {
        /// Which line, counted from 1.
        line: u64,
        /// Why.
        reason: String,
    },
    /// Something the program says.
    Notice {
        /// What.
        text: String,
    },
    /// The session is over.
    End(EndLine),
}

/// How a session ended, and what is still open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EndLine {
    /// Why it is over.
    pub(crate) reason: End,
    /// How many messages wait for an answer.
    pub(crate) waiting: usize,
    /// Why they wait, if a file cannot be written or a service cannot be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
    /// The first of these messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<OpenMessage>,
    /// The pause that they wait for.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) pause: Option<PauseLine>,
    /// The command that lets a stopped assistant go on, for people.
    #[serde(skip)]
    pub(crate) clear: String,
}

/// A message that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OpenMessage {
    /// Its event in the log; `null` while it is only in the world.
    pub(crate) event: Option<u64>,
    /// Who sent it.
    pub(crate) from: String,
    /// Its beginning.
    pub(crate) text: String,
    /// The tool that is about to answer it: the act is decided, but its outcome is not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) act: Option<String>,
}

/// A pause that a service of the model asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PauseLine {
    pub(crate) asked_by: String,
    pub(crate) until: String,
    /// The same pause in words, for people.
    #[serde(skip)]
    pub(crate) text: String,
    /// The command that ends it, for people.
    #[serde(skip)]
    pub(crate) retry: String,
}

impl PauseLine {
    /// The pause, and the command that ends it.
    pub(crate) fn new(pause: &Pause, retry: String) -> Self {
        Self {
            retry,
            asked_by: pause.by.to_string(),
            until: pause.until.to_string(),
            text: describe::pause(pause),
        }
    }
}

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// Every message was dealt with.
    Settled,
    /// The emergency stop is on.
    Stopped,
    /// The assistant is switched off.
    Disabled,
    /// Every service of its model asked for a pause.
    Paused,
    /// Its model or its world cannot be reached.
    Waiting,
    /// Its budgets allow no further call of its model for now.
    OverBudget,
    /// Somebody asked to end before every message was dealt with.
    Interrupted,
}

/// Who is present, and which model answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Ready {
    pub(crate) assistant: String,
    pub(crate) name: String,
    pub(crate) player: String,
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) why: String,
    pub(crate) data: String,
    pub(crate) seq: u64,
    pub(crate) waiting: usize,
    /// What is kept private and what is public, in one line.
    pub(crate) privacy: String,
    /// The embedder of the provider, in one line, if it is used without being configured.
    pub(crate) embedder: Option<String>,
    pub(crate) new_world: bool,
    pub(crate) stopped: Option<String>,
    /// The command that lets a stopped assistant go on, for people.
    #[serde(skip)]
    pub(crate) clear: String,
}

/// Something that happened in the world: the player's own act, or a perception of the player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum World {
    /// The player did it.
    Own(OwnAct),
    /// The player perceived it.
    Perceived(Sight),
}

/// What the player did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OwnAct {
    pub(crate) at: String,
    pub(crate) by: String,
    pub(crate) act: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) seen: String,
}

impl OwnAct {
    /// What `by` did, and the result.
    pub(crate) fn new(at: Timestamp, by: &str, act: &'static str, seen: &ActView) -> Self {
        let mut own = Self {
            at: at.to_string(),
            by: by.to_owned(),
            act,
            to: None,
            channel: None,
            text: None,
            seen: seen.to_string(),
        };
        if let ActView::Own { source, to, words } = seen {
            own.to.clone_from(to);
            own.text = Some(words.as_claimed().to_owned());
            match source {
                SourceKind::Channel(channel) => own.channel = Some(channel.to_string()),
                SourceKind::Pose => own.seen = posed(by, words.as_claimed()),
                _ => {}
            }
        }
        own
    }

    /// What `by` saw by looking at the thing or person `to`.
    pub(crate) fn look_at(at: Timestamp, by: &str, to: String, seen: String) -> Self {
        Self {
            at: at.to_string(),
            by: by.to_owned(),
            act: "look",
            to: Some(to),
            channel: None,
            text: None,
            seen,
        }
    }
}

/// The name of an act.
pub(crate) fn act_name(act: &Act) -> &'static str {
    match act {
        Act::Say(_) => "say",
        Act::SayTo { .. } => "say_to",
        Act::Whisper { .. } => "whisper",
        Act::Page { .. } => "page",
        Act::Pose(_) => "pose",
        Act::RingBell(_) => "ring_bell",
        Act::Channel { .. } => "channel",
        Act::JoinChannel(_) => "join_channel",
        Act::LeaveChannel(_) => "leave_channel",
        Act::Move { .. } => "move",
        Act::Look => "look",
        _ => "other",
    }
}

/// What the player perceived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Sight {
    /// Who perceived it, in a script with several visitors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observer: Option<String>,
    pub(crate) at: String,
    pub(crate) by: Option<String>,
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<String>,
    pub(crate) text: String,
    pub(crate) delivery: u64,
    /// Whether it happened before this visit: the last visit may have printed it.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) earlier: bool,
    /// Whether an assistant did it, for the terminal.
    #[serde(skip)]
    pub(crate) by_assistant: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl From<&Perception> for Sight {
    fn from(perception: &Perception) -> Self {
        let attested = &perception.attested;
        let channel = match &attested.source {
            SourceKind::Channel(channel) => Some(channel.to_string()),
            _ => None,
        };
        Self {
            observer: None,
            at: attested.at.to_string(),
            by: sender_name(&attested.sender),
            kind: source_name(&attested.source),
            channel,
            text: perception.words.as_claimed().to_owned(),
            delivery: attested.delivery.number,
            earlier: false,
            by_assistant: matches!(attested.sender, Sender::Assistant { .. }),
        }
    }
}

/// The name of a sender, if the server names one other than the perceiver.
fn sender_name(sender: &Sender) -> Option<String> {
    sender.id().map(|_| sender.name().to_owned())
}

/// A message the assistant accepted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Message {
    pub(crate) delivery: u64,
    pub(crate) seq: Option<u64>,
    pub(crate) classification: String,
    pub(crate) rule: String,
    pub(crate) trust: Option<Trust>,
    pub(crate) source: &'static str,
    pub(crate) sender: Option<String>,
    pub(crate) text: String,
}

impl Message {
    /// The message and its classification; `None` for a duplicate.
    pub(crate) fn new(perception: &Perception, accepted: &Accepted) -> Option<Self> {
        let (seq, Classification { verdict, rule }, trust) = match accepted {
            Accepted::Logged {
                seq,
                classification,
                trust,
            } => (Some(seq.0), *classification, Some(*trust)),
            Accepted::Ignored { classification } | Accepted::Dropped { classification } => {
                (None, *classification, None)
            }
            Accepted::Duplicate => return None,
        };
        let attested = &perception.attested;
        Some(Self {
            delivery: attested.delivery.number,
            seq,
            classification: verdict.to_string(),
            rule: rule.to_string(),
            trust,
            source: source_name(&attested.source),
            sender: sender_name(&attested.sender),
            text: perception.words.as_claimed().to_owned(),
        })
    }
}

/// An event of the assistant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct EventLine {
    pub(crate) seq: u64,
    pub(crate) at: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// The event's fields, decoded from the bytes in the log, so that numbers look the same as there.
fn payload(recorded: &Recorded) -> Result<Value, serde_json::Error> {
    let encoded = recorded.event.encode(recorded.at)?;
    serde_json::from_slice(&encoded.payload)
}

impl From<&Recorded> for EventLine {
    fn from(recorded: &Recorded) -> Self {
        Self {
            seq: recorded.seq.0,
            at: recorded.at.to_string(),
            kind: recorded.event.kind().to_owned(),
            data: invariant!(payload(recorded), "an event is written as JSON"),
        }
    }
}
