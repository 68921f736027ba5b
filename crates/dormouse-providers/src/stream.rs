//! A streamed reply of any vendor: bytes, lines, events, deltas.

mod counts;
mod draft;
mod events;
mod framing;
mod json;
mod lines;
mod reply_stream;
#[cfg(test)]
pub(crate) mod test_replies;

pub(crate) use {
    counts::TokenCounts,
    draft::{Draft, REPLY_LIMIT},
    events::Event,
    framing::Framing,
    json::{json_text, or_default},
    reply_stream::{Decoder, ReplyStream, no_reply},
};
