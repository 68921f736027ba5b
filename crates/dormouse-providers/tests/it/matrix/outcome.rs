//! The expected outcome of a fault.

use std::time::Duration;

use dormouse_contracts::{ChatReply, ModelErrorKind};

use super::story;

/// The expected outcome of a fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// The whole reply, as without the fault.
    Reply,
    /// The whole reply, at an unknown cost.
    Uncounted,
    /// A reply that is described by these words and passes this test.
    Other(&'static str, fn(&ChatReply) -> bool),
    /// A failure of this kind.
    Fails(ModelErrorKind),
    /// The configuration is rejected.
    NoModel,
    /// Nothing, until the caller's own deadline passes; then the connection is closed.
    Deadline,
}

impl Outcome {
    /// The outcome, as the table shows it.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Reply => "reply".to_owned(),
            Self::Uncounted => "reply, cost unknown".to_owned(),
            Self::Other(words, _) => format!("reply, {words}"),
            Self::Fails(ModelErrorKind::RateLimited(Some(pause))) => {
                format!("`RateLimited`, {}", span(pause))
            }
            Self::Fails(ModelErrorKind::RateLimited(None)) => "`RateLimited`".to_owned(),
            Self::Fails(kind) => format!("`{kind:?}`"),
            Self::NoModel => "configuration refused".to_owned(),
            Self::Deadline => "the caller's deadline".to_owned(),
        }
    }

    /// Is this the expected reply?
    pub(crate) fn admits(self, reply: &ChatReply) -> bool {
        let reply = ChatReply {
            info: None,
            ..reply.clone()
        };
        match self {
            Self::Reply => reply == story::reply(),
            Self::Uncounted => {
                reply
                    == ChatReply {
                        usage: None,
                        ..story::reply()
                    }
            }
            Self::Other(_, test) => test(&reply),
            _ => false,
        }
    }
}

fn span(pause: Duration) -> String {
    match pause.as_secs() {
        3_600 => "1 h".to_owned(),
        seconds => format!("{seconds} s"),
    }
}
