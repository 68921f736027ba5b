//! What an adapter is checked against: a server that says what the suite wants said.

use std::time::Duration;

use dormouse_contracts::{BoxFuture, ChatDelta, ChatModel};

/// The name by which a backend knows every request of the suite, told in the way of its vendor.
pub const REQUEST_ID: &str = "req-of-the-suite";

/// Servers for one adapter, that put what the suite wants said into its vendor's words.
pub trait ChatBackend {
    /// A server that answers every request with this, and a model that asks it.
    fn stage(&self, answer: &BackendAnswer) -> Box<dyn ChatStage>;
}

/// A server, and a model that asks it.
pub trait ChatStage {
    /// The model.
    fn model(&self) -> &dyn ChatModel;

    /// How many requests the server has read.
    fn requests(&self) -> usize;

    /// Waits until the client has closed a connection that the server keeps; `false` if that does not happen within a reasonable
    /// time.
    fn left(&mut self) -> BoxFuture<'_, bool>;
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackendAnswer {
    /// These pieces, the last of which are [`ChatDelta::Finished`] and perhaps [`ChatDelta::Usage`], and the end.
    Reply(Vec<ChatDelta>, Cut),
    /// These pieces, and then nothing, while the connection stays open.
    Silence(Vec<ChatDelta>),
    /// These pieces, and then the connection ends.
    CutOff(Vec<ChatDelta>),
    /// No reply, but this HTTP status and, where it is not zero, a wish to be left alone for so long.
    Status(u16, Duration),
}

/// How a reply is cut on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As the server likes.
    Freely,
    /// Into single bytes.
    Bytes,
}
