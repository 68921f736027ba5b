//! The features of a score, and what each counts.

/// One thing that speaks for (or against) a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// BM25 of the unit by itself, as a share of the most the query could reach.
    Turn,
    /// BM25 of the unit with one neighbour on each side, as such a share.
    Window1,
    /// BM25 of the unit with three neighbours on each side, as such a share.
    Window3,
    /// BM25 of the session the unit belongs to, as such a share.
    Session,
    /// 1 if the query names the unit's speaker and nobody else.
    Speaker,
    /// Similarity of the unit's vector to the query's, between the least (0) and the most similar hit (1) given.
    Dense,
}

impl Feature {
    /// All features, in the order in which [`ScoreParts`] tells them.
    pub const ALL: [Self; COUNT] = [
        Self::Turn,
        Self::Window1,
        Self::Window3,
        Self::Session,
        Self::Speaker,
        Self::Dense,
    ];

    /// A short name for tables and logs, in snake case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Window1 => "window_1",
            Self::Window3 => "window_3",
            Self::Session => "session",
            Self::Speaker => "speaker",
            Self::Dense => "dense",
        }
    }
}

pub(crate) const COUNT: usize = 6;

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
    (Feature::Turn, 0.8),
    (Feature::Window1, 1.0),
    (Feature::Window3, 0.6),
    (Feature::Session, 0.4),
    (Feature::Speaker, 0.15),
    (Feature::Dense, 0.5),
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
