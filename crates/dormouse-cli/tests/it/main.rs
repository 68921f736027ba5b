//! The program as its users run it: pipes, files, exit codes.
#![expect(clippy::unwrap_used, reason = "what tests share fails like a test")]

mod bad_input;
mod data;
mod emergency;
mod entity;
mod eval;
mod log;
mod memory;
mod program;
mod provider;
mod secrets;
mod server;
mod session;
mod settings;
mod signals;
mod vectors;
