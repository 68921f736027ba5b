//! A reply as it comes, whatever the vendor: bytes, lines, events, pieces of a reply.

mod counts;
mod draft;
mod events;
mod json;
mod lines;
mod reading;

#[cfg(test)]
pub(crate) use draft::draft_to_try;
pub(crate) use {
    counts::Counts,
    draft::{Draft, REPLY_LIMIT},
    events::{Event, Framing},
    json::{or_default, read},
    reading::{Decoder, Reading, no_reply},
};
