//! The program as its users run it: pipes, files, exit codes.
#![expect(clippy::unwrap_used, reason = "what tests share fails like a test")]

mod answers;
mod assistants;
mod backup;
mod bad_input;
mod compaction;
mod company;
mod config;
#[cfg(unix)]
mod control;
mod data;
mod delegations;
mod doctor;
mod emergency;
mod entity;
mod equal_lives;
mod exit_codes;
mod flood;
mod forget;
mod full_disk;
mod goals;
mod hostile_text;
mod identity;
mod impostors;
mod log;
mod memory;
mod moving;
mod not_closed;
mod own;
mod pauses;
mod program;
mod prompts;
mod provider;
mod qdrant;
mod reading;
mod rebuilding;
mod recording;
#[cfg(unix)]
mod residents;
mod scripts;
mod secrets;
mod senders;
mod server;
#[cfg(unix)]
mod serving;
mod session;
mod settings;
mod signals;
mod sleep;
mod spending;
mod stopped_terminal;
mod tools;
mod vectors;
mod waiting;
