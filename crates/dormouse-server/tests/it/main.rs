//! The service over real sockets on this machine.

mod bad_input;
mod client;
mod description;
mod lives;
mod service;
mod streams;
mod who;
