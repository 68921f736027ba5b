//! How a visit comes to its end, and what that is to those who read or wait for it.

use dormouse_engine::Rest;

use super::PlayError;
use crate::{exit::Exit, item::End};

/// How a visit came to its end.
#[derive(Debug)]
pub(super) enum Ending {
    /// The input is at its end, and the assistant came to rest so.
    Rest(Rest),
    /// Somebody left.
    Quit,
    /// A signal came.
    Signal(Exit),
    /// Nobody reads what is printed.
    ReaderGone,
}

impl Ending {
    /// Whether somebody waits for the end right now.
    pub(super) fn is_hasty(&self) -> bool {
        matches!(self, Self::Signal(_) | Self::ReaderGone)
    }

    /// What the last line says.
    pub(super) fn told(&self, waiting: Waiting) -> Option<End> {
        Some(match self {
            Self::Rest(Rest::Settled) => End::Settled,
            Self::Rest(Rest::Stopped(_)) => End::Stopped,
            Self::Rest(Rest::Disabled) => End::Disabled,
            Self::Quit if waiting.stopped => End::Stopped,
            Self::Quit if waiting.count == 0 => End::Settled,
            Self::Quit | Self::Signal(_) => End::Interrupted,
            // Somebody else's end, which is told as an error, or to nobody.
            Self::Rest(_) | Self::ReaderGone => return None,
        })
    }

    /// The exit code, or the error it is.
    pub(super) fn exit(&self) -> Result<Exit, PlayError> {
        match self {
            Self::Rest(Rest::Stopped(_)) => Ok(Exit::Stopped),
            Self::Rest(Rest::Gone) => Err(PlayError::Ended),
            Self::Signal(exit) => Ok(*exit),
            Self::Rest(_) | Self::Quit | Self::ReaderGone => Ok(Exit::Success),
        }
    }
}

/// What waits at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// How many messages.
    pub(super) count: usize,
    /// Whether the emergency stop is on.
    pub(super) stopped: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_early_is_told_as_such_only_if_something_waits() {
        let told = |count, stopped| Ending::Quit.told(Waiting { count, stopped });
        assert_eq!(told(0, false), Some(End::Settled));
        assert_eq!(told(1, false), Some(End::Interrupted));
        assert_eq!(told(1, true), Some(End::Stopped));
        assert!(matches!(Ending::Quit.exit(), Ok(Exit::Success)));
    }
}
