//! How many calls of the corpus are parsed.

use std::fmt::Write as _;

use super::CorpusFamily;
use crate::ToolCalling;

/// How many calls in one family (file) of the corpus are parsed. Tools are offered natively or in the prompt; a case
/// that covers both counts twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseRate {
    /// The family.
    pub family: String,
    /// The number of replies.
    pub replies: usize,
    /// The number of intended calls.
    pub meant: usize,
    /// How many of them are native calls.
    pub native: usize,
    /// How many of them are parsed.
    pub read: usize,
    /// How many parsed calls were not intended. A test requires zero.
    pub wrong: usize,
}

/// The rates of these families, in the same order.
#[must_use]
pub fn rates(families: &[CorpusFamily]) -> Vec<ParseRate> {
    families.iter().map(rate).collect()
}

fn rate(family: &CorpusFamily) -> ParseRate {
    let mut rate = ParseRate {
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

/// The rates as a Markdown table, with a last row for the totals.
#[must_use]
pub fn table(rates: &[ParseRate]) -> String {
    let mut text = String::from(
        "| family | replies | intended calls | native | parsed | wrongly parsed |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let sum = |part: fn(&ParseRate) -> usize| rates.iter().map(part).sum();
    let all = ParseRate {
        family: "all".to_owned(),
        replies: sum(|rate| rate.replies),
        meant: sum(|rate| rate.meant),
        native: sum(|rate| rate.native),
        read: sum(|rate| rate.read),
        wrong: sum(|rate| rate.wrong),
    };
    for rate in rates.iter().chain([&all]) {
        let ParseRate {
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
