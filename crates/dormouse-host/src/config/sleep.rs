//! `[sleep]`: when an assistant sleeps.

use std::time::Duration;

use dormouse_engine::SleepSettings;
use serde::{Deserialize, Deserializer, de::Error};

use super::{
    numbers::{
        LeastActivity, QuietTime, Seconds, SleepHours, SleepTick, SleepTurns, StartHour, Whole,
    },
    section::section,
};

section! {
    /// `[sleep]`: when it sleeps. While it sleeps, it extracts facts from what it heard, and puts its knowledge in
    /// order.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct SleepSection {
        /// True: it falls asleep by its schedule, and may choose to sleep by itself. `dormouse sleep` works in any case
        #[schemars(extend("x-alias" = "sleep_schedule"))]
        enabled: bool = SleepSettings::default().enabled,
        /// The hour at which it falls asleep, in the time zone
        start_hour: StartHour = Whole(2),
        /// For how many hours it sleeps
        duration_hours: SleepHours = Whole(4),
        /// The time zone of start_hour, by its name in the IANA database
        #[serde(deserialize_with = "time_zone")]
        #[schemars(with = "String", extend("x-example" = "Europe/Berlin"))]
        time_zone: String = SleepSettings::default().time_zone,
        /// Time between two pieces of work in its sleep
        #[schemars(extend("x-alias" = "tick_rate_sleep"))]
        tick_rate: SleepTick = Seconds(Duration::from_secs(60)),
        /// How many tools it must have used since it woke before it may choose to sleep
        least_activity: LeastActivity = Whole(SleepSettings::default().least_activity),
        /// How long it must be quiet after a message woke it, before it goes back to sleep
        quiet: QuietTime = Seconds(Duration::from_secs(600)),
        /// How many turns of its own it has in a night, once the work of the night is done; 0: none
        turns: SleepTurns = Whole(0),
        /// The instruction for a turn of its own in a night, in place of the built-in one
        #[schemars(with = "String", extend(
            "x-unset" = "the built-in words",
            "x-example" = "Put in order what you learnt today."
        ))]
        turn_prompt: Option<String> = None,
    }
}

impl SleepSection {
    /// The section in the form that the engine takes.
    #[must_use]
    pub fn settings(&self) -> SleepSettings {
        let hour = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        SleepSettings {
            enabled: self.enabled,
            start_hour: hour(self.start_hour.0),
            duration_hours: hour(self.duration_hours.0),
            time_zone: self.time_zone.clone(),
            tick_rate_seconds: seconds(self.tick_rate.0),
            least_activity: self.least_activity.0,
            quiet_seconds: seconds(self.quiet.0),
            turns: self.turns.0,
            turn_prompt: self.turn_prompt.clone(),
        }
    }
}

fn time_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    match SleepSettings::knows_time_zone(&name) {
        true => Ok(name),
        false => Err(D::Error::custom(format_args!(
            "{name:?} is not a time zone; expected a name of the IANA database, such as Europe/Berlin"
        ))),
    }
}
