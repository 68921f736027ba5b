//! The acts of characters, and their results.

use std::fmt;

use dormouse_contracts::{ChannelId, EntityId, SourceKind, Words, WordsError, WorldError};

use crate::room_view::RoomView;

/// An act of a character. The act and the positions of the characters determine who notices it:
///
/// | act | notices | as |
/// | --- | --- | --- |
/// | `Say`, `Pose` | everyone else in the room | `Say`, `Pose` |
/// | `SayTo` | the listener; everyone else in the room | `Addressed`; `Say` |
/// | `Whisper` | the listener, in the same room | `Whisper` |
/// | `Page` | the listener, anywhere | `Page` |
/// | `Channel` | everyone else on the channel | `Channel` |
/// | `RingBell` | everyone else, anywhere | `Pose` |
/// | `JoinChannel`, `LeaveChannel` | nobody | – |
/// | `Move` | everyone else in the room left, and in the room entered | `Movement` of the one who moves |
/// | `Look` | nobody | – |
///
/// An assistant also perceives its own act (`Say` for `SayTo`) as `Myself { marked: true }`, and after a `Move` the
/// description of the new room as `CommandOutput` from `Myself { marked: false }`. Non-player characters perceive
/// nothing. The README has a table of what the world attests of each.
///
/// Names, directions and channels match in any case; an unambiguous prefix is sufficient.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// Speaks aloud.
    Say(Words),
    /// Speaks aloud to one listener in the room.
    SayTo {
        /// The listener's name.
        to: String,
        /// The words.
        words: Words,
    },
    /// Speaks to one listener in the same room.
    Whisper {
        /// The listener's name.
        to: String,
        /// The words.
        words: Words,
    },
    /// Speaks to one listener anywhere.
    Page {
        /// The listener's name.
        to: String,
        /// The words.
        words: Words,
    },
    /// Does something visible: `"smiles"`. The words do not include the name; the sender is attested.
    Pose(Words),
    /// Speaks on a channel.
    Channel {
        /// Which channel.
        channel: ChannelId,
        /// The words.
        words: Words,
    },
    /// Rings the bell of the house, which everybody hears, with the reason for it.
    RingBell(Words),
    /// Joins a channel.
    JoinChannel(ChannelId),
    /// Leaves a channel. Nobody can leave the channel `public`.
    LeaveChannel(ChannelId),
    /// Leaves the room.
    Move {
        /// The direction of the exit.
        direction: String,
    },
    /// Looks around. Changes nothing.
    Look,
}

impl Act {
    /// The words of the act, if it has any.
    pub(crate) fn words(&self) -> Option<&Words> {
        match self {
            Self::Say(words) | Self::Pose(words) | Self::RingBell(words) => Some(words),
            Self::SayTo { words, .. }
            | Self::Whisper { words, .. }
            | Self::Page { words, .. }
            | Self::Channel { words, .. } => Some(words),
            Self::JoinChannel(_) | Self::LeaveChannel(_) | Self::Move { .. } | Self::Look => None,
        }
    }
}

/// An act that happened and is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acted {
    /// Who perceives the act, each with the number of the entry in their feed. An observer can occur twice.
    pub deliveries: Vec<(EntityId, u64)>,
    /// What the acting character sees.
    pub seen: ActView,
}

/// An act under a key of the actor's own. It is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActedOnce {
    /// Who perceives the act, as in [`Acted::deliveries`]. The same if it was repeated.
    pub deliveries: Vec<(EntityId, u64)>,
    /// Whether it had happened before this call.
    pub is_repeated: bool,
}

/// What the acting character sees. Displays as text for people; it contains control characters if the words do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActView {
    /// The acting character's own words or pose.
    Own {
        /// How they were sent.
        source: SourceKind,
        /// The full name of the listener, if there is a single one.
        to: Option<String>,
        /// The words.
        words: Words,
    },
    /// The room the acting character is in.
    Room(RoomView),
    /// A channel that the acting character joined or left.
    Channel {
        /// Its name.
        channel: String,
        /// Whether the acting character is on it now.
        is_on: bool,
        /// The names of the others on it, at most 50.
        others: Vec<String>,
    },
}

