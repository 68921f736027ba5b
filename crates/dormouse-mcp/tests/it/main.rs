//! A memory over the protocol, as a client meets it: lines of JSON.

mod limits;
mod line;
mod protocol;
mod telling;
