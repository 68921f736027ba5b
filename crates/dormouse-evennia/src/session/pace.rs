//! How fast frames are sent.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// The game drops what comes faster than 80 in a second, without telling which.
const MOST: usize = 40;
const WINDOW: Duration = Duration::from_secs(1);

/// The times of the last frames.
#[derive(Debug, Default)]
pub(super) struct Pace {
    sent: VecDeque<Instant>,
}

impl Pace {
    /// Whether a frame may be sent now.
    pub(super) fn allows(&self, now: Instant) -> bool {
        self.next_at().is_none_or(|at| at <= now)
    }

    /// When the next frame may be sent, if not at once.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let oldest = self.sent.front().filter(|_| self.sent.len() >= MOST)?;
        Some(*oldest + WINDOW)
    }

    pub(super) fn note(&mut self, now: Instant) {
        if self.sent.len() >= MOST {
            self.sent.pop_front();
        }
        self.sent.push_back(now);
    }
}
