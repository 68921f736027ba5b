//! The framing of a stream.

/// How a stream is split into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events: fields in lines, an empty line after each event.
    ServerSentEvents,
    /// One JSON value in each line.
    JsonLines,
}

impl Framing {
    /// Returns the media type to request.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::ServerSentEvents => "text/event-stream",
            Self::JsonLines => "application/x-ndjson",
        }
    }

    /// Whether an answer with this media type can be such a stream. Some servers send no type, and some answer with a
    /// whole reply in JSON.
    pub(crate) fn may_be(self, media_type: &str) -> bool {
        let stated = |prefixes: &[&str]| prefixes.iter().any(|p| media_type.starts_with(p));
        media_type.is_empty()
            || match self {
                Self::ServerSentEvents => stated(&["text/event-stream", "application/json"]),
                Self::JsonLines => stated(&[
                    "application/x-ndjson",
                    "application/ndjson",
                    "application/json",
                ]),
            }
    }

    /// Whether a stream can start with this byte. HTML starts with `<`, which no stream does.
    pub(crate) fn may_begin_with(self, byte: u8) -> bool {
        match self {
            Self::ServerSentEvents => matches!(byte, b'd' | b'e' | b'i' | b'r' | b':' | 0xef),
            Self::JsonLines => matches!(byte, b'{' | 0xef),
        }
    }
}
