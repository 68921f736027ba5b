//! The least trusted sources of what a model was shown.

use serde::{Deserialize, Serialize};

use crate::event::Source;

/// The least trusted of all sources that were added. A text that may be made from all of them has their trust, so the
/// others need not be kept. More than one is only reported as several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// At most this many are kept, from different people.
    const MOST: usize = 2;

    pub(super) fn add_all(&mut self, sources: impl IntoIterator<Item = Source>) {
        for source in sources {
            self.add(source);
        }
    }

    fn add(&mut self, source: Source) {
        let lowest = self.0.first().map(|known| known.trust);
        match lowest {
            Some(lowest) if source.trust > lowest => {}
            Some(lowest) if source.trust == lowest => {
                let is_known = self
                    .0
                    .iter()
                    .any(|known| known.from.is_same_as(&source.from));
                if !is_known && self.0.len() < Self::MOST {
                    self.0.push(source);
                }
            }
            _ => self.0 = vec![source],
        }
    }

    /// The sources. All have the same trust: the lowest.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{Attribution, Trust};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_lowest_trust_of_all_is_never_lost(
            added in proptest::collection::vec((0_u8..=10, 0_u8..4), 0..40),
        ) {
            let source = |(trust, name): (u8, u8)| Source {
                trust: Trust::try_new(f32::from(trust) / 10.0).unwrap(),
                from: Attribution::Named(name.to_string()),
                origin: None,
            };
            let mut sources = Sources::default();
            sources.add_all(added.iter().copied().map(source));
            let lowest = added.iter().map(|(trust, _)| *trust).min();
            prop_assert_eq!(sources.0.is_empty(), lowest.is_none());
            let names: std::collections::BTreeSet<_> =
                added.iter().filter(|(trust, _)| Some(*trust) == lowest).map(|(_, name)| *name).collect();
            prop_assert_eq!(sources.0.len(), names.len().min(Sources::MOST));
            for kept in sources.iter() {
                prop_assert_eq!(Some((kept.trust.score() * 10.0).round() as u8), lowest);
            }
        }
    }
}
