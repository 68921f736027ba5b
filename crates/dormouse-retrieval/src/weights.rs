//! The features of a score, and what each counts.

/// One thing that speaks for (or against) a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// BM25 of the unit by itself, as a share of the most the query could reach.
    Turn,
    /// The same with each word counted by the square of its rarity.
    RareTurn,
    /// Which of the query's words occur in the unit or up to three turns away, each by its rarity and less the further away,
    /// as a share of all.
    Reach,
    /// BM25 of the unit with three neighbours on each side, as a share of the most the query could reach.
    Window,
    /// BM25 of the session the unit belongs to, as such a share.
    Session,
    /// 1 if the query names the unit's speaker and nobody else.
    Speaker,
    /// BM25 of the turn before, as such a share, if that is a question by somebody else: this may be the answer.
    Answer,
    /// 1 if the unit is of a time that the query names, and less just before and after it.
    Date,
    /// How rare the unit's own words are on average, from 0 to 1.
    Informative,
    /// 1 if the query asks when, and the unit tells a time.
    TimeTold,
    /// 1 if the unit speaks of oneself.
    FirstPerson,
    /// Similarity of the unit's vector to the query's, between the least (0) and the most similar hit (1) given.
    Dense,
}

impl Feature {
    /// All features, in the order in which [`ScoreParts`] tells them.
    pub const ALL: [Self; COUNT] = [
        Self::Turn,
        Self::RareTurn,
        Self::Reach,
        Self::Window,
        Self::Session,
        Self::Speaker,
        Self::Answer,
        Self::Date,
        Self::Informative,
        Self::TimeTold,
        Self::FirstPerson,
        Self::Dense,
    ];

    /// A short name for tables and logs, in snake case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::RareTurn => "rare_turn",
            Self::Reach => "reach",
            Self::Window => "window",
            Self::Session => "session",
            Self::Speaker => "speaker",
            Self::Answer => "answer",
            Self::Date => "date",
            Self::Informative => "informative",
            Self::TimeTold => "time_told",
            Self::FirstPerson => "first_person",
            Self::Dense => "dense",
        }
    }
}

pub(crate) const COUNT: usize = 12;

/// What each feature counts in the score. The default is the measured table.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights([f32; COUNT]);

impl Default for Weights {
    fn default() -> Self {
        let mut weights = Self([0.0; COUNT]);
        for (feature, weight) in DEFAULT {
            weights.set(feature, weight);
        }
        weights
    }
}

const DEFAULT: [(Feature, f32); COUNT] = [
    (Feature::Turn, 12.614),
    (Feature::RareTurn, -16.24),
    (Feature::Reach, 9.31),
    (Feature::Window, 2.676),
    (Feature::Session, 16.225),
    (Feature::Speaker, 1.121),
    (Feature::Answer, 4.672),
    (Feature::Date, 7.935),
    (Feature::Informative, 8.455),
    (Feature::TimeTold, 2.779),
    (Feature::FirstPerson, 0.799),
    (Feature::Dense, 6.0),
];

impl Weights {
    /// What `feature` counts.
    #[must_use]
    pub fn weight(&self, feature: Feature) -> f32 {
        self.0.get(feature as usize).copied().unwrap_or(0.0)
    }

    /// The same with another weight for one feature. A number that is not finite counts as zero.
    #[must_use]
    pub fn with(mut self, feature: Feature, weight: f32) -> Self {
        self.set(feature, weight);
        self
    }

    fn set(&mut self, feature: Feature, weight: f32) {
        if let Some(place) = self.0.get_mut(feature as usize) {
            *place = if weight.is_finite() { weight } else { 0.0 };
        }
    }
}

/// What each feature contributed to one score; the contributions add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScoreParts([f32; COUNT]);

impl ScoreParts {
    pub(crate) fn of(values: &FeatureValues, weights: &Weights) -> Self {
        let mut parts = [0.0; COUNT];
        for ((part, value), weight) in parts.iter_mut().zip(values.0).zip(weights.0) {
            *part = value * weight;
        }
        Self(parts)
    }

    /// A plain BM25 score.
    pub(crate) fn plain(score: f32) -> Self {
        let mut values = FeatureValues::default();
        values.set(Feature::Turn, score);
        Self(values.0)
    }

    /// What `feature` contributed: its value times its weight.
    #[must_use]
    pub fn part(&self, feature: Feature) -> f32 {
        self.0.get(feature as usize).copied().unwrap_or(0.0)
    }

    /// The features that contributed anything, and how much, in the order of [`Feature::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Feature, f32)> + '_ {
        Feature::ALL
            .into_iter()
            .zip(self.0)
            .filter(|(_, part)| *part != 0.0)
    }

    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> f32 {
        self.0.iter().sum()
    }
}

/// The features of one unit for one query, before they are weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FeatureValues([f32; COUNT]);

impl FeatureValues {
    pub(crate) fn set(&mut self, feature: Feature, value: f32) {
        if let Some(place) = self.0.get_mut(feature as usize) {
            *place = value;
        }
    }
}
