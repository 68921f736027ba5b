//! The failures of the models in a list.

use std::time::Duration;

use dormouse_contracts::{ModelError, ModelErrorKind};

use super::SwitchCause;

/// The failures of the models in a list, in order.
#[derive(Debug, Default)]
pub(super) struct Failures {
    causes: Vec<SwitchCause>,
    reported: Option<ModelError>,
}

impl Failures {
    /// Adds the failure of the next model.
    pub(super) fn add(&mut self, error: ModelError) {
        self.causes.push(SwitchCause::of(&error));
        let reported = self.reported.take();
        self.reported = Some(match reported {
            Some(before) if takes_precedence(before.kind(), error.kind()) => before,
            Some(_) | None => error,
        });
    }

    /// Returns why the model at this index failed, if it was called.
    pub(super) fn cause(&self, at: usize) -> Option<SwitchCause> {
        self.causes.get(at).copied()
    }

    /// Takes the failure that helps the caller most to decide what to do.
    pub(super) fn reported(&mut self) -> Option<ModelError> {
        self.reported.take()
    }
}

/// Whether `before` is reported instead of `last`.
fn takes_precedence(before: ModelErrorKind, last: ModelErrorKind) -> bool {
    use ModelErrorKind::{Auth, NotAttempted};
    match (before, last) {
        // The shortest pause wins. A pause of unknown length counts as zero, because it may be over at any moment.
        (NotAttempted(before), NotAttempted(last)) => soon(before) < soon(last),
        (Auth, _) => false,
        (_, Auth) => true,
        (_, NotAttempted(_)) => true,
        _ => false,
    }
}

fn soon(pause: Option<Duration>) -> Duration {
    pause.unwrap_or_default()
}
