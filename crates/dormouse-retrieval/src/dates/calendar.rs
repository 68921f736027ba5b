//! Days, weeks, months and years.

use dormouse_contracts::Timestamp;
use jiff::{
    Span, ToSpan,
    civil::{Date, Weekday},
    tz::Offset,
};

/// A stretch of time that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NamedTime {
    /// From the first point to just before the second.
    Span {
        /// The first point of the span.
        from: Timestamp,
        /// The first point after the span.
        until: Timestamp,
    },
    /// This month, 1 to 12, of an unknown year, as in "in May".
    Month(i8),
}

impl NamedTime {
    /// The beginning and end of each occurrence, in microseconds. A span occurs once; a month occurs once in each year
    /// between the two points.
    pub(crate) fn occurrences(self, between: Option<(i64, i64)>) -> Vec<(i64, i64)> {
        let micros = |time| match time {
            Self::Span { from, until } => Some((from.as_micros(), until.as_micros())),
            Self::Month(_) => None,
        };
        match (self, between) {
            (Self::Span { .. }, _) => micros(self).into_iter().collect(),
            (Self::Month(_), None) => Vec::new(),
            (Self::Month(number), Some((first, last))) => years(first, last)
                .filter_map(|year| micros(month(year, number)?))
                .collect(),
        }
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The number of a month, from 1, by its name or its short form.
pub(crate) fn month_number(word: &str) -> Option<i8> {
    let is_short = |name: &str| word.len() == 3 && name.starts_with(word);
    let place = MONTHS.iter().position(|name| {
        *name == word || is_short(name) || (word == "sept" && *name == "september")
    })?;
    i8::try_from(place + 1).ok()
}

/// The years from one time to another, at most the last hundred.
pub(super) fn years(first: i64, last: i64) -> impl Iterator<Item = i16> {
    let year = |micros| {
        let at = jiff::Timestamp::from_microsecond(micros).ok()?;
        Some(Offset::UTC.to_datetime(at).year())
    };
    let last = year(last).unwrap_or(i16::MAX);
    let first = year(first)
        .unwrap_or(i16::MIN)
        .max(last.saturating_sub(100));
    first..=last
}

/// The month of a time in microseconds, from 1.
pub(crate) fn month_of(micros: i64) -> Option<i8> {
    let at = jiff::Timestamp::from_microsecond(micros).ok()?;
    Some(Offset::UTC.to_datetime(at).month())
}

/// Whether a word is the full name of a month.
pub(crate) fn is_full_month(word: &str) -> bool {
    MONTHS.contains(&word)
}

/// The day of the week by its name.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

pub(super) fn day(year: i16, month: i16, day: i16) -> Option<NamedTime> {
    let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    span(date, 1.day())
}

pub(super) fn month(year: i16, month: i8) -> Option<NamedTime> {
    span(Date::new(year, month, 1).ok()?, 1.month())
}

pub(super) fn year(year: i16) -> Option<NamedTime> {
    span(Date::new(year, 1, 1).ok()?, 1.year())
}

fn span(first: Date, length: Span) -> Option<NamedTime> {
    let micros = |date: Date| {
        let instant = Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
        Some(Timestamp::from_micros(instant.as_microsecond()))
    };
    Some(NamedTime::Span {
        from: micros(first)?,
        until: micros(first.checked_add(length).ok()?)?,
    })
}

/// The unit of a relative time, such as "last week" or "two days ago".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Weekend,
    Month,
    Year,
}

impl Unit {
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "day" | "days" | "night" | "morning" | "evening" | "afternoon" => Self::Day,
            "week" | "weeks" => Self::Week,
            "weekend" | "weekends" => Self::Weekend,
            "month" | "months" => Self::Month,
            "year" | "years" => Self::Year,
            _ => return None,
        })
    }
}

/// Resolves relative times, such as "yesterday", from the current day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    today: Date,
}

impl Calendar {
    pub(super) fn at(now: Timestamp) -> Option<Self> {
        let now = jiff::Timestamp::from_microsecond(now.as_micros()).ok()?;
        Some(Self {
            today: Offset::UTC.to_datetime(now).date(),
        })
    }

    /// The day, week, month or year that is `by` units after the present one. Weeks begin on Monday.
    pub(super) fn shifted(self, unit: Unit, by: i64) -> Option<NamedTime> {
        let since_monday = i64::from(self.today.weekday().to_monday_zero_offset());
        let (first, step, length) = match unit {
            Unit::Day => (self.today, 1.day(), 1.day()),
            Unit::Week => (self.plus_days(-since_monday)?, 1.week(), 1.week()),
            Unit::Weekend => (self.plus_days(5 - since_monday)?, 1.week(), 2.days()),
            Unit::Month => (self.today.first_of_month(), 1.month(), 1.month()),
            Unit::Year => (self.today.first_of_year(), 1.year(), 1.year()),
        };
        let shift = step.checked_mul(by).ok()?;
        span(first.checked_add(shift).ok()?, length)
    }

    fn plus_days(self, days: i64) -> Option<Date> {
        self.today.checked_add(days.days()).ok()
    }

    /// The last such weekday before today, or the first after it.
    pub(super) fn weekday_next_to(self, weekday: Weekday, after: bool) -> Option<NamedTime> {
        let nth = if after { 1 } else { -1 };
        span(self.today.nth_weekday(nth, weekday).ok()?, 1.day())
    }

    /// The last such month that is not after this one, or the first after it.
    pub(super) fn month_next_to(self, wanted: i8, after: bool) -> Option<NamedTime> {
        let (this, year) = (self.today.month(), self.today.year());
        let year = match after {
            true if wanted <= this => year.checked_add(1)?,
            false if wanted > this => year.checked_sub(1)?,
            _ => year,
        };
        month(year, wanted)
    }

    /// The latest date with this month and day that is not after today.
    pub(super) fn last_day_of(self, month: i8, wanted: i16) -> Option<NamedTime> {
        let wanted = i8::try_from(wanted).ok()?;
        // The 29th of February comes every four years, or after eight years if the year of a century is no leap year.
        let years = (0..9).filter_map(|back| self.today.year().checked_sub(back));
        let mut dates = years.filter_map(|year| Date::new(year, month, wanted).ok());
        span(dates.find(|date| *date <= self.today)?, 1.day())
    }
}
