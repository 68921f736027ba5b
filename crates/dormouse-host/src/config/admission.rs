//! `[admission]`: how much one sender may ask of an assistant.

use std::time::Duration;

use dormouse_engine::AdmissionSettings;

use super::{
    Config, WorldKind,
    numbers::{CoolDown, LinesPerMinute, MessagesAtOnce, Seconds, Whole},
    section::section,
};

section! {
    /// `[admission]`: how much one sender may ask of an assistant; see "Admission".
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct AdmissionSection {
        /// Messages of one sender that may wait for an answer at the same time. Further ones are overheard: kept, but not answered; 0: no limit
        waiting: MessagesAtOnce = Whole(AdmissionSettings::default().waiting),
        /// Messages of one sender that are answered before cool_down applies; 0: no limit
        burst: MessagesAtOnce = Whole(AdmissionSettings::default().burst),
        /// Time after which one more message of a sender is answered once burst is used up
        cool_down: CoolDown = Seconds(Duration::from_secs(AdmissionSettings::default().cool_down_seconds.into())),
        /// Lines of one sender that are kept in a minute. Further ones are only counted. A line counts once for each 500 characters; 0: no limit
        lines_per_minute: LinesPerMinute = Whole(AdmissionSettings::default().lines_per_minute),
        /// Said once to a sender whose message is not answered because of these limits; empty: nothing
        refusal_notice: String = AdmissionSettings::default().refusal_notice,
        /// Said once to another assistant when limits.max_exchanges is reached; empty: nothing
        farewell: String = AdmissionSettings::default().farewell,
    }
}

impl Config {
    /// The section as the engine's own configuration. Nobody speaks in the sandbox whom the operator has not let in, and a
    /// visit may read its lines from a file. So limits apply there only if they are set.
    #[must_use]
    pub fn admission(&self) -> AdmissionSettings {
        let section = &self.admission;
        let is_sandbox = self.world.kind == WorldKind::Sandbox;
        let limit = |name: &str, limit: u32| match is_sandbox && !self.given.contains_key(name) {
            true => 0,
            false => limit,
        };
        AdmissionSettings {
            waiting: limit("admission.waiting", section.waiting.0),
            burst: limit("admission.burst", section.burst.0),
            cool_down_seconds: u32::try_from(section.cool_down.0.as_secs()).unwrap_or(u32::MAX),
            lines_per_minute: limit("admission.lines_per_minute", section.lines_per_minute.0),
            refusal_notice: section.refusal_notice.clone(),
            farewell: section.farewell.clone(),
        }
    }
}
