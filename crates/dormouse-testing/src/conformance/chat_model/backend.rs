//! The server that an adapter is checked against.

use std::time::Duration;

use dormouse_contracts::{BoxFuture, ChatDelta, ChatModel};

/// The request id that a backend reports for every request, in its vendor's format.
pub const REQUEST_ID: &str = "req-of-the-suite";

/// Starts servers for one adapter. They send the suite's replies in the format of the adapter's vendor.
pub trait ChatBackend {
    /// A server that answers every request with `answer`, and a model that uses it.
    fn stage(&self, answer: &BackendAnswer) -> Box<dyn ChatStage>;
}

/// A server, and a model that uses it.
pub trait ChatStage {
    /// The model.
    fn model(&self) -> &dyn ChatModel;

    /// How many requests the server has received.
    fn requests(&self) -> usize;

    /// Waits until the client has closed a connection that the server keeps open. Returns `false` if that does not
    /// happen within a reasonable time.
    fn left(&mut self) -> BoxFuture<'_, bool>;
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackendAnswer {
    /// These pieces, then the end. The last pieces are [`ChatDelta::Finished`] and perhaps [`ChatDelta::Usage`].
    Reply(Vec<ChatDelta>, Cut),
    /// These pieces, then silence on an open connection.
    Silence(Vec<ChatDelta>),
    /// These pieces, then the connection breaks.
    CutOff(Vec<ChatDelta>),
    /// This HTTP status instead of a reply, with a Retry-After of this length unless it is zero.
    Status(u16, Duration),
}

/// How a reply is divided during transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As the server divides it.
    Freely,
    /// Into single bytes.
    Bytes,
}
