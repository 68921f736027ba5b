//! The BM25 formula (Robertson and Zaragoza 2009).

/// The saturation parameter `k1`: how fast repeated occurrences stop counting.
pub(super) const K1: f32 = 1.0;
/// The length parameter `b`: how much long texts are penalised.
pub(super) const B: f32 = 0.4;

/// The length normalisation `K` of BM25 for a text of `terms` terms among texts of `mean` terms.
#[inline]
pub(super) fn length_norm(terms: f32, mean: f32) -> f32 {
    K1 * (1.0 - B + B * terms / mean.max(1.0))
}

/// The saturated count of occurrences: 0 for no occurrence, and below `K1 + 1` for any count.
#[inline]
pub(super) fn saturated(count: f32, norm: f32) -> f32 {
    count * (K1 + 1.0) / (count + norm)
}

/// The inverse document frequency of a term that occurs in `frequency` of `texts` texts. Always positive.
pub(super) fn inverse_frequency(frequency: usize, texts: usize) -> f32 {
    let (frequency, texts) = (frequency as f32, texts as f32);
    // Lucene's variant: the 1 inside the logarithm keeps it positive even for a term that occurs in every text.
    (1.0 + (texts - frequency + 0.5) / (frequency + 0.5)).ln()
}
