//! Real time, which is what is measured.

use std::time::Instant;

#[expect(
    clippy::disallowed_methods,
    reason = "real time is what is measured here, and no assistant decides by it"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
