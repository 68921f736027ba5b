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
    /// After how many ticks that had a reason it looks back; 0 for never. Default 0, as in logs without it.
    pub reflection_interval: ReflectionTicks,
    /// After what time since the first of these ticks it looks back at the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflection_after: Option<std::time::Duration>,
    /// What a reflection is asked for, in place of the built-in words.
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
    /// How the journal of an assistant with this key is kept: with its names, by which a conclusion about itself is known.
    #[must_use]
    pub fn journal_settings(&self, key: &AssistantId) -> JournalSettings {
        let names = self.name.iter().map(String::as_str).chain([key.as_str()]);
        JournalSettings {
            names: names.map(str::to_owned).collect(),
            ..self.journal.keeping.clone()
        }
    }
}
