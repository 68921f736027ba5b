//! What is set up for a cell.

use crate::double::{Answer, Channel};

/// The address that a user wrote down.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Address {
    /// The host's URL and this behind it.
    Below(&'static str),
    /// This scene, with every URL of the host.
    Literally(&'static str),
    /// The host, by this scheme, which is not its own.
    ByScheme(&'static str),
    /// An address without a server.
    Nobody,
}

/// The authorities that the client trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Those of this machine.
    Machine,
    /// Also the test authority.
    Authority,
}

/// How time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// In real time.
    Real,
    /// At once, from when the server has read the request.
    FromRequest,
    /// At once, from when the reply has begun to speak.
    FromText,
    /// At once, from when the model has stopped.
    FromFinish,
    /// As it does, but from when the server has read the request the caller waits only so many milliseconds.
    Deadline(u64),
}

/// What is set up for a cell.
pub(crate) struct Scene {
    pub(crate) answer: Answer,
    /// Where the host answers; the dialect's own path, and this before it.
    pub(crate) prefix: &'static str,
    pub(crate) address: Address,
    pub(crate) channel: Channel,
    pub(crate) trust: Trust,
    pub(crate) pace: Pace,
}

/// Stands in the head of an answer for the URL of a second host, which must never be asked.
pub(crate) const SECOND_HOST: &str = "http://second.invalid";

impl Scene {
    pub(crate) fn of(answer: Answer) -> Self {
        Self {
            answer,
            prefix: "",
            address: Address::Below(""),
            channel: Channel::Plain,
            trust: Trust::Machine,
            pace: Pace::Real,
        }
    }

    pub(crate) fn at(mut self, address: Address) -> Self {
        self.address = address;
        self
    }

    pub(crate) fn under(mut self, prefix: &'static str) -> Self {
        self.prefix = prefix;
        self
    }

    pub(crate) fn by(mut self, channel: Channel, trust: Trust) -> Self {
        (self.channel, self.trust) = (channel, trust);
        self
    }

    pub(crate) fn pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }
}
