//! The features of a score, and their weights.

/// A property of a unit that makes it a better match. Its value is between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// The share of the query's words that occur in the unit or up to three turns away. A rare word counts more, and a
    /// word further away counts less.
    Reach,
    /// How often the query's words occur in the unit and in three neighbours on each side. A rare word counts more, and
    /// each further occurrence of a word adds less.
    Window,
    /// The BM25 score of the unit's session, as a share of the highest possible one.
    Session,
    /// The BM25 score of the unit alone, as a share of the highest possible one. Its default weight is zero, because
    /// [`Reach`](Self::Reach) contains this information.
    Turn,
    /// 1 if the query names the unit's speaker and no other.
    Speaker,
    /// 1 if the query speaks of "I" or "you", names no speaker, and means the unit's speaker: the one who asks, or the one who
    /// is asked.
    Person,
    /// The [`Turn`](Self::Turn) feature of the turn before, if that turn is a question by another speaker. The unit may
    /// be the answer.
    Answer,
    /// 1 if the unit is within a time that the query names, a half if it is only in the same month as a named day or
    /// week.
    Date,
    /// The mean rarity of the unit's own words.
    Informative,
    /// 1 if the query asks for a time, and the unit names one.
    TimeTold,
    /// 1 if the unit is in the first person.
    FirstPerson,
    /// The share of the speakers named in the query who speak in the unit's session.
    Participants,
    /// The mean cosine similarity to the query of the previous turn, the unit and the next turn. The unit counts twice.
    /// A negative similarity counts as 0. A turn without a vector score gets the lowest score that was given.
    Dense,
}

impl Feature {
    /// All features, in the order of [`ScoreParts`].
    pub const ALL: [Self; COUNT] = [
        Self::Reach,
        Self::Window,
        Self::Session,
        Self::Turn,
        Self::Speaker,
        Self::Person,
        Self::Answer,
        Self::Date,
        Self::Informative,
        Self::TimeTold,
        Self::FirstPerson,
        Self::Participants,
        Self::Dense,
    ];

    /// A short name for tables and logs, in snake case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reach => "reach",
            Self::Window => "window",
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Speaker => "speaker",
            Self::Person => "person",
            Self::Answer => "answer",
            Self::Date => "date",
            Self::Informative => "informative",
            Self::TimeTold => "time_told",
            Self::FirstPerson => "first_person",
            Self::Participants => "participants",
            Self::Dense => "dense",
        }
    }
}

pub(crate) const COUNT: usize = 13;

/// The weight of each feature. The score is the weighted mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights([f32; COUNT]);

/// The weights measured without vectors.
const LEXICAL: [(Feature, f32); COUNT] = [
    (Feature::Reach, 6.4),
    (Feature::Window, 4.8),
    (Feature::Session, 4.2),
    (Feature::Turn, 0.0),
    (Feature::Speaker, 1.1),
    (Feature::Person, 3.0),
    (Feature::Answer, 5.4),
    (Feature::Date, 4.5),
    (Feature::Informative, 7.9),
    (Feature::TimeTold, 2.7),
    (Feature::FirstPerson, 0.6),
    (Feature::Participants, 4.0),
    (Feature::Dense, 0.0),
];

/// The weights measured with vectors of a small sentence encoder.
const HYBRID: [(Feature, f32); COUNT] = [
    (Feature::Reach, 4.8),
    (Feature::Window, 4.1),
    (Feature::Session, 3.8),
    (Feature::Turn, 0.0),
    (Feature::Speaker, 1.1),
    (Feature::Person, 3.0),
    (Feature::Answer, 5.1),
    (Feature::Date, 4.5),
    (Feature::Informative, 8.6),
    (Feature::TimeTold, 2.8),
    (Feature::FirstPerson, 0.7),
    (Feature::Participants, 4.0),
    (Feature::Dense, 9.4),
];

impl Weights {
    /// The measured weights for queries without vectors.
    #[must_use]
    pub fn lexical() -> Self {
        Self::of(LEXICAL)
    }

    /// The measured weights for queries with vectors.
    #[must_use]
    pub fn hybrid() -> Self {
        Self::of(HYBRID)
    }

    fn of(table: [(Feature, f32); COUNT]) -> Self {
        let mut weights = Self([0.0; COUNT]);
        for (feature, weight) in table {
            weights.set(feature, weight);
        }
        weights
    }

    /// The weight of `feature`.
    #[must_use]
    pub fn weight(&self, feature: Feature) -> f32 {
        self.0.get(feature as usize).copied().unwrap_or(0.0)
    }

    /// The same weights with another value for one feature. A negative weight counts against the unit; a weight that is
    /// not finite counts as zero.
    #[must_use]
    pub fn with(mut self, feature: Feature, weight: f32) -> Self {
        self.set(feature, weight);
        self
    }

    /// Returns the factor that turns a weighted sum into a weighted mean.
    pub(crate) fn scale(&self) -> f32 {
        let sum: f32 = self.0.iter().map(|weight| weight.abs()).sum();
        if sum > 0.0 { sum.recip() } else { 0.0 }
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
        let scale = weights.scale();
        let mut parts = [0.0; COUNT];
        for ((part, value), weight) in parts.iter_mut().zip(values.0).zip(weights.0) {
            *part = value * weight * scale;
        }
        Self(parts)
    }

    /// A plain BM25 score.
    pub(crate) fn plain(score: f32) -> Self {
        let mut values = FeatureValues::default();
        values.set(Feature::Turn, score);
        Self(values.0)
    }

    /// What `feature` contributed: its value times its share of all weights.
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
