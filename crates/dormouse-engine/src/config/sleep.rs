//! When an assistant sleeps.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use jiff::{ToSpan, Zoned, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// The longest sleep in hours, whether by schedule or otherwise.
pub const LONGEST_SLEEP_HOURS: u8 = 23;

/// When an assistant sleeps. If a log has no settings of sleep, its assistant has no sleep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SleepSettings {
    /// Whether it falls asleep by its schedule, and may choose to sleep by itself. Default: false.
    pub enabled: bool,
    /// The hour at which it falls asleep, 0 to 23, by the clocks of `time_zone`. Default 2.
    pub start_hour: u8,
    /// For how many hours it sleeps, 1 to [`LONGEST_SLEEP_HOURS`]; elapsed hours, even if clocks change meanwhile.
    /// Default 4.
    pub duration_hours: u8,
    /// The name of a time zone of the IANA database, such as `Europe/Berlin`. Default: `UTC`.
    pub time_zone: String,
    /// The time between two pieces of work in its sleep, in seconds, 1 to 3,600. Default 60.
    pub tick_rate_seconds: u32,
    /// How many tools it must have used since it woke before it may choose to sleep. Default 3.
    pub least_activity: u32,
    /// A message wakes it. It falls asleep again once nothing has needed a turn for this many seconds.
    /// Default 600.
    pub quiet_seconds: u32,
    /// How many turns it has in a night once the work of the night is done, 0 to 24. Default 0: it has none.
    #[serde(skip_serializing_if = "crate::event::is_zero")]
    pub turns: u32,
    /// The instruction for such a turn, in place of the built-in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_prompt: Option<String>,
}

impl Default for SleepSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            start_hour: 2,
            duration_hours: 4,
            time_zone: "UTC".to_owned(),
            tick_rate_seconds: 60,
            least_activity: 3,
            quiet_seconds: 600,
            turns: 0,
            turn_prompt: None,
        }
    }
}

/// A night of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepWindow {
    /// When it begins.
    pub from: Timestamp,
    /// When it is over.
    pub until: Timestamp,
}

impl SleepWindow {
    /// Whether a moment is in it.
    #[must_use]
    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

impl SleepSettings {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the name of the time zone is known.
    #[must_use]
    pub fn knows_time_zone(name: &str) -> bool {
        // Uses the bundled database: the system's database differs between machines, but decisions must be the same
        // everywhere.
        jiff::tz::db().get(name).is_ok()
    }

    /// The time between two pieces of work in its sleep.
    #[must_use]
    pub fn tick_rate(&self) -> Duration {
        Duration::from_secs(self.tick_rate_seconds.clamp(1, 3_600).into())
    }

    /// How long it sleeps if nobody names the end of the sleep.
    #[must_use]
    pub fn duration(&self) -> Duration {
        let hours = self.duration_hours.clamp(1, LONGEST_SLEEP_HOURS);
        Duration::from_secs(u64::from(hours) * 3_600)
    }

    /// The first night of the schedule that is not over at `now`: the night that contains `now`, or the next one.
    /// `None` if there is no schedule.
    ///
    /// A night begins at the hour in the time zone. If clocks skip that hour, it begins right after the gap; if the
    /// hour occurs twice, it begins at the first time.
    #[must_use]
    pub fn window(&self, now: Timestamp) -> Option<SleepWindow> {
        if !self.enabled {
            return None;
        }
        let zone = jiff::tz::db().get(&self.time_zone).ok()?;
        let at = jiff::Timestamp::from_microsecond(now.as_micros()).ok()?;
        let today = at.to_zoned(zone.clone()).date();
        // The night that began yesterday may go on past midnight.
        let days = [-1, 0, 1, 2].into_iter();
        let dates = days.filter_map(|days| today.checked_add(days.days()).ok());
        let mut windows = dates.filter_map(|date| self.begin(date, &zone));
        windows.find(|window| now < window.until)
    }

