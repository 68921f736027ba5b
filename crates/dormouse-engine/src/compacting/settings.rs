//! What the operator decides about showing earlier turns shorter.

use serde::{Deserialize, Serialize};

/// The highest percentage of the context window that can be set as a threshold. Above it, the loop of a turn ends.
pub(crate) const MOST_PERCENT: u32 = 80;
/// The lowest such percentage.
pub(crate) const LEAST_PERCENT: u32 = 10;

/// When earlier turns are shown shorter, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionSettings {
    /// Whether compaction is on. If not, a prompt shows the newest turns that fit, even those that were left out
    /// before.
    pub is_on: bool,
    /// At which share of the context window, in percent, before a message is answered. 10 to 80.
    pub emergency_percent: u32,
    /// At which share, in percent, while nobody waits. 10 to 80.
    pub sleep_percent: u32,
    /// How many of the newest messages stay as they are: what called for a turn and each reply in it. Fewer if a prompt has
    /// no room for them.
    pub preserve: usize,
    /// Whether facts are looked for in what was heard, before turns are left out of a prompt.
    pub extracts_facts: bool,
    /// What the model is asked to do with the turns; the program's own request if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            is_on: true,
            emergency_percent: 80,
            sleep_percent: 70,
            preserve: 20,
            extracts_facts: true,
            prompt: None,
        }
    }
}

impl CompactionSettings {
    /// A log without these settings was decided without them.
    pub(crate) fn of_older_logs() -> Self {
        Self {
            is_on: false,
            ..Self::default()
        }
    }

    pub(crate) fn is_of_older_logs(&self) -> bool {
        *self == Self::of_older_logs()
    }

    /// The percentage that is out of bounds, if one is.
    pub(crate) fn out_of_bounds(&self) -> Option<u32> {
        let percentages = [self.emergency_percent, self.sleep_percent];
        let mut wrong = percentages.into_iter();
        wrong.find(|percent| !(LEAST_PERCENT..=MOST_PERCENT).contains(percent))
    }
}
