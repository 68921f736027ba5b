//! What an assistant promises, against a scripted model and a fake world, in virtual time.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test tells what it got wrong by a panic"
)]

mod admission;
mod answering;
mod appending;
mod approving;
mod attacks;
mod bad_tools;
mod bookkeeping;
mod budgets;
mod capture;
mod changed_memory;
mod clocks;
mod commitments;
mod compaction;
mod consolidating;
mod contexts;
mod crash;
mod cross_talk;
mod deciding_again;
mod delays;
mod delegating;
mod dreaming;
mod effects;
mod errors;
mod forgetting;
mod forgetting_tasks;
mod format;
mod format_kinds;
mod goals;
mod hearing;
mod heartbeat;
mod home;
mod hostile_prompt;
mod impostors;
mod journal;
mod long_answers;
mod memory;
mod messages;
mod names;
mod nights;
mod offering;
mod one_message;
mod operating;
mod outages;
mod overhearing;
mod own;
mod own_tools;
mod pattern;
mod people;
mod privacy;
mod promises;
mod prompt;
mod rebuilding;
mod reconfiguring;
mod remembering;
mod replaying;
mod secrets;
mod sender_history;
mod several_calls;
mod silence;
mod sleeping;
mod sources;
mod stopping;
mod trust;
mod unanswered;
mod window;
mod writing;
