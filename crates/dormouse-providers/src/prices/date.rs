//! The date of a price.

use std::{fmt, str::FromStr};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// A date such as `2026-11-05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PriceDate(Date);

/// The text is not a date of this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a date such as 2026-11-05")]
pub struct PriceDateError;

impl FromStr for PriceDate {
    type Err = PriceDateError;
    fn from_str(text: &str) -> Result<Self, PriceDateError> {
        let date: Date = text.parse().map_err(|_not_a_day| PriceDateError)?;
        // The library also accepts other forms, such as 20261105 or a date with a time. One form keeps the table
        // searchable.
        if text.len() == 10 && date.to_string() == text {
            Ok(Self(date))
        } else {
            Err(PriceDateError)
        }
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
        f.pad(&self.0.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_date_round_trips_and_invalid_dates_are_rejected() {
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
