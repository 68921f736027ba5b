//! The stable attributes of an entity.

use std::{collections::BTreeMap, fmt};

use dormouse_contracts::{Audience, Sources, Trust};
use serde::{Deserialize, Serialize};

use crate::line::{TextLine, TextLineError};

/// An interest, or the name of a preference.
pub type Keyword = TextLine<64>;
/// What is preferred.
pub type Preference = TextLine<200>;
/// One or two words.
pub type Phrase = TextLine<40>;

/// How an entity talks. Serialised as one word; an unknown word is kept as [`Other`](Self::Other).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum CommunicationStyle {
    /// In full sentences, and formally.
    Formal,
    /// Informally, as among friends.
    Casual,
    /// In few words.
    Terse,
    /// Another style.
    Other(Phrase),
}

impl TryFrom<String> for CommunicationStyle {
    type Error = TextLineError;
    fn try_from(text: String) -> Result<Self, TextLineError> {
        Ok(match text.to_lowercase().as_str() {
            "formal" => Self::Formal,
            "casual" => Self::Casual,
            "terse" => Self::Terse,
            _ => Self::Other(Phrase::try_new(text)?),
        })
    }
}

impl From<CommunicationStyle> for String {
    fn from(style: CommunicationStyle) -> String {
        style.to_string()
    }
}

impl fmt::Display for CommunicationStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Formal => f.pad("formal"),
            Self::Casual => f.pad("casual"),
            Self::Terse => f.pad("terse"),
            Self::Other(phrase) => phrase.fmt(f),
        }
    }
}

/// The name of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttributeName {
    /// How the entity talks.
    CommunicationStyle,
    /// What it cares about.
    Interests,
    /// Its temperament.
    Temperament,
    /// What it prefers, by subject.
    Preferences,
}

/// The stable attributes of an entity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attributes {
    /// How it talks.
    pub communication_style: Option<CommunicationStyle>,
    /// What it cares about, in the order it was learnt; at most [`Attributes::MOST`].
    pub interests: Vec<Keyword>,
    /// Its temperament (friendly, suspicious, …).
    pub temperament: Option<Phrase>,
    /// What it prefers, by subject; at most [`Attributes::MOST`].
    pub preferences: BTreeMap<Keyword, Preference>,
    /// The trust in each attribute that is set: the lowest trust of its sources.
    pub trust: BTreeMap<AttributeName, Trust>,
    /// Who perceived everything that they were made from, other than the assistant. Nobody, if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// What they were made from, all of them together; empty if that is not known.
    #[serde(skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

impl Attributes {
    /// The largest number of interests, and of preferences. Further ones are dropped until some are cleared.
    pub const MOST: usize = 32;

    /// The trust in this attribute; `None` if it is not set.
    #[must_use]
    pub fn trust_in(&self, name: AttributeName) -> Option<Trust> {
        self.trust.get(&name).copied()
    }

    /// Whether no attribute is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trust.is_empty()
    }

    /// Restricts the audience to those who are in `audience` too. If no attribute is set yet, it becomes `audience`.
    pub(crate) fn narrow(&mut self, audience: Option<&Audience>) {
        if self.is_empty() {
            self.audience = audience.cloned();
        } else {
            self.narrow_to(audience);
        }
    }

    /// Adds sources. If no attribute is set yet, they replace the old ones.
    pub(crate) fn rest_on(&mut self, sources: &Sources) {
        self.sources = match self.is_empty() {
            true => sources.clone(),
            // The new sources come first, because a full list drops the last ones.
            false => sources.union(&self.sources),
        };
    }

    /// Restricts the audience to those who are in `audience` too.
    pub(crate) fn narrow_to(&mut self, audience: Option<&Audience>) {
        let both = self.audience.as_ref().zip(audience);
        self.audience = both.map(|(had, audience)| had.intersection(audience));
    }

    /// Applies an update with this trust: clears first, then sets. A replaced value gets the trust of the update; a
    /// list or map that grows gets the lower trust of both.
    pub(crate) fn update(&mut self, update: &AttributeUpdate, trust: Trust) {
        update.clear.iter().for_each(|name| self.clear(*name));
        if let Some(style) = &update.communication_style {
            self.communication_style = Some(style.clone());
            self.trust.insert(AttributeName::CommunicationStyle, trust);
        }
        if let Some(temperament) = &update.temperament {
            self.temperament = Some(temperament.clone());
            self.trust.insert(AttributeName::Temperament, trust);
        }
        let mut grown = false;
        for interest in &update.interests {
            let is_known = self.interests.iter().any(|known| same(known, interest));
            if !is_known && self.interests.len() < Self::MOST {
                self.interests.push(interest.clone());
                grown = true;
            }
        }
        if grown {
            self.lower(AttributeName::Interests, trust);
        }
        let mut changed = false;
        for (subject, value) in &update.preferences {
            let is_known = self.preferences.contains_key(subject);
            if is_known || self.preferences.len() < Self::MOST {
                let before = self.preferences.insert(subject.clone(), value.clone());
                changed |= before.as_ref() != Some(value);
            }
        }
        if changed {
            self.lower(AttributeName::Preferences, trust);
        }
        if self.is_empty() {
            self.audience = None;
            self.sources = Sources::default();
        }
    }

    /// Like [`update`](Self::update), for a consolidated update: it does not replace a value with higher trust.
    pub(crate) fn consolidate(&mut self, update: &AttributeUpdate, trust: Trust) {
        let is_better = |name| self.trust_in(name).is_some_and(|known| known > trust);
        let mut update = update.clone();
        if is_better(AttributeName::CommunicationStyle) {
            update.communication_style = None;
        }
        if is_better(AttributeName::Temperament) {
            update.temperament = None;
        }
        if is_better(AttributeName::Preferences) {
            update
                .preferences
                .retain(|subject, _| !self.preferences.contains_key(subject));
        }
        self.update(&update, trust);
    }

    pub(crate) fn clear(&mut self, name: AttributeName) {
        self.trust.remove(&name);
        match name {
            AttributeName::CommunicationStyle => self.communication_style = None,
            AttributeName::Interests => self.interests.clear(),
            AttributeName::Temperament => self.temperament = None,
            AttributeName::Preferences => self.preferences.clear(),
        }
    }

    pub(crate) fn lower(&mut self, name: AttributeName, trust: Trust) {
        let entry = self.trust.entry(name).or_insert(trust);
        *entry = entry.lowest(trust);
    }
}

