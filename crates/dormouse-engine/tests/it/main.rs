//! What an assistant promises, against a scripted model and a fake world, in virtual time.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test tells what it got wrong by a panic"
)]

mod answering;
mod crash;
mod effects;
mod errors;
mod format;
mod home;
mod hostile_prompt;
mod memory;
mod messages;
mod old_log;
mod pattern;
mod people;
mod prompt;
mod remembering;
mod replaying;
mod window;
