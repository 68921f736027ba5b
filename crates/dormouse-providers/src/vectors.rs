//! Checks the vectors of an answer.

use std::{num::NonZeroUsize, sync::OnceLock};

use dormouse_contracts::Embedding;

/// Why vectors are not a valid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WrongVectors {
    /// The number of vectors differs from the number of texts.
    #[error("{answered} vectors came back for {asked} texts")]
    Count { asked: usize, answered: usize },
    /// The vectors cannot be assigned to the texts.
    #[error("the vectors are not numbered from 0, with each number once")]
    Numbering,
    /// A vector is empty.
    #[error("vector {index} of the answer is empty")]
    Empty { index: usize },
    /// A vector has a number that is not finite.
    #[error("vector {index} of the answer contains a number that is not finite")]
    NotFinite { index: usize },
    /// A vector has another length than configured, or than earlier ones.
    #[error(
        "vector {index} of the answer has {is} numbers where {expected} are expected; the model may have changed, or may not support this length"
    )]
    Dimensions {
        index: usize,
        is: usize,
        expected: usize,
    },
}

/// The length of an encoder's vectors, once it is known.
#[derive(Debug, Default)]
pub(crate) struct Dimensions(OnceLock<NonZeroUsize>);

impl Dimensions {
    /// Expects this length, if given.
    pub(crate) fn expecting(expected: Option<NonZeroUsize>) -> Self {
        Self(expected.map_or_else(OnceLock::new, OnceLock::from))
    }

    pub(crate) fn known(&self) -> Option<NonZeroUsize> {
        self.0.get().copied()
    }

    /// Accepts vectors as the answer to `asked` texts. The first answer decides the length.
    pub(crate) fn check(
        &self,
        vectors: Vec<Embedding>,
        asked: usize,
    ) -> Result<Vec<Embedding>, WrongVectors> {
        let answered = vectors.len();
        if answered != asked {
            return Err(WrongVectors::Count { asked, answered });
        }
        let first = vectors.first().map(Vec::len).and_then(NonZeroUsize::new);
        let expected = self.known().or(first).map_or(0, usize::from);
        for (index, vector) in vectors.iter().enumerate() {
            let is = vector.len();
            if is == 0 {
                return Err(WrongVectors::Empty { index });
            }
            if is != expected {
                return Err(WrongVectors::Dimensions {
                    index,
                    is,
                    expected,
                });
            }
            if !vector.iter().all(|number| number.is_finite()) {
                return Err(WrongVectors::NotFinite { index });
            }
        }
        match first {
            // A concurrent call may have set another length.
            Some(first) if *self.0.get_or_init(|| first) != first => {
                Err(WrongVectors::Dimensions {
                    index: 0,
                    is: first.into(),
                    expected: self.known().map_or(0, usize::from),
                })
            }
            _ => Ok(vectors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_decides_the_length_of_all() {
        let dimensions = Dimensions::default();
        assert_eq!(dimensions.check(vec![], 0), Ok(vec![]));
        assert_eq!(dimensions.known(), None);
        let two = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        assert_eq!(dimensions.check(two.clone(), 2), Ok(two));
        assert_eq!(dimensions.known().map(usize::from), Some(2));
        let longer = dimensions.check(vec![vec![1.0, 0.0, 0.0]], 1);
        let expected = WrongVectors::Dimensions {
            index: 0,
            is: 3,
            expected: 2,
        };
        assert_eq!(longer, Err(expected));
    }

    #[test]
    fn invalid_vectors_are_rejected_and_do_not_set_the_dimensions() {
        let dimensions = Dimensions::default();
        let wrong = |vectors| dimensions.check(vectors, 2).unwrap_err();
        assert_eq!(
            wrong(vec![vec![1.0]]),
            WrongVectors::Count {
                asked: 2,
                answered: 1
            }
        );
        assert_eq!(
            wrong(vec![vec![], vec![]]),
            WrongVectors::Empty { index: 0 }
        );
        for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(
                wrong(vec![vec![1.0], vec![number]]),
                WrongVectors::NotFinite { index: 1 }
            );
        }
        assert!(matches!(
            wrong(vec![vec![1.0], vec![1.0, 2.0]]),
            WrongVectors::Dimensions { index: 1, .. }
        ));
        assert_eq!(dimensions.known(), None);
    }

    #[test]
    fn requested_dimensions_are_checked_on_the_first_answer() {
        let dimensions = Dimensions::expecting(NonZeroUsize::new(2));
        assert!(dimensions.check(vec![vec![1.0]], 1).is_err());
        assert_eq!(dimensions.known().map(usize::from), Some(2));
    }
}
