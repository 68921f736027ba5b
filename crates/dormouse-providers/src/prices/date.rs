//! The day on which a price was read.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A day, as `2026-11-05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PriceDate {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a day is written as 2026-11-05")]
pub struct PriceDateError;

impl FromStr for PriceDate {
    type Err = PriceDateError;
    fn from_str(text: &str) -> Result<Self, PriceDateError> {
        let shape = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let mut parts = text.split('-');
        let (Some(year), Some(month), Some(day), true) =
            (parts.next(), parts.next(), parts.next(), shape)
        else {
            return Err(PriceDateError);
        };
        let (Ok(year), Ok(month), Ok(day)) =
            (year.parse::<u16>(), month.parse::<u8>(), day.parse::<u8>())
        else {
            return Err(PriceDateError);
        };
        if day == 0 || day > days(year, month) {
            return Err(PriceDateError);
        }
        Ok(Self { year, month, day })
    }
}

/// How many days a month has; none if there is no such month.
fn days(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

impl TryFrom<String> for PriceDate {
    type Error = PriceDateError;
    fn try_from(text: String) -> Result<Self, PriceDateError> {
        text.parse()
    }
}

impl From<PriceDate> for String {
    fn from(date: PriceDate) -> Self {
        date.to_string()
    }
}

impl fmt::Display for PriceDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!(
            "{:04}-{:02}-{:02}",
            self.year, self.month, self.day
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_as_it_is_written_and_nothing_else_is_a_day() {
        for day in ["2026-11-05", "2024-02-29", "0001-01-01"] {
            assert_eq!(day.parse::<PriceDate>().unwrap().to_string(), day);
        }
        for text in [
            "",
            "2026-11-5",
            "2026-13-01",
            "2026-02-29",
            "2026-00-10",
            "2026-01-00",
            "+026-01-01",
            "2026/01/01",
            "2026-01-01T",
            "20260101",
        ] {
            assert_eq!(text.parse::<PriceDate>(), Err(PriceDateError), "{text}");
        }
    }

    #[test]
    fn an_earlier_day_is_less() {
        let day = |text: &str| text.parse::<PriceDate>().unwrap();
        assert!(day("2025-12-31") < day("2026-01-01"));
    }
}
