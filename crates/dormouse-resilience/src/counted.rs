//! Counts concurrent activities.

use std::sync::atomic::{AtomicU32, Ordering};

/// One counted activity. Dropping it, for example with a cancelled future, ends the count.
pub(crate) struct Counted<'a>(&'a AtomicU32);

impl<'a> Counted<'a> {
    /// Counts one more.
    pub(crate) fn one_more(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }

    /// Counts one more, if the result is at most `most`.
    pub(crate) fn within(count: &'a AtomicU32, most: u32) -> Option<Self> {
        let one_more = |now| (now < most).then_some(now + 1);
        let counted = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        // `then_some` would create a value even after a failure, and dropping that value would decrement the counter.
        counted.is_ok().then(|| Self(count))
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
