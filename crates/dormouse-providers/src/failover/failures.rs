//! How the models of a list failed, one after the other.

use std::time::Duration;

use dormouse_contracts::{ModelError, ModelErrorKind};

use super::SwitchCause;

/// How the models of a list failed, one after the other from the first on.
#[derive(Debug, Default)]
pub(super) struct Failures {
    causes: Vec<SwitchCause>,
    told: Option<ModelError>,
}

impl Failures {
    /// The next one failed like this.
    pub(super) fn add(&mut self, error: ModelError) {
        self.causes.push(SwitchCause::of(&error));
        let told = self.told.take();
        self.told = Some(match told {
            Some(before) if is_rather_told(before.kind(), error.kind()) => before,
            Some(_) | None => error,
        });
    }

    /// Why the model at this place of the list does not answer, if it was asked.
    pub(super) fn cause(&self, at: usize) -> Option<SwitchCause> {
        self.causes.get(at).copied()
    }

    /// The failure by which a caller can best tell what to do, if there is any.
    pub(super) fn told(&mut self) -> Option<ModelError> {
        self.told.take()
    }
}

/// Is `before` told where the last failure is of the kind `last`?
fn is_rather_told(before: ModelErrorKind, last: ModelErrorKind) -> bool {
    use ModelErrorKind::{Auth, LeftAlone};
    match (before, last) {
        // Who may be asked soonest decides; where no time is known, that can be at any moment.
        (LeftAlone(before), LeftAlone(last)) => soon(before) < soon(last),
        (Auth, _) => false,
        (_, Auth) => true,
        (_, LeftAlone(_)) => true,
        _ => false,
    }
}

fn soon(pause: Option<Duration>) -> Duration {
    pause.unwrap_or_default()
}
