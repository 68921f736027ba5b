//! Asking the provider's model for one word.

use dormouse_contracts::{ChatModel, ChatRequest, Message, ToolChoice, complete};
use tokio::time::timeout;

use super::{Finding, PROBE};
use crate::exit::{Exit, Report};

/// Asks once, without retries, and tells how it went.
pub(super) fn ask(model: &dyn ChatModel) -> Finding {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            return Finding::Wrong(
                format!("the provider could not be asked: {error}"),
                Exit::Failure,
            );
        }
    };
    let request = ChatRequest {
        messages: vec![Message::User {
            content: "Say: tea".to_owned(),
        }],
        tools: Vec::new(),
        tool_choice: ToolChoice::None,
        temperature: None,
        top_p: None,
        max_tokens: Some(16),
        ..ChatRequest::default()
    };
    let answer = runtime.block_on(async { timeout(PROBE, complete(model, &request)).await });
    match answer {
        Ok(Ok(_)) => Finding::Fine("the provider answers".to_owned()),
        Ok(Err(error)) => Finding::Wrong(
            format!("the provider does not answer: {}", Report(&error)),
            Exit::Failure,
        ),
        Err(_) => Finding::Wrong(
            format!("the provider does not answer within {} s", PROBE.as_secs()),
            Exit::Failure,
        ),
    }
}