fn same(a: &Keyword, b: &Keyword) -> bool {
    a.as_str().to_lowercase() == b.as_str().to_lowercase()
}

/// An update of attributes. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttributeUpdate {
    /// The attributes to clear first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<AttributeName>,
    /// A new style, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub communication_style: Option<CommunicationStyle>,
    /// Interests to add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interests: Vec<Keyword>,
    /// A new temperament, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperament: Option<Phrase>,
    /// Preferences to add or replace, by subject.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub preferences: BTreeMap<Keyword, Preference>,
}

impl AttributeUpdate {
    /// Whether the update changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(score: f32) -> Trust {
        Trust::try_new(score).unwrap()
    }

    fn interests(words: &[&str]) -> AttributeUpdate {
        AttributeUpdate {
            interests: words
                .iter()
                .map(|w| Keyword::try_new(*w).unwrap())
                .collect(),
            ..AttributeUpdate::default()
        }
    }

    #[test]
    fn a_list_is_believed_no_further_than_its_least_trusted_part() {
        let mut attributes = Attributes::default();
        attributes.update(&interests(&["combat"]), trust(0.9));
        attributes.update(&interests(&["Combat"]), trust(0.2));
        assert_eq!(
            attributes.trust_in(AttributeName::Interests),
            Some(trust(0.9)),
            "what was known already takes nothing from the second source"
        );
        attributes.update(&interests(&["crafting"]), trust(0.4));
        attributes.update(&interests(&["cooking"]), trust(0.8));
        assert_eq!(
            attributes.trust_in(AttributeName::Interests),
            Some(trust(0.4))
        );
    }

    #[test]
    fn a_consolidated_attribute_never_replaces_one_of_more_trust() {
        let mood = |text: &str| AttributeUpdate {
            temperament: Phrase::try_new(text).ok(),
            preferences: [(
                Keyword::try_new("tea").unwrap(),
                TextLine::try_new(text).unwrap(),
            )]
            .into(),
            ..AttributeUpdate::default()
        };
        let mut attributes = Attributes::default();
        attributes.consolidate(&mood("calm"), trust(0.8));
        attributes.consolidate(&mood("wild"), trust(0.7));
        assert_eq!(attributes.temperament, Phrase::try_new("calm").ok());
        assert_eq!(
            attributes.preferences.values().next().unwrap().as_str(),
            "calm"
        );
        attributes.consolidate(&mood("wild"), trust(0.8));
        assert_eq!(attributes.temperament, Phrase::try_new("wild").ok());
        attributes.update(&mood("shy"), trust(0.6));
        assert_eq!(attributes.temperament, Phrase::try_new("shy").ok());
    }

    #[test]
    fn lists_never_grow_past_their_bound() {
        let mut attributes = Attributes::default();
        for n in 0..100 {
            attributes.update(&interests(&[&format!("thing {n}")]), Trust::FULL);
        }
        assert_eq!(attributes.interests.len(), Attributes::MOST);
    }

    #[test]
    fn attributes_read_as_documented() {
        let text = r#"{"communication_style":"terse","interests":["combat"],"temperament":null,"preferences":{"tea":"green"}}"#;
        let attributes: Attributes = serde_json::from_str(text).unwrap();
        assert_eq!(
            attributes.communication_style,
            Some(CommunicationStyle::Terse)
        );
        assert_eq!(
            serde_json::to_value(&attributes).unwrap()["preferences"]["tea"],
            "green"
        );
    }
}
