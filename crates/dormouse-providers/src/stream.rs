//! A reply as it comes, whatever the vendor: bytes, lines, events, pieces of a reply.

mod counts;
mod draft;
mod events;
mod json;
mod lines;
mod reading;

pub(crate) use {
    counts::Counts,
    draft::{Draft, REPLY_LIMIT},
    events::{Event, Framing},
    json::read,
    reading::{Decoder, Reading, no_reply},
};
