//! Parts of texts and slices.

use std::slice::SliceIndex;

use dormouse_contracts::invariant;

/// Returns the part of `items` at `range`. The caller guarantees that the range is within bounds.
pub(crate) fn within<T, R: SliceIndex<[T], Output = [T]>>(items: &[T], range: R) -> &[T] {
    invariant!(items.get(range), "a range of a scan is inside of the text")
}

/// Returns the largest position up to `at` where the text may be cut.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
