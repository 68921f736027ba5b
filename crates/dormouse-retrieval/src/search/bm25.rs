//! The formula of BM25.

/// How fast further occurrences of a word stop counting.
pub(super) const K1: f32 = 1.0;
/// How far a long text is held against it.
pub(super) const B: f32 = 0.4;

/// What a length of `terms` among texts of `mean` terms does to the counts: the `K` of BM25.
#[inline]
pub(super) fn length_norm(terms: f32, mean: f32) -> f32 {
    K1 * (1.0 - B + B * terms / mean.max(1.0))
}

/// A count of occurrences, levelled off: 0 for none, below `K1 + 1` for any number.
#[inline]
pub(super) fn saturated(count: f32, norm: f32) -> f32 {
    count * (K1 + 1.0) / (count + norm)
}

/// How much it says that a term occurs, if it does in `frequency` of `texts`. Always positive.
pub(super) fn inverse_frequency(frequency: usize, texts: usize) -> f32 {
    let (frequency, texts) = (frequency as f32, texts as f32);
    (1.0 + (texts - frequency + 0.5) / (frequency + 0.5)).ln()
}
