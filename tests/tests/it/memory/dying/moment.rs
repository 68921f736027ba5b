//! When a process is killed.

use std::time::Duration;

use crate::memory::Dice;

/// The most lines of one life.
const MOST_LINES: u64 = 24;
/// About how long a start takes, repairing what the last kill left included.
const START: Duration = Duration::from_millis(60);
/// Within this time from its first line a life is killed, where the moment is drawn from the clock.
const LONGEST: Duration = Duration::from_millis(120);
/// When a life ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    /// When this much time has gone by since it was begun: mostly while it opens and repairs its files.
    Starting(Duration),
    /// After this many lines.
    Printed(u64),
    /// When this much time has gone by since its first line: mostly in the middle of something.
    After(Duration),
}

impl Moment {
    pub(super) fn draw(dice: &Dice) -> Self {
        match dice.below(6) {
            0 => Self::while_starting(dice),
            1..=3 => Self::After(part(dice, LONGEST)),
            _ => Self::Printed(1 + dice.below(MOST_LINES)),
        }
    }

    pub(super) fn while_starting(dice: &Dice) -> Self {
        Self::Starting(part(dice, START))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Starting(_) => "while starting",
            Self::Printed(_) => "after a line",
            Self::After(_) => "at a drawn time",
        }
    }
}

fn part(dice: &Dice, of: Duration) -> Duration {
    of.mul_f64(dice.below(1_000) as f64 / 1_000.0)
}