    fn begin(&self, date: Date, zone: &TimeZone) -> Option<SleepWindow> {
        let hour = i8::try_from(self.start_hour).ok()?;
        let begin: Zoned = date.at(hour, 0, 0, 0).to_zoned(zone.clone()).ok()?;
        let from = Timestamp::from_micros(begin.timestamp().as_microsecond());
        Some(SleepWindow {
            from,
            until: from.plus(self.duration()),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settings(zone: &str, start_hour: u8, duration_hours: u8) -> SleepSettings {
        SleepSettings {
            enabled: true,
            start_hour,
            duration_hours,
            time_zone: zone.to_owned(),
            ..SleepSettings::default()
        }
    }

    fn shown(settings: &SleepSettings, now: &str) -> String {
        let window = settings.window(now.parse().unwrap()).unwrap();
        format!("{} {}", window.from, window.until)
    }

    #[test]
    fn a_night_begins_at_its_hour_also_over_midnight_and_when_clocks_change() {
        for (zone, hour, hours, now, expected) in [
            // Before, at its beginning, in it, at its end.
            (
                "UTC",
                2,
                4,
                "2026-11-21T01:59:59Z",
                "2026-11-21T02:00:00Z 2026-11-21T06:00:00Z",
            ),
            (
                "UTC",
                2,
                4,
                "2026-11-21T02:00:00Z",
                "2026-11-21T02:00:00Z 2026-11-21T06:00:00Z",
            ),
            (
                "UTC",
                2,
                4,
                "2026-11-21T05:59:59Z",
                "2026-11-21T02:00:00Z 2026-11-21T06:00:00Z",
            ),
            (
                "UTC",
                2,
                4,
                "2026-11-21T06:00:00Z",
                "2026-11-22T02:00:00Z 2026-11-22T06:00:00Z",
            ),
            // Over midnight, and over the end of a year.
            (
                "UTC",
                22,
                8,
                "2026-12-31T23:30:00Z",
                "2026-12-31T22:00:00Z 2027-01-01T06:00:00Z",
            ),
            (
                "UTC",
                22,
                8,
                "2027-01-01T05:00:00Z",
                "2026-12-31T22:00:00Z 2027-01-01T06:00:00Z",
            ),
            // Summer and winter in Berlin.
            (
                "Europe/Berlin",
                2,
                4,
                "2026-07-01T12:00:00Z",
                "2026-07-02T00:00:00Z 2026-07-02T04:00:00Z",
            ),
            (
                "Europe/Berlin",
                2,
                4,
                "2026-12-01T12:00:00Z",
                "2026-12-02T01:00:00Z 2026-12-02T05:00:00Z",
            ),
            // Clocks go from 2 to 3: the hour is skipped, and the night begins at 3, which is 1 UTC.
            (
                "Europe/Berlin",
                2,
                4,
                "2026-03-28T12:00:00Z",
                "2026-03-29T01:00:00Z 2026-03-29T05:00:00Z",
            ),
            // Clocks go from 3 to 2: 2 o'clock comes twice, and the night begins at the first.
            (
                "Europe/Berlin",
                2,
                4,
                "2026-10-24T12:00:00Z",
                "2026-10-25T00:00:00Z 2026-10-25T04:00:00Z",
            ),
            (
                "Europe/Berlin",
                2,
                4,
                "2026-10-25T01:30:00Z",
                "2026-10-25T00:00:00Z 2026-10-25T04:00:00Z",
            ),
            // A night in which clocks change lasts as long as all others.
            (
                "Europe/Berlin",
                23,
                8,
                "2026-03-29T00:00:00Z",
                "2026-03-28T22:00:00Z 2026-03-29T06:00:00Z",
            ),
            // Far from Greenwich.
            (
                "Pacific/Auckland",
                2,
                4,
                "2026-06-30T12:00:00Z",
                "2026-06-30T14:00:00Z 2026-06-30T18:00:00Z",
            ),
        ] {
            assert_eq!(
                shown(&settings(zone, hour, hours), now),
                expected,
                "{zone} {hour} {now}"
            );
        }
    }

    #[test]
    fn there_is_no_night_without_a_schedule_or_beyond_the_calendar() {
        assert_eq!(SleepSettings::default().window(Timestamp::EPOCH), None);
        let unknown = settings("Moon/Crater", 2, 4);
        assert_eq!(unknown.window(Timestamp::EPOCH), None);
        assert!(!SleepSettings::knows_time_zone("Moon/Crater"));
        assert!(SleepSettings::knows_time_zone("America/New_York"));
        let end = Timestamp::from_micros(i64::MAX);
        assert_eq!(settings("UTC", 2, 4).window(end), None);
    }

    proptest! {
        #[test]
        fn there_is_always_a_night_within_two_days_that_is_not_over(
            hour in 0_u8..24, hours in 1..=LONGEST_SLEEP_HOURS, minutes in 0_i64..3_000_000,
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]),
        ) {
            let now = Timestamp::from_micros(1_750_000_000_000_000 + minutes * 60_000_000);
            let settings = settings(zone, hour, hours);
            let window = settings.window(now).unwrap();
            prop_assert!(now < window.until);
            prop_assert!(window.from.since(now) <= Duration::from_secs(26 * 3_600));
            prop_assert_eq!(window.until.since(window.from), settings.duration());
            // While it lasts, it is the same night.
            let later = window.until.plus(Duration::ZERO).as_micros() - 1;
            prop_assert_eq!(settings.window(Timestamp::from_micros(later)), Some(window));
        }
    }
}
