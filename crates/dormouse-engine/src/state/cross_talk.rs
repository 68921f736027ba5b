//! Counts how long only assistants have talked with each other.

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Sender, SourceKind};
use serde::{Deserialize, Serialize};

use crate::event::{Event, Perceived};

/// The number of messages of other assistants that called for a turn since a person last said something.
///
/// Two assistants that page each other would go on for ever, because each page needs an answer. Only a person's words
/// reset the number to zero: time, a restart or an arrival does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CrossTalk(u32);

impl CrossTalk {
    /// Folds one event in.
    pub(crate) fn apply(&mut self, event: &Event) {
        let Event::Perceived(Perceived {
            perception,
            classification,
            refused,
            ..
        }) = event
        else {
            return;
        };
        // A farewell is not an answer.
        let calls_for_a_turn =
            classification.verdict == MessageVerdict::Trigger && refused.is_none();
        match (&perception.attested.sender, &perception.attested.source) {
            (Sender::Assistant { .. }, _) if calls_for_a_turn => self.0 = self.0.saturating_add(1),
            // An arrival or departure is not speech.
            (_, SourceKind::Movement | SourceKind::CommandOutput) => {}
            (Sender::Entity { .. }, _) => self.0 = 0,
            _ => {}
        }
    }

    /// The number of these messages.
    #[must_use]
    pub fn answered(self) -> u32 {
        self.0
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
    pub(super) fn is_none(&self) -> bool {
        self.0 == 0
    }
}
