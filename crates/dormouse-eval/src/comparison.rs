//! By how much two sets of answers to the same questions differ.

use std::fmt::{self, Display, Formatter};

use crate::{evidence::Measured, metrics::Measure, seeded::Seeded};

/// How many samples are drawn.
const SAMPLES: usize = 2_000;

/// The difference of two means over the same questions, with the middle 95 % of a paired bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    mean: f64,
    low: f64,
    high: f64,
}

impl Difference {
    /// By how much `after` is better than `before`; both are answers to the same questions in the same order.
    pub(crate) fn of(before: &[Measured], after: &[Measured], measure: Measure, seed: u64) -> Self {
        let value = |one: &Measured| one.marks.mean(measure).unwrap_or_default();
        let pairs = before.iter().zip(after);
        let gains: Vec<f64> = pairs
            .map(|(before, after)| value(after) - value(before))
            .collect();
        let seeded = Seeded::new(seed);
        let count = gains.len().max(1) as f64;
        let mut means: Vec<f64> = (0..SAMPLES)
            .map(|_| {
                let drawn = (0..gains.len()).filter_map(|_| gains.get(seeded.place(gains.len())));
                drawn.sum::<f64>() / count
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let at = |share: usize| {
            means
                .get(SAMPLES * share / 1_000)
                .copied()
                .unwrap_or_default()
        };
        Self {
            mean: gains.iter().sum::<f64>() / count,
            low: at(25),
            high: at(974),
        }
    }
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [mean, low, high] = [self.mean, self.low, self.high].map(|share| share * 100.0);
        write!(f, "{mean:+.1} ({low:+.1} to {high:+.1})")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::metrics::{Found, Gold, Marks};

    fn answers(found: impl Iterator<Item = bool>) -> Vec<Measured> {
        let gold = Gold {
            places: BTreeSet::from([0]),
            sessions: BTreeSet::new(),
        };
        let answer = |found: bool| Found {
            ranked: if found { vec![0] } else { vec![1] },
            ..Found::default()
        };
        let measured = found.map(|found| Measured {
            marks: Marks::of(&answer(found), &gold),
            is_stored: true,
        });
        measured.collect()
    }

    #[test]
    fn a_difference_is_paired_and_its_range_holds_the_mean() {
        let before = answers((0..100).map(|number| number < 50));
        let same = Difference::of(&before, &before, Measure::Any(5), 1);
        assert_eq!((same.mean, same.low, same.high), (0.0, 0.0, 0.0));
        let after = answers((0..100).map(|number| number < 40));
        let worse = Difference::of(&before, &after, Measure::Any(5), 1);
        assert!((worse.mean + 0.1).abs() < 1e-9);
        assert!(worse.low < worse.mean && worse.mean < worse.high && worse.high < 0.0);
        assert_eq!(worse, Difference::of(&before, &after, Measure::Any(5), 1));
        assert!(worse.to_string().starts_with("-10.0 (-"), "{worse}");
    }
}
