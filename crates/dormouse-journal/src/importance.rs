//! How important an entry is: the documented formula, at once and without a model.
//!
//! The points of an entry start at 5. Each part of the formula adds to them:
//!
//! | part | points |
//! | --- | --- |
//! | source: direct, observation, inference, environmental | +2, +1, 0, −1 |
//! | each [high keyword](HIGH_KEYWORDS) that occurs, at most +4 together | +2 |
//! | each [low keyword](LOW_KEYWORDS) that occurs | −1 |
//! | more than 200 characters | +1 |
//! | an exclamation or question mark | +1 |
//!
//! The importance is the number from 1 to 10 that is nearest to the points. In real talk it is nearly always 7 or more.
//! So there is a second scale: the [rank](ImportanceScale::Calibrated) of the points within the assistant's own
//! history.

mod history;
mod scoring;

use std::collections::HashSet;

use dormouse_retrieval::words;
use serde::{Deserialize, Serialize};

use crate::entry::{Importance, SourceType};
pub use history::ImportanceHistory;
pub use scoring::{
    EntryScore, ReadScores, ScoringPolicy, pending_scores, read_scores, scoring_request,
};

/// The documented words of important entries.
pub const HIGH_KEYWORDS: [&str; 19] = [
    "player",
    "conflict",
    "discovery",
    "secret",
    "revealed",
    "attack",
    "danger",
    "important",
    "urgent",
    "critical",
    "death",
    "birth",
    "marriage",
    "betrayal",
    "alliance",
    "war",
    "peace",
    "treasure",
    "quest",
];
/// The documented words of routine entries.
pub const LOW_KEYWORDS: [&str; 5] = ["routine", "walked", "moved", "entered", "ordinary"];

/// The points of an entry before its parts are counted.
const BASE: i64 = 5;
const HIGH: i64 = 2;
const MOST_HIGH: i64 = 4;
/// Entries with more characters than this are worth one point more.
const LONG: usize = 200;

/// How a keyword is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeywordMatching {
    /// As a whole word in any case, or its plural.
    #[default]
    WholeWords,
    /// Anywhere in the text, as in the reference documents: "war" is then found in "toward".
    Substring,
}

/// How points become an importance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceScale {
    /// The points, limited to 1 to 10: the documented formula.
    #[default]
    Formula,
    /// The rank of the points among those of the assistant's earlier entries: the lowest tenth has importance 1, the
    /// highest tenth 10, as far as their points differ. Before there are [`ImportanceHistory::LEAST`] entries, the
    /// formula applies.
    Calibrated,
}

/// The formula, with its tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportanceRule {
    /// Words of important entries: [`HIGH_KEYWORDS`].
    pub high: Vec<String>,
    /// Words of routine entries: [`LOW_KEYWORDS`].
    pub low: Vec<String>,
    /// How they are looked for.
    pub matching: KeywordMatching,
    /// How points become an importance.
    pub scale: ImportanceScale,
}

impl Default for ImportanceRule {
    fn default() -> Self {
        let words = |table: &[&str]| table.iter().map(|&word| word.to_owned()).collect();
        Self {
            high: words(&HIGH_KEYWORDS),
            low: words(&LOW_KEYWORDS),
            matching: KeywordMatching::default(),
            scale: ImportanceScale::default(),
        }
    }
}

impl ImportanceRule {
    /// The points of an entry, before they are limited to 1 to 10. With the documented tables they are −1 to 13.
    #[must_use]
    pub fn points(&self, content: &str, source_type: SourceType) -> i8 {
        let source = match source_type {
            SourceType::Direct => 2,
            SourceType::Observation => 1,
            SourceType::Inference => 0,
            SourceType::Environmental => -1,
        };
        let text = SearchedText::of(content, self.matching);
        let high = (text.count(&self.high) * HIGH).min(MOST_HIGH);
        let is_long = i64::from(content.chars().count() > LONG);
        let is_lively = i64::from(content.contains(['!', '?']));
        let points = BASE + source + high - text.count(&self.low) + is_long + is_lively;
        i8::try_from(points).unwrap_or(i8::MIN)
    }

    /// The importance of an entry with this number of points, given the history before it.
    #[must_use]
    pub fn importance(&self, points: i8, history: &ImportanceHistory) -> Importance {
        let by_rank = match self.scale {
            ImportanceScale::Formula => None,
            ImportanceScale::Calibrated => history.importance(points),
        };
        by_rank.unwrap_or(Importance::clamped(points.into()))
    }
}

/// A text in which keywords are looked for.
enum SearchedText {
    Words(HashSet<String>),
    Whole(String),
}

impl SearchedText {
    fn of(content: &str, matching: KeywordMatching) -> Self {
        match matching {
            KeywordMatching::WholeWords => Self::Words(words(content).into_iter().collect()),
            KeywordMatching::Substring => Self::Whole(content.to_lowercase()),
        }
    }

    /// How many of these keywords occur, each counted once.
    fn count(&self, keywords: &[String]) -> i64 {
        let found = keywords.iter().filter(|keyword| self.has(keyword)).count();
        i64::try_from(found).unwrap_or(i64::MAX / HIGH)
    }

    fn has(&self, keyword: &str) -> bool {
        let keyword = keyword.to_lowercase();
        match self {
            Self::Words(words) => words.contains(&keyword) || words.contains(&plural(&keyword)),
            Self::Whole(text) => !keyword.is_empty() && text.contains(&keyword),
        }
    }
}

/// The regular English plural.
fn plural(word: &str) -> String {
    let before_y = word.strip_suffix('y').filter(|stem| {
        let vowels = ['a', 'e', 'i', 'o', 'u'];
        !stem.is_empty() && !stem.ends_with(vowels)
    });
    match before_y {
        Some(stem) => format!("{stem}ies"),
        None if ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| word.ends_with(end)) =>
        {
            format!("{word}es")
        }
        None => format!("{word}s"),
    }
}

#[cfg(test)]
mod tests;
