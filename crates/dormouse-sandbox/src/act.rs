//! What one can do in the world, and what comes of it.

use std::fmt;

use dormouse_contracts::{ChannelId, EntityId, SourceKind, Words, WordsError, WorldError};

use crate::room_view::RoomView;

/// Something a character does. Who notices, and how, follows from the act and from who stands where:
///
/// | act | notices | as |
/// | --- | --- | --- |
/// | `Say`, `Pose` | everyone else in the room | `Say`, `Pose` |
/// | `SayTo` | the listener; everyone else in the room | `Addressed`; `Say` |
/// | `Whisper` | the listener, in the same room | `Whisper` |
/// | `Page` | the listener, anywhere | `Page` |
/// | `Channel` | everyone else in the world | `Channel` |
/// | `Move` | everyone else in the room left, and in the room entered | `Pose` by the one who moves |
/// | `Look` | nobody | – |
///
/// An assistant also perceives its own act (`Say` for `SayTo`) as `Myself { marked: true }`, and after a
/// `Move` the look of the new room as `CommandOutput` from `Myself { marked: false }`. Residents perceive
/// nothing. Coming and going are `Pose`, not `Emit`, because the server knows whose act it is.
///
/// Names, directions and channels are matched in whatever case; the beginning of one is enough if only one begins so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// Speaks aloud.
    Say(Words),
    /// Speaks aloud, directed by the server at one listener in the room.
    SayTo {
        /// The listener's name.
        to: String,
        /// What is said.
        words: Words,
    },
    /// Speaks to one listener in the same room.
    Whisper {
        /// The listener's name.
        to: String,
        /// What is said.
        words: Words,
    },
    /// Speaks to one listener anywhere.
    Page {
        /// The listener's name.
        to: String,
        /// What is said.
        words: Words,
    },
    /// Does something that is seen: `"smiles"`. The words go without the name; the sender is attested.
    Pose(Words),
    /// Speaks on a channel.
    Channel {
        /// Which channel.
        channel: ChannelId,
        /// What is said.
        words: Words,
    },
    /// Goes somewhere.
    Move {
        /// The word of the exit.
        direction: String,
    },
    /// Looks around. Changes nothing.
    Look,
}

/// An act that happened, and is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acted {
    /// Who perceives it, each with the number of the entry in their feed. An observer can be named twice.
    pub deliveries: Vec<(EntityId, u64)>,
    /// What the one who acted sees of it.
    pub seen: Seen,
}

/// What the one who acted sees. Displays as text for a reader; it is not free of control characters, if the
/// words were not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// One's own words or pose.
    Own {
        /// How they went out.
        source: SourceKind,
        /// The full name of the one they went to, if it was one.
        to: Option<String>,
        /// The words.
        words: Words,
    },
    /// The room one is in now.
    Room(RoomView),
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, to, words) = match self {
            Self::Room(view) => return view.fmt(f),
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
    /// The world refuses; nothing happened.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The world could not be reached; its kind says whether anything may have happened.
    #[error("the act failed")]
    World(#[source] WorldError),
}

/// Why the world refuses an act. Lists name at most 50.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The one who acts never joined.
    #[error("you are not in this world")]
    NotJoined,
    /// Nobody in the room has that name.
    #[error("nobody here is called {name:?}; here: {}", names(here))]
    NobodyHere {
        /// The name that was asked for, cut to 64 characters.
        name: String,
        /// Who is here.
        here: Vec<String>,
    },
    /// Nobody in the world has that name.
    #[error("nobody is called {name:?}; known: {}", names(known))]
    NobodyCalled {
        /// The name that was asked for, cut to 64 characters.
        name: String,
        /// Who there is.
        known: Vec<String>,
    },
    /// Several begin with that.
    #[error("{word:?} could be {}", names(matches))]
    Ambiguous {
        /// The word that was asked for, cut to 64 characters.
        word: String,
        /// What begins with it.
        matches: Vec<String>,
    },
    /// One cannot whisper to, page or address oneself.
    #[error("that is you")]
    Yourself,
    /// The room has no such exit.
    #[error("there is no way {direction:?}; exits: {}", names(exits))]
    NoSuchExit {
        /// The word that was asked for, cut to 64 characters.
        direction: String,
        /// The words there are.
        exits: Vec<String>,
    },
    /// There is no such channel.
    #[error("there is no channel {channel:?}; channels: {}", names(channels))]
    NoSuchChannel {
        /// The channel that was asked for, cut to 64 characters.
        channel: String,
        /// The channels there are.
        channels: Vec<String>,
    },
    /// The text is no message.
    #[error(transparent)]
    Words(#[from] WordsError),
}

fn names(names: &[String]) -> String {
    if names.is_empty() {
        return "nobody".to_owned();
    }
    names.join(", ")
}
