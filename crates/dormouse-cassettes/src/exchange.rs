//! One HTTP exchange: a request, its response, and how it ended.

use serde::{Deserialize, Serialize};

mod body;

pub use body::Body;

/// One exchange in a cassette; already scrubbed.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The request.
    pub request: RecordedRequest,
    /// The response; `None` if no status arrived.
    pub response: Option<RecordedResponse>,
    /// How it ended.
    pub ending: Ending,
    /// The transport's error message, at most [`Exchange::LONGEST_REASON_BYTES`]; empty if none.
    pub reason: String,
}

impl Exchange {
    /// The maximum length of [`Exchange::reason`], in bytes.
    pub const LONGEST_REASON_BYTES: usize = 500;

    /// Whether bytes were left out because of a limit of the recorder.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        let left_out = |response: &RecordedResponse| response.left_out_bytes > 0;
        self.request.left_out_bytes > 0 || self.response.as_ref().is_some_and(left_out)
    }

    /// Returns the ending for a replay: a truncated body ends like a cut connection.
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
    /// Host and port, if the recorder keeps them.
    pub host: Option<String>,
    /// The headers that are on the list of harmless headers, in their order.
    pub headers: Vec<Header>,
    /// The body.
    pub body: Body,
    /// How many bytes at the end of the body were left out because of a limit of the recorder.
    pub left_out_bytes: u64,
}

/// The response of an [`Exchange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedResponse {
    /// The status code, `100..=999`.
    pub status: u16,
    /// Time until the status arrived, in milliseconds.
    pub waited_ms: u64,
    /// The headers that are on the list of harmless headers, in their order.
    pub headers: Vec<Header>,
    /// The body, in the pieces in which it arrived.
    pub chunks: Vec<Chunk>,
    /// How many bytes at the end of the body were left out because of a limit of the recorder.
    pub left_out_bytes: u64,
    /// How many chunks were appended to the previous one because there were too many.
    pub joined_chunks: u64,
}

impl RecordedResponse {
    /// Returns the whole body, as recorded.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let chunks = self.chunks.iter();
        chunks
            .flat_map(|chunk| chunk.bytes.iter().copied())
            .collect()
    }
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Time since the previous piece, or since the status, in milliseconds.
    pub pause_ms: u64,
    /// The bytes. The file has them as text if they are UTF-8, otherwise as base64.
    pub bytes: Vec<u8>,
}

/// A header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name, in lower case.
    pub name: String,
    /// The value, scrubbed like everything else.
    pub value: String,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The body is complete.
    Whole,
    /// The connection failed after the status.
    CutOff,
    /// No status arrived: the connection or the handshake failed, or there was no answer.
    NeverReached,
    /// The client dropped the rest.
    Abandoned,
}
