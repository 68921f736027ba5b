//! The promises of a chat model.
#![expect(
    clippy::panic,
    reason = "a suite: a broken promise is reported by a panic"
)]

mod backend;
mod failures;
mod protocol;
mod replies;
mod said;

pub use self::backend::{BackendAnswer, ChatBackend, ChatStage, Cut, REQUEST_ID};

use dormouse_contracts::{ChatModel, ChatRequest, complete};
use futures_util::StreamExt;

use self::protocol::Protocol;

/// Checks the promises of [`ChatModel`] with a request that the model answers.
///
/// Makes the same request five times: it reads the reply to the end, drops it before the first poll, drops it after the
/// first piece, reads it to the end again, and requests it as a whole. The check has no deadline of its own, so give
/// the test a deadline if the model may hang.
///
/// # Panics
///
/// At the first broken promise, and if the model fails.
pub async fn chat_model(model: &dyn ChatModel, request: ChatRequest) {
    let identity = model.identity();
    Protocol::read(model, &request).await.unwrap();
    can_be_dropped_at_any_moment(model, &request).await;
    Protocol::read(model, &request).await.unwrap();
    complete(model, &request).await.unwrap();
    assert_eq!(
        model.identity(),
        identity,
        "the identity of a model does not change"
    );
}

async fn can_be_dropped_at_any_moment(model: &dyn ChatModel, request: &ChatRequest) {
    drop(model.stream(request));
    let mut stream = model.stream(request);
    let first = stream.next().await;
    assert!(first.is_some(), "a reply has at least one piece");
}

/// Checks the promises of a [`ChatModel`] that uses a vendor's backend. Text, thoughts, calls, finish reason and usage
/// arrive as the backend sent them, even if the transport divides them differently. Failures have the same kinds with
/// all backends. No request is sent twice. A dropped reply closes its connection.
///
/// `backend` sends the suite's replies in the vendor's format. Call this function on the runtime that the models need.
/// It has no deadline of its own, so give the test one.
///
/// # Panics
///
/// At the first broken promise.
pub async fn chat_adapter(backend: &dyn ChatBackend) {
    replies::a_text_is_reported(backend).await;
    replies::thoughts_are_separated_from_text(backend).await;
    replies::one_call_is_reported(backend).await;
    replies::several_calls_are_distinguished(backend).await;
    replies::a_text_and_a_call_are_reported(backend).await;
    replies::a_reply_cut_for_its_length_is_reported(backend).await;
    replies::uncounted_usage_is_not_reported(backend).await;
    replies::the_answering_model_is_reported(backend).await;
    replies::pieces_come_as_they_are_sent(backend).await;
    replies::nothing_is_sent_for_a_stream_that_is_not_read(backend).await;
    replies::replies_at_the_same_time_are_apart(backend).await;
    failures::a_status_is_a_kind(backend).await;
    failures::a_reply_that_is_cut_off_is_interrupted(backend).await;
}
