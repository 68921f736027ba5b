//! Why a server does not get what it asks for.

use dormouse_contracts::BoxError;
use rmcp::{
    ErrorData,
    model::{CreateMessageRequestMethod, ErrorCode},
};

use super::{MOST_PARTS, PROMPT_LIMIT};

/// What the protocol says if a person refuses a request.
const REFUSED: ErrorCode = ErrorCode(-1);

/// Why a server does not get what it asks for.
#[derive(Debug, thiserror::Error)]
pub(in crate::client) enum Refusal {
    #[error("the operator does not allow it")]
    NotAllowed,
    #[error("no call of this server runs")]
    NoCall,
    #[error("a call may ask {0} times")]
    TooOften(u32),
    #[error("it asks while another request of it has no answer")]
    Nested,
    #[error("only text is answered, without tools")]
    NotText,
    #[error("a request may have {PROMPT_LIMIT} bytes of JSON, and {MOST_PARTS} parts")]
    TooLong,
    #[error("the call has ended")]
    Ended,
    #[error("no model can be asked in this program")]
    NoModel,
    #[error("the model gave no text")]
    Empty,
    #[error("the model was not asked, or failed")]
    Model(#[source] BoxError),
}

impl Refusal {
    /// What the server learns. It does not learn how much of a budget is left, or what a provider says.
    pub(in crate::client) fn into_error(self) -> ErrorData {
        let why = self.to_string();
        match self {
            Self::NotAllowed => ErrorData::method_not_found::<CreateMessageRequestMethod>(),
            Self::NotText | Self::TooLong => ErrorData::invalid_params(why, None),
            _ => ErrorData::new(REFUSED, format!("refused: {why}"), None),
        }
    }
}
