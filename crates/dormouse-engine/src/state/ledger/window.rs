//! Spending within a sliding span of time.

use std::{collections::VecDeque, time::Duration};

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use super::Amount;

/// A window keeps at most this many parts, so that a state stays small regardless of the number of calls.
const PARTS: u32 = 60;

/// Spending within a sliding span of time, in sixty parts. A part counts until all of it is older than the span, so the
/// sum is never less than what was spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendingWindow {
    length: Duration,
    /// When each part began, and what was spent in it, oldest first.
    parts: VecDeque<(Timestamp, Amount)>,
}

impl SpendingWindow {
    pub(super) fn of(length: Duration) -> Self {
        Self {
            length,
            parts: VecDeque::new(),
        }
    }

    fn part(&self) -> Duration {
        self.length / PARTS
    }

    /// When a part that began at `began` leaves the window.
    fn end(&self, began: Timestamp) -> Timestamp {
        began.plus(self.part()).plus(self.length)
    }

    fn counts(&self, began: Timestamp, now: Timestamp) -> bool {
        // A part that begins further in the future was recorded before the clock was set back, and would count for
        // years.
        self.end(began) > now && began < now.plus(self.length)
    }

    pub(super) fn add(&mut self, at: Timestamp, amount: Amount) {
        let expired = |window: &Self| {
            let oldest = window.parts.front();
            oldest.is_some_and(|(began, _)| !window.counts(*began, at))
        };
        while expired(self) {
            self.parts.pop_front();
        }
        match self.parts.back_mut() {
            // Also if the clock was set back meanwhile: the amount then counts longer.
            Some((began, sum)) if at < began.plus(self.length / PARTS) => *sum = sum.plus(amount),
            _ => self.parts.push_back((at, amount)),
        }
    }

    /// Takes back what was added at this time.
    pub(super) fn take_back(&mut self, at: Timestamp, amount: Amount) {
        let mut parts = self.parts.iter_mut().rev();
        let part = parts.find(|(began, sum)| *began <= at && sum.tokens >= amount.tokens);
        if let Some((_, sum)) = part {
            *sum = sum.minus(amount);
        }
    }

    /// Whether an amount added at `now` is in the same part as one added at `since`.
    pub(super) fn are_together(&self, since: Timestamp, now: Timestamp) -> bool {
        let part = self.parts.back();
        since <= now
            && part.is_some_and(|(began, _)| *began <= since && now < began.plus(self.part()))
    }

    pub(super) fn sum(&self, now: Timestamp) -> Amount {
        let parts = self.parts.iter();
        let counting = parts.filter(|(began, _)| self.counts(*began, now));
        counting.fold(Amount::default(), |sum, (_, amount)| sum.plus(*amount))
    }

    /// When the next part leaves the window.
    pub(super) fn falls_at(&self, now: Timestamp) -> Option<Timestamp> {
        let counts = |(began, sum): &&(Timestamp, Amount)| {
            *sum != Amount::default() && self.counts(*began, now)
        };
        let parts = self.parts.iter().filter(counts);
        parts.map(|(began, _)| self.end(*began)).min()
    }

    pub(super) fn falls_to(
        &self,
        most: u64,
        now: Timestamp,
        count: impl Fn(Amount) -> u64,
    ) -> Option<Timestamp> {
        let mut left = count(self.sum(now));
        if left <= most {
            return Some(now);
        }
        let counting = self
            .parts
            .iter()
            .filter(|(began, _)| self.counts(*began, now));
        for (began, amount) in counting {
            left = left.saturating_sub(count(*amount));
            if left <= most {
                return Some(self.end(*began));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(seconds))
    }

    fn tokens(tokens: u64) -> Amount {
        Amount {
            tokens,
            cost: dormouse_contracts::Usd::ZERO,
        }
    }

    proptest! {
        #[test]
        fn a_window_never_counts_less_than_was_spent_within_its_length_and_stays_small(
            spent in prop::collection::vec((0_u64..900, 1_u64..1_000), 1..300),
        ) {
            let mut window = SpendingWindow::of(HOUR);
            let mut all = Vec::new();
            let mut now = 0;
            for (pause, amount) in spent {
                now += pause;
                window.add(at(now), tokens(amount));
                all.push((now, amount));
                let within = all.iter().filter(|(then, _)| then + 3_600 > now);
                let exact: u64 = within.map(|(_, amount)| amount).sum();
                let counted = window.sum(at(now)).tokens;
                prop_assert!(counted >= exact);
                // An amount that counts too long does so for less than the length of a part.
                let late = all.iter().filter(|(then, _)| then + 3_660 > now);
                prop_assert!(counted <= late.map(|(_, amount)| amount).sum());
                prop_assert!(window.parts.len() <= 62);
                let free = window.falls_to(0, at(now), |amount| amount.tokens).unwrap();
                prop_assert!(free <= at(now + 3_660));
                prop_assert_eq!(window.sum(free), Amount::default());
                let falls = window.falls_at(at(now)).unwrap();
                let just_before = Timestamp::from_micros(falls.as_micros() - 1);
                prop_assert_eq!(window.sum(just_before).tokens, counted);
                prop_assert!(falls > at(now) && window.sum(falls).tokens < counted);
            }
        }
    }

    #[test]
    fn what_is_taken_back_does_not_count_and_a_clock_set_back_by_years_blocks_nothing() {
        let mut window = SpendingWindow::of(HOUR);
        window.add(at(10), tokens(500));
        window.add(at(20), tokens(70));
        window.take_back(at(10), tokens(500));
        assert_eq!(window.sum(at(30)), tokens(70));

        let later = at(3_600 * 24 * 3_650);
        window.add(later, tokens(9));
        assert_eq!(window.sum(later), tokens(9));
        assert_eq!(window.sum(at(60)), Amount::default());
        window.add(at(60), tokens(3));
        assert_eq!(window.sum(at(61)), tokens(3));
    }
}
