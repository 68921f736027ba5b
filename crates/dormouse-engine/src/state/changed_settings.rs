//! Settings that operators changed in addition to the configuration.

use std::collections::BTreeMap;

use dormouse_contracts::{Seq, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Event;

/// The changed settings, by name. The engine does not read them: the program that wakes the assistant builds its
/// configuration from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangedSettings(BTreeMap<String, ChangedSetting>);

/// A setting that was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// Its value.
    pub value: Value,
    /// Its value before the first of the changes, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// Who changed it last.
    pub by: String,
    /// The event of that change.
    pub seq: Seq,
    /// When that event was written.
    pub at: Timestamp,
}

impl ChangedSettings {
    /// Every changed setting with its name, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ChangedSetting)> {
        self.0
            .iter()
            .map(|(name, changed)| (name.as_str(), changed))
    }

    /// The setting of this name, if it was changed.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ChangedSetting> {
        self.0.get(name)
    }

    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        let Event::SettingChanged(change) = event else {
            return;
        };
        let earlier = self.0.remove(&change.setting);
        if let Some(value) = change.new.clone() {
            let before = match earlier {
                Some(earlier) => earlier.before,
                None => change.old.clone(),
            };
            let by = change.by.clone();
            let changed = ChangedSetting {
                value,
                before,
                by,
                seq,
                at,
            };
            self.0.insert(change.setting.clone(), changed);
        }
    }
}
