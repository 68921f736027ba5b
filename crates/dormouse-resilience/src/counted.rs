//! How many do something at the moment.

use std::sync::atomic::{AtomicU32, Ordering};

/// One of those who do something; no longer so when dropped, by a cancelled future for instance.
pub(crate) struct Counted<'a>(&'a AtomicU32);

impl<'a> Counted<'a> {
    /// One more.
    pub(crate) fn one_more(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }

    /// One more, if that makes no more than `most`.
    pub(crate) fn within(count: &'a AtomicU32, most: u32) -> Option<Self> {
        let one_more = |now| (now < most).then_some(now + 1);
        let counted = count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        // Not `then_some`: one who is not counted must not come into being, since it would be taken off again.
        counted.is_ok().then(|| Self(count))
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
