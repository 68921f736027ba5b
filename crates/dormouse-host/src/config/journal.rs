//! `[journal]`: what an assistant writes down, how important that is, and when it reflects.

use dormouse_engine::{EpisodicWeights, JournalConfig, ReflectionTicks};
use dormouse_journal::{
    Importance, ImportanceRule, ImportanceScale, JournalSettings, KeywordMatching, NearRule,
    PruningRule, Recency, ReflectionPolicy, ScoringPolicy,
};

use super::{
    numbers::{
        DecayDays, EpisodicWeight, ImportanceNumber, JournalDays, JournalEntries, JournalHours,
        JournalShare, ReflectionCount, ReflectionThreshold, ScoredEntries, UpTo, Whole,
    },
    section::section,
    words,
};

section! {
    /// `[journal]`: what it writes down, how important that is, and when it reflects.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct JournalSection {
        /// Maximum number of entries; beyond it the oldest are pruned. `dormouse journal restore` puts one back
        #[schemars(extend("x-alias" = "journal.max_entries"))]
        max_entries: JournalEntries = Whole(100),
        /// How the words that make an entry important are matched: as whole words, or as any part of the text
        #[schemars(schema_with = "words::keyword_matching")]
        keywords: KeywordMatching = KeywordMatching::default(),
        /// How points become an importance. formula: limited to 1 to 10; calibrated: by the rank among its earlier entries
        #[schemars(schema_with = "words::importance_scale")]
        importance_scale: ImportanceScale = ImportanceScale::default(),
        /// An entry counts as a repetition if it shares at least this part of its words with a recent entry of the same source; 1: it must have the same words
        near_similarity: JournalShare = UpTo(NearRule::default().similarity),
        /// An entry does not count as a repetition of an entry that is more than this many hours older
        near_hours: JournalHours = Whole(24),
        /// Days after which recency has fallen to 0.37
        decay_days: DecayDays = Whole(30),
        /// Weight of recency in `dormouse journal search --episodic`. If all three weights are 0, they count the same
        alpha_recency: EpisodicWeight = UpTo(1.0),
        /// Weight of importance in `dormouse journal search --episodic`
        alpha_importance: EpisodicWeight = UpTo(1.0),
        /// Weight of relevance in `dormouse journal search --episodic`
        alpha_relevance: EpisodicWeight = UpTo(1.0),
        /// Entries that a model scores in one request
        scored_per_tick: ScoredEntries = Whole(3),
        /// Highest importance of an entry that may be pruned
        prune_importance: ImportanceNumber = Whole(3),
        /// Entries of this age in days or younger are not pruned
        prune_days: JournalDays = Whole(30),
        /// Maximum number of entries that one pruning removes
        prune_limit: ScoredEntries = Whole(10),
        /// Cumulative importance at which it draws conclusions from its entries
        #[schemars(extend("x-alias" = "reflection_state.threshold"))]
        reflection_threshold: ReflectionThreshold = Whole(ReflectionPolicy::default().threshold),
        /// Ticks after which it looks back over its journal in a turn of its own; 0: never
        #[schemars(extend("x-alias" = "reflection_interval"))]
        reflection_interval: ReflectionCount = Whole(120),
        /// It looks back in any case this many hours after its first tick since it last looked back; 0: only reflection_interval counts
        reflection_after: JournalHours = Whole(0),
        /// The instruction for a turn in which it looks back, in place of the built-in one
        #[schemars(with = "String", extend(
            "x-alias" = "reflection_prompt_template",
            "x-unset" = "the built-in words",
            "x-example" = "Look back over your journal."
        ))]
        reflection_prompt: Option<String> = None,
    }
}

impl JournalSection {
    /// The section in the form that the engine takes.
    #[must_use]
    pub fn settings(&self) -> JournalConfig {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let importance = f64::from(self.prune_importance.0);
        let defaults = JournalSettings::default();
        let episodic = EpisodicWeights {
            recency: Recency::DecayDays(self.decay_days.0.into()),
            alphas: [
                self.alpha_recency.0.into(),
                self.alpha_importance.0.into(),
                self.alpha_relevance.0.into(),
            ],
        };
        let episodic = match episodic.score() {
            Ok(_) => episodic,
            Err(_) => EpisodicWeights {
                alphas: EpisodicWeights::default().alphas,
                ..episodic
            },
        };
        JournalConfig {
            keeping: JournalSettings {
                max_entries: size(self.max_entries.0),
                importance: ImportanceRule {
                    matching: self.keywords,
                    scale: self.importance_scale,
                    ..defaults.importance
                },
                scoring: ScoringPolicy {
                    per_tick: size(self.scored_per_tick.0),
                    ..defaults.scoring
                },
                near: NearRule {
                    similarity: self.near_similarity.0,
                    within: std::time::Duration::from_secs(u64::from(self.near_hours.0) * 3_600),
                },
                pruning: PruningRule {
                    importance: Importance::try_new(importance)
                        .unwrap_or(defaults.pruning.importance),
                    age_days: self.prune_days.0,
                    limit: size(self.prune_limit.0),
                    ..defaults.pruning
                },
                reflection: ReflectionPolicy {
                    threshold: self.reflection_threshold.0,
                    ..defaults.reflection
                },
                names: Vec::new(),
            },
            reflection_interval: ReflectionTicks(self.reflection_interval.0),
            reflection_after: match self.reflection_after.0 {
                0 => None,
                hours => Some(std::time::Duration::from_secs(u64::from(hours) * 3_600)),
            },
            reflection_prompt: self.reflection_prompt.clone(),
            episodic,
        }
    }
}
