//! The answer on a connection.

use std::time::Duration;

/// A part of an answer.
#[derive(Clone)]
pub(crate) enum Step {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, one at a time.
    Singly(Vec<u8>),
    /// The same bytes, repeated this often.
    Flood(Vec<u8>, usize),
    /// The same bytes again and again with this pause, until the client disconnects.
    Drip(Vec<u8>, Duration),
    /// Nothing more, until the client disconnects.
    Silence,
}

/// The answer on a connection, which is closed after the last step.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    pub(crate) steps: Vec<Step>,
    /// Is the connection closed without having read the request? The client then sees it reset.
    pub(crate) unread: bool,
}

impl Answer {
    /// These bytes, head included.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::default().then(Step::Bytes(bytes.into()))
    }

    /// A status, further lines of the head, and a body of known length.
    pub(crate) fn status(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Said\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        Self::raw([head.as_bytes(), body].concat())
    }

    /// A success whose body ends with the connection.
    pub(crate) fn open(media_type: &str, headers: &str) -> Self {
        Self::raw(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\n{headers}connection: close\r\n\r\n"
        ))
    }

    /// And then this.
    pub(crate) fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// And then these bytes.
    pub(crate) fn and(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Step::Bytes(bytes.into()))
    }

    /// The same, one byte at a time.
    pub(crate) fn singly(mut self) -> Self {
        for step in &mut self.steps {
            if let Step::Bytes(bytes) = step {
                *step = Step::Singly(std::mem::take(bytes));
            }
        }
        self
    }
}
