//! The text that replaces forgotten words.

use crate::perception::Words;

/// The text that replaces words that were forgotten on an operator's command, in a log and in everything derived from
/// it.
///
/// A message that consists only of this text is not remembered either; nothing of value is lost by that.
pub const FORGOTTEN: &str = "[forgotten]";

impl Words {
    /// Whether these words were forgotten.
    #[must_use]
    pub fn is_forgotten(&self) -> bool {
        self.as_claimed() == FORGOTTEN
    }
}
