//! How a visit ends: the last line, and the exit code.

use dormouse_engine::{Activity, Pause, Rest};
use dormouse_host::EndedError;

use super::{error::PlayError, waiting::Waiting};
use crate::{
    exit::Exit,
    item::{End, EndLine, Item, PauseLine},
};

/// How a visit ended.
#[derive(Debug)]
pub(super) enum VisitEnd {
    /// The input ended, and the assistant came to rest like this.
    Rest(Rest),
    /// The player left.
    Quit,
    /// A signal arrived.
    Signal(Exit),
    /// Nobody reads what is printed.
    ReaderGone,
}

impl VisitEnd {
    /// Whether somebody is waiting for the program to end.
    pub(super) fn is_hasty(&self) -> bool {
        matches!(self, Self::Signal(_) | Self::ReaderGone)
    }

    /// The last line. `retry` is the command that ends a pause, `clear` the one that ends an emergency stop.
    pub(super) fn item(&self, waiting: &Waiting, retry: String, clear: String) -> Option<Item> {
        let pause = self.pause(waiting);
        Some(Item::End(EndLine {
            reason: self.reason(waiting)?,
            waiting: waiting.count,
            cause: waiting.cause.clone(),
            open: waiting.open.clone(),
            pause: pause.map(|pause| PauseLine::new(pause, retry)),
            clear,
        }))
    }

    fn reason(&self, waiting: &Waiting) -> Option<End> {
        Some(match self {
            Self::Rest(Rest::Settled) => End::Settled,
            Self::Rest(Rest::Stopped(_)) => End::Stopped,
            Self::Rest(Rest::Disabled) => End::Disabled,
            Self::Rest(Rest::Paused(_)) => End::Paused,
            Self::Rest(Rest::Waiting) => End::Waiting,
            Self::Rest(Rest::OverBudget(_)) => End::OverBudget,
            Self::Quit => waiting.left(),
            Self::Signal(_) => End::Interrupted,
            // Other ends are reported as an error, or have no reader.
            Self::Rest(_) | Self::ReaderGone => return None,
        })
    }

    /// The pause that messages wait for.
    fn pause<'a>(&'a self, waiting: &'a Waiting) -> Option<&'a Pause> {
        match (self, &waiting.activity) {
            (Self::Rest(Rest::Paused(pause)), _) => Some(pause),
            (Self::Quit | Self::Signal(_), Activity::Paused(pause)) if waiting.count > 0 => {
                Some(pause)
            }
            _ => None,
        }
    }

    /// The exit code of a visit, or the error that ended it. `is_misread` says whether a line was not valid.
    pub(super) fn exit_of(&self, is_misread: bool) -> Result<Exit, PlayError> {
        Ok(match self.exit()? {
            Exit::Success if is_misread => Exit::Usage,
            exit => exit,
        })
    }

    fn exit(&self) -> Result<Exit, PlayError> {
        match self {
            Self::Rest(Rest::Stopped(_)) => Ok(Exit::Stopped),
            Self::Rest(Rest::Gone) => Err(EndedError::Asked.into()),
            Self::Signal(exit) => Ok(*exit),
            Self::Rest(_) | Self::Quit | Self::ReaderGone => Ok(Exit::Success),
        }
    }
}

impl Waiting {
    /// The reason in the last line if the player leaves.
    fn left(&self) -> End {
        match &self.activity {
            Activity::Stopped(_) => End::Stopped,
            _ if self.count == 0 => End::Settled,
            Activity::Paused(_) => End::Paused,
            Activity::OverBudget { .. } => End::OverBudget,
            Activity::Disabled => End::Disabled,
            _ => End::Interrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_engine::StopCause;

    use super::*;

    #[test]
    fn leaving_early_prints_what_the_messages_wait_for() {
        let reason = |count, activity| {
            VisitEnd::Quit.reason(&Waiting {
                count,
                activity,
                cause: None,
                open: Vec::new(),
            })
        };
        let stopped = || Activity::Stopped(StopCause::Credentials);
        for (count, activity, end) in [
            (0, Activity::Idle, End::Settled),
            (1, Activity::Thinking, End::Interrupted),
            (0, stopped(), End::Stopped),
            (1, stopped(), End::Stopped),
            (0, Activity::Disabled, End::Settled),
            (1, Activity::Disabled, End::Disabled),
        ] {
            assert_eq!(reason(count, activity), Some(end));
        }
        assert!(matches!(VisitEnd::Quit.exit(), Ok(Exit::Success)));
    }
}
