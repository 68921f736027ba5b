//! The program as its users run it: files, exit codes, receipts.
#![expect(clippy::unwrap_used, reason = "what tests share fails like a test")]

mod importance;
mod program;
mod recall;
mod tools;
mod week;
