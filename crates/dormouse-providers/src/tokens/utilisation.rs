//! How full a context window is, as it is shown to people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How full a context window is, on the scale by which it is shown: up to 70, 85 and 95 per cent.
///
/// It decides nothing. The advice to a model to come to an end (60 and 80 per cent) and the summing up of what no longer
/// fits (70 asleep, 80 awake) go by scales of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Utilisation {
    /// Less than 70 per cent.
    Ok,
    /// 70 to 85 per cent, both included.
    Warning,
    /// More than 85, up to 95 per cent.
    Danger,
    /// More than 95 per cent; also of a window that holds nothing.
    Critical,
}

impl Utilisation {
    /// How full a window of so many tokens is with so many in it.
    ///
    /// ```
    /// use dormouse_providers::Utilisation;
    ///
    /// assert_eq!(Utilisation::of(850, 1_000), Utilisation::Warning);
    /// assert_eq!(Utilisation::of(851, 1_000), Utilisation::Danger);
    /// ```
    #[must_use]
    pub fn of(used_tokens: u32, window_tokens: u32) -> Self {
        let used = u64::from(used_tokens) * 100;
        let percent = |percent: u64| u64::from(window_tokens) * percent;
        if window_tokens == 0 || used > percent(95) {
            Self::Critical
        } else if used > percent(85) {
            Self::Danger
        } else if used >= percent(70) {
            Self::Warning
        } else {
            Self::Ok
        }
    }

    /// `ok`, `warning`, `danger` or `critical`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Danger => "danger",
            Self::Critical => "critical",
        }
    }

    /// What it means, in a few words for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "healthy",
            Self::Warning => "approaching the limit",
            Self::Danger => "near the limit",
            Self::Critical => "exceeded",
        }
    }
}

impl fmt::Display for Utilisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bounds_are_exact() {
        use Utilisation::{Critical, Danger, Ok, Warning};
        let levels = [0, 699, 700, 850, 851, 950, 951, 1_000, 5_000]
            .map(|used| Utilisation::of(used, 1_000));
        assert_eq!(
            levels,
            [
                Ok, Ok, Warning, Warning, Danger, Danger, Critical, Critical, Critical
            ]
        );
        assert_eq!(Utilisation::of(0, 0), Critical);
        assert_eq!(Utilisation::of(u32::MAX, u32::MAX), Critical);
    }

    proptest! {
        #[test]
        fn more_tokens_are_never_a_lower_level(a: u32, b: u32, window: u32) {
            let (less, more) = (a.min(b), a.max(b));
            prop_assert!(Utilisation::of(less, window) <= Utilisation::of(more, window));
        }
    }
}