impl fmt::Display for ActView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, to, words) = match self {
            Self::Room(view) => return view.fmt(f),
            Self::Channel {
                channel,
                is_on: true,
                others,
            } => {
                return write!(
                    f,
                    "You are on the channel {channel}. Others on it: {}",
                    names(others)
                );
            }
            Self::Channel { channel, .. } => {
                return write!(f, "You are not on the channel {channel} any more.");
            }
            Self::Own { source, to, words } => (source, to, words.as_claimed()),
        };
        let to = to.as_deref().unwrap_or("everyone");
        match source {
            SourceKind::Whisper => write!(f, "You whisper to {to}: {words}"),
            SourceKind::Page => write!(f, "You page {to}: {words}"),
            SourceKind::Addressed => write!(f, "You say to {to}: {words}"),
            SourceKind::Channel(channel) => write!(f, "[{channel}] You: {words}"),
            SourceKind::Pose => write!(f, "You: {words}"),
            _ => write!(f, "You say: {words}"),
        }
    }
}

/// Why an act did not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActError {
    /// The world refused; nothing happened.
    #[error(transparent)]
    Refused(#[from] ActRefusal),
    /// The world could not be reached; the error kind says whether the act may have happened.
    #[error("the act failed")]
    World(#[source] WorldError),
}

/// Why the world refuses an act. Lists contain at most 50 names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActRefusal {
    /// The acting character never joined.
    #[error("you are not in this world")]
    NotJoined,
    /// No character in the room has that name.
    #[error("nobody here is called {name:?}; here: {}", names(here))]
    NobodyHere {
        /// The requested name, cut to 64 characters.
        name: String,
        /// The characters in the room.
        here: Vec<String>,
    },
    /// No character in the world has that name.
    #[error("nobody is called {name:?}; known: {}", names(known))]
    NobodyCalled {
        /// The requested name, cut to 64 characters.
        name: String,
        /// The characters in the world.
        known: Vec<String>,
    },
    /// Several names start with this prefix.
    #[error("{word:?} could be {}", names(matches))]
    Ambiguous {
        /// The requested word, cut to 64 characters.
        word: String,
        /// The names that start with it.
        matches: Vec<String>,
    },
    /// A character cannot whisper to, page or address itself.
    #[error("that is you")]
    Yourself,
    /// The room has no such exit.
    #[error("there is no way {direction:?}; exits: {}", names(exits))]
    NoSuchExit {
        /// The requested direction, cut to 64 characters.
        direction: String,
        /// The existing directions.
        exits: Vec<String>,
    },
    /// The channel does not exist.
    #[error("there is no channel {channel:?}; channels: {}", names(channels))]
    NoSuchChannel {
        /// The requested channel, cut to 64 characters.
        channel: String,
        /// The existing channels.
        channels: Vec<String>,
    },
    /// The acting character is not on that channel.
    #[error("you are not on the channel {channel:?}; join it first")]
    NotOnChannel {
        /// Its name.
        channel: String,
    },
    /// Nobody can leave that channel.
    #[error("everybody is on the channel {channel:?}; it cannot be left")]
    EverybodyIsOn {
        /// Its name.
        channel: String,
    },
    /// Somebody who may not perceive the words would perceive them.
    #[error(
        "not done: {} would perceive it, and it is not meant for all of them",
        names(listeners)
    )]
    Overheard {
        /// The names of those who would perceive it, the acting character excluded.
        listeners: Vec<String>,
    },
    /// The text is not a valid message.
    #[error(transparent)]
    Words(#[from] WordsError),
}

fn names(names: &[String]) -> String {
    if names.is_empty() {
        return "nobody".to_owned();
    }
    names.join(", ")
}
