//! How an assistant keeps its journal.

use dormouse_contracts::AssistantId;
use dormouse_journal::{EpisodicScore, EpisodicScoreError, JournalSettings, Recency};
use serde::{Deserialize, Serialize};

use super::Settings;

/// How an assistant keeps its journal. A log without it has the defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalConfig {
    /// Entries, their importance, pruning, and generative reflection.
    pub keeping: JournalSettings,
    /// After how many ticks with a reason it looks back; 0: never. Default 0, as in logs without this setting.
    pub reflection_interval: ReflectionTicks,
    /// How long after the first of these ticks it looks back in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflection_after: Option<std::time::Duration>,
    /// The instruction for a reflection, in place of the built-in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflection_prompt: Option<String>,
    /// How entries are ranked by recency, importance and relevance.
    pub episodic: EpisodicWeights,
}

/// A number of ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReflectionTicks(pub u32);

/// The weights of an episodic search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EpisodicWeights {
    /// How fast an entry fades. Default 30 days.
    pub recency: Recency,
    /// The weights of recency, importance and relevance. Default 1 each.
    pub alphas: [f64; 3],
}

impl Default for EpisodicWeights {
    fn default() -> Self {
        Self {
            recency: Recency::DecayDays(30.0),
            alphas: [1.0; 3],
        }
    }
}

impl EpisodicWeights {
    /// The score that these weights give.
    ///
    /// # Errors
    ///
    /// [`EpisodicScoreError`] if no score can be computed by them.
    pub fn score(&self) -> Result<EpisodicScore, EpisodicScoreError> {
        EpisodicScore::try_new(self.recency, self.alphas)
    }
}

impl JournalConfig {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Settings {
    /// The settings of the journal of an assistant with this key. They include its names, by which conclusions about
    /// itself are recognised.
    #[must_use]
    pub fn journal_settings(&self, key: &AssistantId) -> JournalSettings {
        let names = self.name.iter().map(String::as_str).chain([key.as_str()]);
        JournalSettings {
            names: names.map(str::to_owned).collect(),
            ..self.journal.keeping.clone()
        }
    }
}
