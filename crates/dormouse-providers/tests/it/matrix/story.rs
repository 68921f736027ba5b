//! The reply of every cell.

use dormouse_contracts::{ChatDelta, ChatReply, FinishReason, Usage};

use crate::double::{Answer, Counted, Dialect, Streamed};

/// What the model says.
pub(crate) const TEXT: &str = "Good day, schöner Tag.";

/// It, in pieces.
pub(crate) fn said() -> Vec<ChatDelta> {
    vec![
        ChatDelta::Text("Good ".to_owned()),
        ChatDelta::Text("day, schöner Tag.".to_owned()),
        ChatDelta::Finished(FinishReason::Stop),
    ]
}

/// It, in a vendor's words.
pub(crate) fn shown(dialect: &dyn Dialect) -> Streamed {
    dialect.stream(&said(), &Counted::tokens(11, 4))
}

/// It, as a stream without faults, with further lines in its head.
pub(crate) fn streamed(dialect: &dyn Dialect, headers: &str) -> Answer {
    Answer::open(dialect.media_type(), headers).and(shown(dialect).all())
}

/// These bytes as a stream.
pub(crate) fn body(dialect: &dyn Dialect, bytes: impl Into<Vec<u8>>) -> Answer {
    Answer::open(dialect.media_type(), "").and(bytes)
}

/// The deltas without the metadata.
pub(crate) fn reply() -> ChatReply {
    ChatReply {
        content: TEXT.to_owned(),
        finish: FinishReason::Stop,
        usage: Some(Usage {
            prompt_tokens: 11,
            completion_tokens: 4,
            ..Usage::default()
        }),
        ..ChatReply::default()
    }
}
