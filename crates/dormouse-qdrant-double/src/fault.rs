//! How the server fails.

use std::time::Duration;

use tonic::{Code, Status};

/// How the server fails from now on.
///
/// If a server is unavailable, the adapter of `dormouse-vectors` tries once more on a new connection. So each of its
/// calls counts twice in [`Unavailable::calls`](Self::Unavailable).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QdrantFault {
    /// The server does not fail.
    None,
    /// The server answers the next calls with UNAVAILABLE.
    Unavailable {
        /// The number of calls.
        calls: u32,
    },
    /// The server answers the next calls with a request for a pause.
    Overloaded {
        /// The number of calls.
        calls: u32,
        /// The requested pause, in whole seconds.
        pause: Duration,
    },
    /// The server accepts calls and never answers them.
    Hang,
    /// The server answers this many more calls, and never answers later ones.
    HangAfter {
        /// The number of calls.
        calls: u32,
    },
    /// The server creates collections slowly, like a cluster with a dead node.
    SlowCreate {
        /// The time that creating one takes.
        takes: Duration,
    },
    /// The server stores some more points. At the next one it stops without an answer, even in the middle of a request,
    /// and closes its connections. Nothing listens until it is restarted.
    DieAfter {
        /// The number of points.
        points: usize,
    },
}

/// What happens to a call.
pub(crate) enum Verdict {
    Go,
    Refuse(Status),
    Hang,
}

impl QdrantFault {
    /// Decides what happens to the next call. A call that fails reduces the number of calls that are left to fail.
    pub(crate) fn next_call(&mut self) -> Verdict {
        match self {
            Self::None | Self::DieAfter { .. } | Self::SlowCreate { .. } => Verdict::Go,
            Self::Hang | Self::HangAfter { calls: 0 } => Verdict::Hang,
            Self::HangAfter { calls } => {
                *calls -= 1;
                Verdict::Go
            }
            Self::Unavailable { calls: 0 } | Self::Overloaded { calls: 0, .. } => {
                *self = Self::None;
                Verdict::Go
            }
            Self::Unavailable { calls } => {
                *calls -= 1;
                Verdict::Refuse(Status::unavailable("the server is restarting"))
            }
            Self::Overloaded { calls, pause } => {
                *calls -= 1;
                Verdict::Refuse(overloaded(*pause))
            }
        }
    }
}

fn overloaded(pause: Duration) -> Status {
    let mut status = Status::new(Code::ResourceExhausted, "too many requests");
    let seconds = pause.as_secs().into();
    status.metadata_mut().insert("retry-after", seconds);
    status
}
