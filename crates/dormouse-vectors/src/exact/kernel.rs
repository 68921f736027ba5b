//! The inner loops, compiled for each instruction set. The index selects one when it is created.

use fearless_simd::{Level, dispatch};

/// How many products of the components of a quantised row and query fit into a 32-bit sum: 8,192 · 128 · 2,047 < 2³¹.
const SUMMED_AT_ONCE: usize = 8_192;

/// The number of independent sums, so that the processor can compute them in parallel.
const LANES: usize = 32;

/// Writes the dot products of the query and the chosen rows to `products`.
///
/// `rows` contains rows of the query's length. `chosen` contains the indexes of the chosen rows.
pub(crate) fn rough(
    level: Level,
    rows: &[i8],
    query: &[i16],
    chosen: &[u32],
    products: &mut Vec<f32>,
) {
    products.resize(chosen.len(), 0.0);
    // Plain loops instead of iterator chains: only inlined code is compiled for the selected instruction set.
    dispatch!(level, _simd => {
        for (product, row) in products.iter_mut().zip(chosen) {
            *product = product_of(row_of(rows, *row, query.len()), query);
        }
    });
}

#[inline(always)]
fn row_of(rows: &[i8], row: u32, length: usize) -> &[i8] {
    let from = row as usize * length;
    // Every row exists: callers take row numbers only from the block's own list of labels, which has one label for each
    // row. An error path would prevent the compiler from vectorising the loop.
    rows.get(from..from + length).unwrap_or(&[])
}

#[inline(always)]
fn product_of(row: &[i8], query: &[i16]) -> f32 {
    let mut product = 0.0;
    for (row, query) in row.chunks(SUMMED_AT_ONCE).zip(query.chunks(SUMMED_AT_ONCE)) {
        // The integer sum is exact. Only its conversion to a float rounds.
        let mut sum = 0_i32;
        for (a, b) in row.iter().zip(query) {
            sum += i32::from(*a) * i32::from(*b);
        }
        product += sum as f32;
    }
    product
}

/// The dot product of the query and a row at full precision: each number of a row is stored as a high and a low byte.
pub(crate) fn fine(level: Level, high: &[i8], low: &[i8], query: &[f32]) -> f32 {
    dispatch!(level, _simd => fine_product(high, low, query))
}

#[inline(always)]
fn fine_product(high: &[i8], low: &[i8], query: &[f32]) -> f32 {
    let (highs, high_rest) = high.as_chunks::<LANES>();
    let (lows, low_rest) = low.as_chunks::<LANES>();
    let (queries, query_rest) = query.as_chunks::<LANES>();
    // Each lane has its own sum, because float addition is not associative and the compiler may not reorder one sum.
    let mut sums = [0.0_f32; LANES];
    for ((high, low), query) in highs.iter().zip(lows).zip(queries) {
        for (sum, ((high, low), query)) in sums.iter_mut().zip(high.iter().zip(low).zip(query)) {
            *sum += whole(*high, *low) * query;
        }
    }
    let rest = high_rest.iter().zip(low_rest).zip(query_rest);
    let rest: f32 = rest.map(|((high, low), q)| whole(*high, *low) * q).sum();
    sums.iter().sum::<f32>() + rest
}

#[inline(always)]
fn whole(high: i8, low: i8) -> f32 {
    (i32::from(high) * 256 + i32::from(low)) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_instruction_set_computes_the_same_sums(
            (query, rows) in (1..100_usize).prop_flat_map(|length| (
                prop::collection::vec(-2047..=2047_i16, length),
                prop::collection::vec(any::<i8>(), length * 3),
            )),
        ) {
            let mut products = Vec::new();
            rough(Level::new(), &rows, &query, &[2, 0], &mut products);
            let expected: Vec<f32> = [2, 0].map(|row: usize| {
                let row = &rows[row * query.len()..][..query.len()];
                row.iter().zip(&query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>() as f32
            }).to_vec();
            prop_assert_eq!(&products, &expected);
            let floats: Vec<f32> = query.iter().map(|q| f32::from(*q)).collect();
            let zeros = vec![0; query.len()];
            let fine = fine(Level::new(), &zeros, &rows[..query.len()], &floats);
            let plain: f64 = rows.iter().zip(&query).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            prop_assert!((f64::from(fine) - plain).abs() <= 1.0 + plain.abs() * 1e-5);
        }
    }

    #[test]
    fn the_longest_vectors_do_not_overflow_a_sum() {
        let length = crate::direction::MAX_DIMENSIONS;
        let mut products = Vec::new();
        rough(
            Level::new(),
            &vec![-127; length],
            &vec![2047; length],
            &[0],
            &mut products,
        );
        let expected = -127.0 * 2047.0 * length as f32;
        assert!((products[0] / expected - 1.0).abs() < 1e-6);
    }
}
