//! What went over the wire once: a request, what came back, and how it ended.

use serde::{Deserialize, Serialize};

mod body;

pub use body::Body;

/// One request and what became of it, as it stands in a cassette: already scrubbed.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// What was sent.
    pub request: RecordedRequest,
    /// What came back; `None` if not even a status did.
    pub response: Option<RecordedResponse>,
    /// How it ended.
    pub ending: Ending,
    /// What the transport said about the ending, at most [`Exchange::LONGEST_REASON_BYTES`]; empty if nothing.
    pub reason: String,
}

impl Exchange {
    /// The longest [`Exchange::reason`], in bytes; a longer one is cut.
    pub const LONGEST_REASON_BYTES: usize = 500;

    /// Whether bytes were left out, because a limit of the recorder was reached.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        let left_out = |response: &RecordedResponse| response.left_out_bytes > 0;
        self.request.left_out_bytes > 0 || self.response.as_ref().is_some_and(left_out)
    }

    /// The ending a replay has to show: a body whose end was left out by the recorder ends like a cut connection.
    #[must_use]
    pub fn replayed_ending(&self) -> Ending {
        let left_out = |response: &RecordedResponse| response.left_out_bytes > 0;
        if self.ending == Ending::Whole && self.response.as_ref().is_some_and(left_out) {
            return Ending::CutOff;
        }
        self.ending
    }
}

/// The request of an [`Exchange`].
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRequest {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Path and query: `/v1/messages?beta=true`.
    pub target: String,
    /// Host and port, if the recorder was told to keep them.
    pub host: Option<String>,
    /// Those on the list of harmless ones, in the order they were sent.
    pub headers: Vec<Header>,
    /// What was sent after them.
    pub body: Body,
    /// How many bytes of the body are missing at its end, because a limit of the recorder was reached.
    pub left_out_bytes: u64,
}

/// The answer of an [`Exchange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedResponse {
    /// The status code, `100..=999`.
    pub status: u16,
    /// How long the status was waited for, in milliseconds.
    pub waited_ms: u64,
    /// Those on the list of harmless ones, in the order they came.
    pub headers: Vec<Header>,
    /// The body, in the pieces it arrived in.
    pub chunks: Vec<Chunk>,
    /// How many bytes of the body are missing at its end, because a limit of the recorder was reached.
    pub left_out_bytes: u64,
    /// How many chunks were added to the one before them, because there were too many.
    pub joined_chunks: u64,
}

impl RecordedResponse {
    /// The whole body, as recorded.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let chunks = self.chunks.iter();
        chunks
            .flat_map(|chunk| chunk.bytes.iter().copied())
            .collect()
    }
}

/// A piece of a body, as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// How long after the piece before it (after the status, for the first), in milliseconds.
    pub pause_ms: u64,
    /// Its bytes. In the file they are text where they are UTF-8, else base64.
    pub bytes: Vec<u8>,
}

/// A line of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// In small letters.
    pub name: String,
    /// Scrubbed like everything else.
    pub value: String,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The body came to its end.
    Whole,
    /// The connection failed after the status had come.
    CutOff,
    /// No status came: no connection, no handshake, or nothing after it.
    NeverReached,
    /// Whoever asked did not want the rest.
    Abandoned,
}
