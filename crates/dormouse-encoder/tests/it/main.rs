//! The encoder with models that are made up here, and with a real one where it is there.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the lints know tests from their attribute; these are also the functions tests share"
)]

mod broken;
mod calculation;
mod encoding;
mod real;
mod tiny;
