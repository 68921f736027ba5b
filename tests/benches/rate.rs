//! Work per second.

use crate::clock::now;

/// How often a second `work` is done that takes `count` pieces at once.
pub(crate) fn per_second(count: usize, work: impl FnOnce()) -> f64 {
    let started = now();
    work();
    count as f64 / now().duration_since(started).as_secs_f64()
}
