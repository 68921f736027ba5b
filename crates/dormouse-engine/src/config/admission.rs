//! How much one sender may ask of an assistant.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much one sender may ask of an assistant. Each limit of zero is off. A log without it was decided without limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AdmissionSettings {
    /// How many messages of one sender wait for an answer at the same time. Further ones are overheard. Default 8.
    pub waiting: u32,
    /// How many messages of one sender are answered before the cool-down applies. Default 20.
    pub burst: u32,
    /// The cool-down: after a burst, one more message of the sender is answered for each of these seconds. Default 5.
    pub cool_down_seconds: u32,
    /// How many lines of one sender are kept in a minute. Further ones are only counted. A sender who has used more than half
    /// of them gets no answers until they have been quiet for a while. Default 120.
    pub lines_per_minute: u32,
    /// What a sender hears, once, in place of the first answer that these limits refuse. If blank, nothing.
    pub refusal_notice: String,
    /// What another assistant hears, once, in place of the first answer that
    /// [`Limits::max_exchanges`](crate::Limits::max_exchanges) refuses. If blank, nothing.
    pub farewell: String,
}

impl Default for AdmissionSettings {
    fn default() -> Self {
        Self {
            waiting: 8,
            burst: 20,
            cool_down_seconds: 5,
            lines_per_minute: 120,
            refusal_notice: "That is more than I can answer one by one. I am still listening."
                .to_owned(),
            farewell: "Let us leave it at that until somebody joins us.".to_owned(),
        }
    }
}

impl AdmissionSettings {
    /// No limits: everything is admitted.
    #[must_use]
    pub fn off() -> Self {
        Self {
            waiting: 0,
            burst: 0,
            cool_down_seconds: 0,
            lines_per_minute: 0,
            refusal_notice: String::new(),
            farewell: String::new(),
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        *self == Self::off()
    }

    /// The rate of answers, if it is limited.
    pub(crate) fn answers(&self) -> Option<Rate> {
        let each = Duration::from_secs(self.cool_down_seconds.into());
        (self.burst > 0 && !each.is_zero()).then_some(Rate {
            burst: self.burst,
            each,
        })
    }

    /// The rate of lines, if it is limited.
    pub(crate) fn lines(&self) -> Option<Rate> {
        let each = Duration::from_secs(60).checked_div(self.lines_per_minute)?;
        Some(Rate {
            burst: self.lines_per_minute,
            each,
        })
    }
}

/// A rate: so many at once, and one more for each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) burst: u32,
    pub(crate) each: Duration,
}
