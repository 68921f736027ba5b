//! Points in time as they stand in a file: RFC 3339 in UTC, to the second.

use dormouse_contracts::Timestamp;

pub(super) fn written(at: Timestamp) -> String {
    let text = at.to_string();
    // Years that RFC 3339 does not have are written as seconds.
    if read(&text).is_some() {
        text
    } else {
        format!("{}s", at.as_micros().div_euclid(1_000_000))
    }
}

/// Reads what [`written`] wrote.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let seconds = match text.strip_suffix('s') {
        Some(seconds) => seconds.parse().ok()?,
        None => utc(text)?,
    };
    Some(Timestamp::from_micros(i64::checked_mul(
        seconds, 1_000_000,
    )?))
}

/// Seconds since the epoch at `YYYY-MM-DDTHH:MM:SSZ`.
fn utc(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let signs = [
        (4, b'-'),
        (7, b'-'),
        (10, b'T'),
        (13, b':'),
        (16, b':'),
        (19, b'Z'),
    ];
    let fits = bytes.len() == 20 && signs.iter().all(|(at, sign)| bytes.get(*at) == Some(sign));
    if !fits {
        return None;
    }
    let number = |from: usize, to: usize, most: i64| {
        let digits = text.get(from..to)?;
        let number: i64 = digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse().ok())??;
        (number <= most).then_some(number)
    };
    let (year, month, day) = (number(0, 4, 9999)?, number(5, 7, 12)?, number(8, 10, 31)?);
    let (hour, minute, second) = (
        number(11, 13, 23)?,
        number(14, 16, 59)?,
        number(17, 19, 59)?,
    );
    if month == 0 || day == 0 {
        return None;
    }
    // Years are counted from March, so that the leap day is their last.
    let since_march = (month + 9) % 12;
    let year = year - i64::from(month <= 2);
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = days + (since_march * 153 + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2026-11-21",
            "2026-13-21T00:00:00Z",
            "2026-00-21T00:00:00Z",
            "2026-1a-21T00:00:00Z",
            "99999999999999999999s",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_time_is_read_to_the_second_as_it_was_written(seconds in -70_000_000_000_i64..300_000_000_000) {
            let at = Timestamp::from_micros(seconds * 1_000_000 + 7);
            prop_assert_eq!(read(&written(at)), Some(Timestamp::from_micros(seconds * 1_000_000)));
        }
    }
}
