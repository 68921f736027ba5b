//! The times that a text names.
//!
//! Pure functions of the text and of when it was said; days begin at midnight UTC. English only.

mod calendar;
mod words;

use dormouse_contracts::Timestamp;

pub use calendar::NamedTime;
use calendar::{Calendar, Unit};
pub(crate) use calendar::{is_full_month, month_number, month_of};
pub(crate) use words::is_time_word;
use words::{Word, words};

/// How many times in one text are returned.
const MOST: usize = 8;

/// The times that `text` names, in order: years ("2023"), months ("in May", "May 2023"), days ("7 May 2023", "May 7th",
/// "2023-05-07"), and those that depend on when it was said ("yesterday", "last week", "two months ago", "on Monday"),
/// which are returned only with `said_at`. A weekday means the last such day before `said_at`, unless the text says
/// "next".
///
/// "May" and "March" are months only with a capital letter or next to a number.
///
/// ```
/// use dormouse_contracts::Timestamp;
/// use dormouse_retrieval::{NamedTime, named_times};
///
/// let day = |day: i64| Timestamp::from_micros(day * 86_400_000_000);
/// let said_at = Some(day(20));
/// let yesterday = NamedTime::Span { from: day(19), until: day(20) };
/// assert_eq!(named_times("What did Bob say yesterday?", said_at), [yesterday]);
/// assert_eq!(named_times("What happened in June?", None), [NamedTime::Month(6)]);
/// ```
#[must_use]
pub fn named_times(text: &str, said_at: Option<Timestamp>) -> Vec<NamedTime> {
    let words = words(text);
    let mut reader = Reader {
        rest: &words,
        before: None,
        calendar: said_at.and_then(Calendar::at),
    };
    let mut times = Vec::new();
    while !reader.rest.is_empty() && times.len() < MOST {
        if let Some(time) = reader.time() {
            if !times.contains(&time) {
                times.push(time);
            }
        } else {
            reader.skip(1);
        }
    }
    times
}

