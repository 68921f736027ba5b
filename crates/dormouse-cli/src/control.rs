//! The control socket: while `dormouse run` has the data open, other commands reach it here.
//!
//! A command is sent as its arguments, and carried out by the running program with what it has open. A visit sends its lines
//! of input. Both get their output piece by piece, and the exit code at the end. `docs/control-socket.md` describes the protocol.
//!
//! Read in this order: [`wire`] (the lines on the socket), [`socket`] (where it is, and who may use it), [`server`] (the
//! running program), [`visit`] (a visitor there), [`client`] (the command that somebody types).

mod client;
mod server;
mod socket;
mod visit;
mod wire;

pub(crate) use client::{Reached, reach};
pub(crate) use server::{Hall, Server};
pub(crate) use socket::SocketError;
