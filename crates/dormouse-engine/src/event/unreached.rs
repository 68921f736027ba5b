//! A world that could not be reached.

use dormouse_contracts::CallId;
use serde::{Deserialize, Serialize};

/// The world could not be reached, or could not be asked what became of an act. Nothing was refused: the call stays
/// open, and is made again when its turn goes on. This does not count as an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldFailed {
    /// Which call.
    pub call: CallId,
    /// Why, for people, as far as it is known; at most 500 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the world could be reached, but did not answer this act.
    #[serde(default)]
    pub silent: bool,
}