/// Reads word by word.
struct Reader<'a> {
    rest: &'a [Word],
    /// The word before the rest.
    before: Option<Word>,
    calendar: Option<Calendar>,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<&Word> {
        self.rest.get(ahead)
    }

    fn is(&self, ahead: usize, words: &[&str]) -> bool {
        self.peek(ahead)
            .is_some_and(|word| words.contains(&word.lower.as_str()))
    }

    fn number(&self, ahead: usize) -> Option<i16> {
        self.peek(ahead)?.number
    }

    fn skip(&mut self, words: usize) {
        let (skipped, rest) = self
            .rest
            .split_at_checked(words)
            .unwrap_or((self.rest, &[]));
        self.before = skipped.last().cloned().or(self.before.take());
        self.rest = rest;
    }

    /// Reads the time that the rest begins with, and skips its words.
    fn time(&mut self) -> Option<NamedTime> {
        let (time, words) = self
            .iso_date()
            .or_else(|| self.day_before_month())
            .or_else(|| self.month_first())
            .or_else(|| self.year())
            .or_else(|| self.near_day())
            .or_else(|| self.ago())
            .or_else(|| self.with_number())
            .or_else(|| self.weekday())?;
        self.skip(words);
        Some(time)
    }

    /// "2023-05-07"
    fn iso_date(&self) -> Option<(NamedTime, usize)> {
        let padded = |ahead| self.peek(ahead).is_some_and(|word| word.lower.len() == 2);
        let year = self.year_number(0)?;
        let (month, day) = (self.number(1)?, self.number(2)?);
        let both = padded(1) && padded(2);
        both.then_some(())?;
        Some((calendar::day(year, month, day)?, 3))
    }

    /// "7 May 2023", "the 7th of May"
    fn day_before_month(&self) -> Option<(NamedTime, usize)> {
        let day = self.number(0)?;
        let of = usize::from(self.is(1, &["of"]));
        let month = month_number(&self.peek(1 + of)?.lower)?;
        let (year, words) = match self.year_number(2 + of) {
            Some(year) => (Some(year), 3 + of),
            None => (None, 2 + of),
        };
        Some((self.day_of(year, month, day)?, words))
    }

    /// "May 7th, 2023", "May 2023", "in May"
    fn month_first(&self) -> Option<(NamedTime, usize)> {
        let word = self.peek(0)?;
        let month = month_number(&word.lower)?;
        if let Some(day) = self.number(1).filter(|day| (1..=31).contains(day)) {
            let (year, words) = match self.year_number(2) {
                Some(year) => (Some(year), 3),
                None => (None, 2),
            };
            return Some((self.day_of(year, month, day)?, words));
        }
        let of = usize::from(self.is(1, &["of"]));
        if let Some(year) = self.year_number(1 + of) {
            return Some((calendar::month(year, month)?, 2 + of));
        }
        let is_name = calendar::is_full_month(&word.lower)
            && (word.capital || !matches!(word.lower.as_str(), "may" | "march"));
        let named_by = self.before.as_ref().map(|word| word.lower.as_str());
        match (named_by, &self.calendar) {
            (Some("last" | "past" | "this" | "next"), Some(calendar)) if is_name => {
                let next = usize::from(named_by == Some("next"));
                Some((calendar.month_next_to(month, next == 1)?, 1))
            }
            _ => is_name.then_some((NamedTime::Month(month), 1)),
        }
    }

    /// A day of a month. Without a year it is the last such day up to `said_at`; without `said_at`, the whole month of
    /// any year.
    fn day_of(&self, year: Option<i16>, month: i8, day: i16) -> Option<NamedTime> {
        match (year, &self.calendar) {
            (Some(year), _) => calendar::day(year, i16::from(month), day),
            (None, Some(calendar)) => calendar.last_day_of(month, day),
            (None, None) => Some(NamedTime::Month(month)),
        }
    }

    fn year(&self) -> Option<(NamedTime, usize)> {
        Some((calendar::year(self.year_number(0)?)?, 1))
    }

    fn year_number(&self, ahead: usize) -> Option<i16> {
        let word = self.peek(ahead)?;
        let is_year = word.lower.len() == 4;
        word.number
            .filter(|year| is_year && (1900..2100).contains(year))
    }

    /// "yesterday", "tonight"
    fn near_day(&self) -> Option<(NamedTime, usize)> {
        let calendar = self.calendar.as_ref()?;
        let days = match self.peek(0)?.lower.as_str() {
            "yesterday" => -1,
            "today" | "tonight" => 0,
            "tomorrow" => 1,
            _ => return None,
        };
        Some((calendar.shifted(Unit::Day, days)?, 1))
    }

    /// "two weeks ago"
    fn ago(&self) -> Option<(NamedTime, usize)> {
        let calendar = self.calendar.as_ref()?;
        let of = usize::from(self.is(1, &["of"]));
        let count = words::count(&self.peek(0)?.lower)?;
        let unit = Unit::named(&self.peek(1 + of)?.lower)?;
        if !self.is(2 + of, &["ago", "before", "back"]) {
            return None;
        }
        Some((calendar.shifted(unit, -i64::from(count))?, 3 + of))
    }

    /// "last week", "this year", "next Friday", "last night"
    fn with_number(&self) -> Option<(NamedTime, usize)> {
        let calendar = self.calendar.as_ref()?;
        let by = match self.peek(0)?.lower.as_str() {
            "last" | "previous" | "past" => -1,
            "this" => 0,
            "next" | "coming" => 1,
            _ => return None,
        };
        let named = &self.peek(1)?.lower;
        if let Some(weekday) = calendar::weekday(named) {
            return Some((calendar.weekday_next_to(weekday, by == 1)?, 2));
        }
        let unit = Unit::named(named).filter(|_| !named.ends_with('s'))?;
        Some((calendar.shifted(unit, by)?, 2))
    }

    /// "on Monday"
    fn weekday(&self) -> Option<(NamedTime, usize)> {
        let weekday = calendar::weekday(&self.peek(0)?.lower)?;
        Some((self.calendar.as_ref()?.weekday_next_to(weekday, false)?, 1))
    }
}

#[cfg(test)]
mod tests;
