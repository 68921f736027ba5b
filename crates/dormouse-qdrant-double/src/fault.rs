//! How the server fails.

use std::time::Duration;

use tonic::{Code, Status};

/// What the server does wrong from now on. The adapter of `dormouse-vectors` makes one more attempt on a new connection if a
/// server is unavailable, so that one of its calls then uses up two of `calls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QdrantFault {
    /// Nothing.
    None,
    /// So many calls are answered with UNAVAILABLE.
    Unavailable {
        /// How many.
        calls: u32,
    },
    /// So many calls are answered with a request for a pause.
    Overloaded {
        /// How many.
        calls: u32,
        /// How long a pause, to the second.
        pause: Duration,
    },
    /// Calls are taken and never answered.
    Hang,
    /// A collection is made, but only after this long, as by a cluster one of whose nodes is dead.
    SlowCreate {
        /// How long.
        takes: Duration,
    },
    /// It stores so many more points, and dies without an answer when the next one comes, be it in the middle of a
    /// request. The connections break. Nothing listens until it is restarted.
    DieAfter {
        /// How many.
        points: usize,
    },
}

/// What a call is to do because of the fault.
pub(crate) enum Verdict {
    Go,
    Refuse(Status),
    Hang,
}

impl QdrantFault {
    /// What becomes of the next call, which uses up one of those that are to fail.
    pub(crate) fn next_call(&mut self) -> Verdict {
        match self {
            Self::None | Self::DieAfter { .. } | Self::SlowCreate { .. } => Verdict::Go,
            Self::Hang => Verdict::Hang,
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
