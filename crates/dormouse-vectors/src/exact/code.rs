//! Vectors as 16-bit integers. The high byte alone is a good approximation.

/// The largest component of a coded vector; its high byte is then 127.
const LARGEST: f32 = 127.0 * 256.0;

/// The largest component of a coded query. Small enough that 8,192 products with a high byte fit into 32 bits.
const LARGEST_IN_QUERY: f32 = 2047.0;

/// A unit vector as `scale * (256 * high + low)`.
pub(crate) struct Code {
    pub(crate) high: Vec<i8>,
    pub(crate) low: Vec<i8>,
    pub(crate) scale: f32,
    /// The distance between the high bytes alone and the whole code.
    pub(crate) rest: f32,
}

impl Code {
    /// Codes a unit vector. The error of each component is at most half of `scale`.
    pub(crate) fn of(unit: &[f32]) -> Self {
        let scale = largest(unit) / LARGEST;
        let (high, low): (Vec<i8>, Vec<i8>) = unit.iter().map(|x| split(x / scale)).unzip();
        // In f64, so that the error bound itself has no relevant rounding error.
        let square: f64 = low.iter().map(|low| f64::from(*low).powi(2)).sum();
        Self {
            rest: upward(square.sqrt() * f64::from(scale)),
            high,
            low,
            scale,
        }
    }
}

fn split(number: f32) -> (i8, i8) {
    // The division may round to more than the largest number, which `clamp` corrects before the cast.
    let number = number.round().clamp(-LARGEST, LARGEST) as i32;
    // The low byte is signed, so the high byte rounds to the nearest and the remainder fits into an i8.
    let high = (number + 128) >> 8;
    (high as i8, (number - high * 256) as i8)
}

/// A query, coded for the first pass and plain for the second.
pub(crate) struct QueryCode {
    pub(crate) plain: Vec<f32>,
    pub(crate) coded: Vec<i16>,
    pub(crate) scale: f32,
    /// The distance between the coded query and the plain one.
    pub(crate) rest: f32,
}

impl QueryCode {
    /// Codes a unit vector.
    pub(crate) fn of(unit: Vec<f32>) -> Self {
        let scale = largest(&unit) / LARGEST_IN_QUERY;
        let coded: Vec<i16> = unit.iter().map(|x| (x / scale).round() as i16).collect();
        let errors = unit.iter().zip(&coded);
        let square: f64 = errors
            .map(|(x, code)| (f64::from(*x) - f64::from(*code) * f64::from(scale)).powi(2))
            .sum();
        Self {
            rest: upward(square.sqrt()),
            plain: unit,
            coded,
            scale,
        }
    }

    /// The first pass's estimate of a score from the product of the codes, with its error bound.
    ///
    /// With the vector `x`, its high bytes `h`, the query `q` and its code `c`, the second pass computes `q·x` and the
    /// first `c·h`. The difference is `q·(x - h) + (q - c)·h`. By the Cauchy-Schwarz inequality it is at most `|x - h|
    /// + |q - c||h|`, because `q` has length one; rounding errors of both sums are added.
    pub(crate) fn estimate(&self, product: f32, scale: f32, rest: f32) -> ScoreEstimate {
        // A unit vector may be off by rounding, hence a little more than 1; `h` differs from it by `rest`.
        let longest = 1.01 + rest;
        ScoreEstimate {
            score: product * (scale * 256.0) * self.scale,
            error: rest * 1.001 + self.rest * longest + rounding(self.plain.len()),
        }
    }
}

/// An estimate of a score: the true score is within `error` of `score`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreEstimate {
    pub(crate) score: f32,
    pub(crate) error: f32,
}

/// The largest difference between a score and the exact cosine, for vectors of this length.
pub(super) fn score_error(dimensions: usize) -> f32 {
    // The error of a component is at most half a scale, and the scale is largest if one component is 1.
    let half_scale = 0.5 / LARGEST;
    (dimensions as f32).sqrt() * half_scale * 1.001 + rounding(dimensions)
}

/// An upper bound for the rounding error of a sum of `dimensions` products of unit vectors.
fn rounding(dimensions: usize) -> f32 {
    f32::EPSILON * (dimensions as f32 / 8.0 + 32.0)
}

fn largest(unit: &[f32]) -> f32 {
    unit.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

fn upward(distance: f64) -> f32 {
    // Rounded up: the distance is used as an error bound.
    (distance * 1.000_001) as f32 + f32::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use fearless_simd::Level;
    use proptest::prelude::*;

    use super::*;
    use crate::{direction, exact::kernel};

    fn unit(length: usize) -> impl Strategy<Value = Vec<f32>> {
        // Some numbers far larger than the others are the worst case for a common scale.
        let number = prop_oneof![8 => -1.0..1.0_f32, 1 => -100.0..100.0_f32, 1 => Just(0.0)];
        prop::collection::vec(number, length).prop_filter_map("no direction", |vector| {
            direction::unit(&vector, vector.len()).ok()
        })
    }

    proptest! {
        #[test]
        fn the_error_of_the_first_pass_never_exceeds_its_bound(
            (query, vector) in (1..200_usize).prop_flat_map(|length| (unit(length), unit(length))),
        ) {
            let (query, code) = (QueryCode::of(query), Code::of(&vector));
            let mut products = Vec::new();
            kernel::rough(Level::new(), &code.high, &query.coded, &[0], &mut products);
            let estimate = query.estimate(products[0], code.scale, code.rest);
            let score = code.scale * kernel::fine(Level::new(), &code.high, &code.low, &query.plain);
            prop_assert!((score - estimate.score).abs() <= estimate.error, "{score} {estimate:?}");
        }

        #[test]
        fn scores_are_as_near_to_those_of_plain_numbers_as_stated(
            (query, vector) in (1..200_usize).prop_flat_map(|length| (unit(length), unit(length))),
        ) {
            let code = Code::of(&vector);
            let score = code.scale * kernel::fine(Level::new(), &code.high, &code.low, &query);
            let plain: f64 = query.iter().zip(&vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            let bound = score_error(vector.len());
            prop_assert!((f64::from(score) - plain).abs() <= f64::from(bound), "{score} {plain}");
        }
    }

    #[test]
    fn the_two_bytes_make_up_the_number() {
        for number in [
            -32_512, -32_385, -129, -128, -1, 0, 1, 127, 128, 255, 32_384, 32_512,
        ] {
            let (high, low) = split(number as f32);
            assert_eq!(i32::from(high) * 256 + i32::from(low), number);
        }
    }
}
