//! `[compaction]`: when earlier turns are shown shorter, and how.

use std::borrow::Cow;

use dormouse_engine::CompactionSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{
    numbers::{PreservedMessages, Whole},
    section::section,
};

/// The least and the greatest share.
const BOUNDS: std::ops::RangeInclusive<f64> = 0.1..=0.8;

section! {
    /// `[compaction]`: when earlier turns are shown shorter, and how.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct CompactionSection {
        /// False: a prompt shows the newest turns that fit, and nothing is summed up
        #[schemars(extend("x-alias" = "compact_enabled"))]
        enabled: bool = CompactionSettings::default().is_on,
        /// Before a message is answered, earlier turns are shortened if the prompt takes this share of the context window
        #[schemars(extend("x-alias" = "compact_emergency_threshold"))]
        emergency_threshold: WindowShare = WindowShare::of(CompactionSettings::default().emergency_percent),
        /// While nobody waits (`dormouse memory compact`), earlier turns are shortened if the prompt takes this share of the context window
        #[schemars(extend("x-alias" = "compact_sleep_threshold"))]
        sleep_threshold: WindowShare = WindowShare::of(CompactionSettings::default().sleep_percent),
        /// Number of newest messages that are not shortened. Before a message is answered, it may be fewer, if they do not fit
        #[schemars(extend("x-alias" = "compact_preserve_window"))]
        preserve_window: PreservedMessages = Whole(20),
        /// True: facts are extracted from what was heard before earlier turns are left out
        extract_facts: bool = CompactionSettings::default().extracts_facts,
        /// What the model is asked to do with turns that are left out
        #[schemars(with = "String", extend(
            "x-alias" = "compact_prompt", "x-unset" = "to sum up what the assistant needs to go on",
            "x-example" = "Sum up these lines in five sentences.",
        ))]
        prompt: Option<String> = None,
    }
}

impl CompactionSection {
    /// The section as the engine's own configuration.
    pub(crate) fn settings(self) -> CompactionSettings {
        CompactionSettings {
            is_on: self.enabled,
            emergency_percent: self.emergency_threshold.percent(),
            sleep_percent: self.sleep_threshold.percent(),
            preserve: self.preserve_window.0 as usize,
            extracts_facts: self.extract_facts,
            prompt: self.prompt.filter(|prompt| !prompt.trim().is_empty()),
        }
    }
}

/// A share of the context window, in whole percent.
#[derive(Clone, Copy, Debug)]
pub struct WindowShare(u32);

impl WindowShare {
    fn of(percent: u32) -> Self {
        Self(percent)
    }

    fn percent(self) -> u32 {
        self.0
    }
}

impl Serialize for WindowShare {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (f64::from(self.0) / 100.0).serialize(serializer)
    }
}

impl JsonSchema for WindowShare {
    fn schema_name() -> Cow<'static, str> {
        "WindowShare".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": BOUNDS.start(), "maximum": BOUNDS.end()})
    }
}

impl<'de> Deserialize<'de> for WindowShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(deserializer)?;
        if !BOUNDS.contains(&share) {
            let (least, most) = (BOUNDS.start(), BOUNDS.end());
            return Err(Error::custom(format_args!("expected {least} to {most}")));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 10 and 80"
        )]
        let percent = (share * 100.0).round() as u32;
        Ok(Self(percent))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn compact_settings_reach_the_engine() {
        let text = "[compaction]\nenabled = false\nemergency_threshold = 0.55\nsleep_threshold = 0.3\n\
                    preserve_window = 7\nextract_facts = false\nprompt = \"Be brief.\"\n";
        let config = parse(None, text).unwrap();
        let expected = CompactionSettings {
            is_on: false,
            emergency_percent: 55,
            sleep_percent: 30,
            preserve: 7,
            extracts_facts: false,
            prompt: Some("Be brief.".to_owned()),
        };
        assert_eq!(config.compaction.settings(), expected);
        let of_the_program = parse(None, "").unwrap().compaction.settings();
        assert_eq!(of_the_program, CompactionSettings::default());
        for wrong in [
            "emergency_threshold = 0.9",
            "sleep_threshold = 0",
            "preserve_window = -1",
        ] {
            assert!(
                parse(None, &format!("[compaction]\n{wrong}\n")).is_err(),
                "{wrong}"
            );
        }
    }
}
