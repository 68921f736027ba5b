//! How much of the corpus is read.

use std::fmt::Write as _;

use super::Family;
use crate::ToolCalling;

/// How many of the calls of a family are read. A case that makes no difference between the two ways of offering tools counts
/// twice, once for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Which family.
    pub family: String,
    /// How many replies it has.
    pub replies: usize,
    /// How many calls were meant in them.
    pub meant: usize,
    /// How many of those came as native calls, as a provider's own interface gives them.
    pub native: usize,
    /// How many of those are read.
    pub read: usize,
    /// How many calls are read that were not meant. None is.
    pub wrong: usize,
}

/// The rates of these families, in their order.
#[must_use]
pub fn rates(families: &[Family]) -> Vec<Rate> {
    families.iter().map(rate).collect()
}

fn rate(family: &Family) -> Rate {
    let mut rate = Rate {
        family: family.family.clone(),
        replies: family.cases.len(),
        meant: 0,
        native: 0,
        read: 0,
        wrong: 0,
    };
    let cases = family.cases.iter();
    for (case, calling) in cases.flat_map(|case| {
        let callings = case.callings().into_iter();
        callings.map(move |calling: ToolCalling| (case, calling))
    }) {
        let reading = case.reading(calling).ok();
        let calls = reading.as_ref().map_or(0, |reading| reading.calls().len());
        let native = reading.map_or(0, |reading| reading.signs.native);
        rate.meant += case.meant;
        rate.native += native.min(case.meant);
        rate.read += calls.min(case.meant);
        rate.wrong += calls.saturating_sub(case.meant);
    }
    rate
}

/// The rates as a table in Markdown, with a last row for all of them.
#[must_use]
pub fn table(rates: &[Rate]) -> String {
    let mut text = String::from(
        "| family | replies | calls meant | of them native | read | wrongly read |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let sum = |part: fn(&Rate) -> usize| rates.iter().map(part).sum();
    let all = Rate {
        family: "all".to_owned(),
        replies: sum(|rate| rate.replies),
        meant: sum(|rate| rate.meant),
        native: sum(|rate| rate.native),
        read: sum(|rate| rate.read),
        wrong: sum(|rate| rate.wrong),
    };
    for rate in rates.iter().chain([&all]) {
        let Rate {
            family,
            replies,
            meant,
            native,
            read,
            wrong,
        } = rate;
        let share = if *meant == 0 {
            "–".to_owned()
        } else {
            format!("{read} ({} %)", (read * 100 + meant / 2) / meant)
        };
        let row = format!("| {family} | {replies} | {meant} | {native} | {share} | {wrong} |");
        // Writing into a string does not fail.
        if writeln!(text, "{row}").is_err() {
            break;
        }
    }
    text
}
