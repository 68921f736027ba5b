//! Prints a repeated warning a few times, and then only how often it was repeated.

use std::{collections::HashMap, hash::Hash, time::Duration};

use dormouse_contracts::Timestamp;

use crate::grammar::counted;

/// How many lines from one place in the code are printed immediately.
const SHOWN: u32 = 3;
/// After this time the rest is summarised, and the place may print again.
const WINDOW: Duration = Duration::from_secs(60);

/// Recent lines, by the place in the code that wrote them.
#[derive(Debug)]
pub(super) struct Floods<P> {
    places: HashMap<P, Flood>,
}

#[derive(Debug)]
struct Flood {
    since: Timestamp,
    shown: u32,
    held: u64,
    /// The newest line that was held back.
    last: String,
}

impl<P> Default for Floods<P> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
        }
    }
}

impl<P: Eq + Hash> Floods<P> {
    /// The lines to print after `place` has written `line`. These are summaries of what was held back for [`WINDOW`],
    /// and the line itself unless `place` has already printed enough.
    pub(super) fn take(&mut self, place: P, line: &str, now: Timestamp) -> Vec<String> {
        let over = |flood: &Flood| now.since(flood.since) >= WINDOW || now < flood.since;
        let over = self.places.extract_if(|_, flood| over(flood));
        let mut lines = summaries(over.map(|(_, flood)| flood));
        let flood = self.places.entry(place).or_insert_with(|| Flood {
            since: now,
            shown: 0,
            held: 0,
            last: String::new(),
        });
        if flood.shown < SHOWN {
            flood.shown += 1;
            lines.push(line.to_owned());
        } else {
            flood.held += 1;
            line.clone_into(&mut flood.last);
        }
        lines
    }

    /// Summaries of everything that was held back.
    pub(super) fn end(&mut self) -> Vec<String> {
        summaries(self.places.drain().map(|(_, flood)| flood))
    }
}

/// In the order in which the floods began.
fn summaries(floods: impl Iterator<Item = Flood>) -> Vec<String> {
    let mut floods: Vec<_> = floods.filter(|flood| flood.held > 0).collect();
    floods.sort_by_key(|flood| flood.since);
    let printed = |Flood {
                       since, held, last, ..
                   }| {
        let lines = counted(held, "line", "lines");
        format!("{last} (the last of {lines} more like this since {since})")
    };
    floods.into_iter().map(printed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_repeated_warning_is_printed_three_times_and_then_counted() {
        let mut floods = Floods::default();
        let mut printed = Vec::new();
        for number in 1..=12_426 {
            printed.extend(floods.take("full", &format!("WARN full {number}"), at(0)));
        }
        assert_eq!(printed, ["WARN full 1", "WARN full 2", "WARN full 3"]);
        let summary =
            "WARN full 12426 (the last of 12423 lines more like this since 1970-01-01T00:00:00Z)";
        assert_eq!(floods.end(), [summary]);
        assert!(floods.end().is_empty());
    }

    #[test]
    fn held_back_warnings_are_counted_before_the_next_message_of_any_source() {
        let mut floods = Floods::default();
        for number in 0..5 {
            floods.take("full", &number.to_string(), at(0));
        }
        assert_eq!(floods.take("other", "x", at(59)), ["x"]);
        let printed = floods.take("third", "y", at(60));
        assert_eq!(printed.len(), 2, "{printed:?}");
        assert!(
            printed[0].starts_with("4 (the last of 2 lines more"),
            "{printed:?}"
        );
        assert_eq!(floods.take("full", "anew", at(61)), ["anew"]);
    }

    #[test]
    fn warnings_are_printed_again_after_the_clock_went_backwards() {
        let mut floods = Floods::default();
        for number in 0..5 {
            floods.take("full", &number.to_string(), at(1_000));
        }
        assert_eq!(floods.take("full", "later", at(0)).len(), 2);
    }
}
