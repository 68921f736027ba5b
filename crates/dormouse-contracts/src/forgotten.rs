//! What stands in place of words that were forgotten.

use crate::perception::Words;

/// What stands in a log, and in what follows from it, in place of words that were forgotten on an operator's command.
///
/// A message that is exactly this is not remembered either: nothing but the mark is lost.
pub const FORGOTTEN: &str = "[forgotten]";

impl Words {
    /// Whether these words were forgotten.
    #[must_use]
    pub fn is_forgotten(&self) -> bool {
        self.as_claimed() == FORGOTTEN
    }
}
