//! Checks that a vector has a direction, and normalises it.

use dormouse_contracts::{Point, VectorErrorKind};

/// The maximum number of dimensions of a collection, the same as on a Qdrant server.
pub(crate) const MAX_DIMENSIONS: usize = 65_536;

/// Rejects a number of dimensions that is zero or larger than [`MAX_DIMENSIONS`].
pub(crate) fn check_dimensions(dimensions: usize) -> Result<(), VectorErrorKind> {
    if (1..=MAX_DIMENSIONS).contains(&dimensions) {
        Ok(())
    } else {
        Err(VectorErrorKind::Refused)
    }
}

/// Rejects the points if the vector of one of them is invalid.
pub(crate) fn check_points(points: &[Point], dimensions: usize) -> Result<(), VectorErrorKind> {
    points
        .iter()
        .try_for_each(|point| length(&point.vector, dimensions).map(drop))
}

/// The vector with the same direction and length one.
pub(crate) fn unit(vector: &[f32], dimensions: usize) -> Result<Vec<f32>, VectorErrorKind> {
    let length = length(vector, dimensions)?;
    Ok(vector
        .iter()
        .map(|x| (f64::from(*x) / length) as f32)
        .collect())
}

/// The length of a vector. It is computed in `f64`, so that neither the largest nor the smallest numbers are lost.
fn length(vector: &[f32], dimensions: usize) -> Result<f64, VectorErrorKind> {
    if vector.len() != dimensions {
        return Err(VectorErrorKind::Dimension {
            expected: dimensions,
            actual: vector.len(),
        });
    }
    let square: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
    if square.is_finite() && square > 0.0 {
        Ok(square.sqrt())
    } else {
        Err(VectorErrorKind::NotFinite)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_vector_without_a_direction_is_refused() {
        for vector in [
            [0.0, -0.0],
            [f32::NAN, 1.0],
            [1.0, f32::INFINITY],
            [f32::NEG_INFINITY, 0.0],
        ] {
            assert_eq!(unit(&vector, 2), Err(VectorErrorKind::NotFinite));
        }
        assert_eq!(
            unit(&[1.0], 2),
            Err(VectorErrorKind::Dimension {
                expected: 2,
                actual: 1
            })
        );
    }

    #[test]
    fn collections_are_for_vectors_of_a_sane_length() {
        for dimensions in [1, 384, MAX_DIMENSIONS] {
            assert_eq!(check_dimensions(dimensions), Ok(()));
        }
        for dimensions in [0, MAX_DIMENSIONS + 1, usize::MAX] {
            assert_eq!(check_dimensions(dimensions), Err(VectorErrorKind::Refused));
        }
    }

    proptest! {
        #[test]
        fn every_finite_vector_but_zero_gets_length_one(
            vector in prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO, 1..40)
        ) {
            prop_assume!(vector.iter().any(|x| *x != 0.0));
            let unit = unit(&vector, vector.len()).unwrap();
            let square: f64 = unit.iter().map(|x| f64::from(*x).powi(2)).sum();
            prop_assert!((square - 1.0).abs() < 1e-5, "{square}");
        }
    }
}
