//! The promises of a chat model.

use std::collections::HashSet;

use dormouse_contracts::{ChatDelta, ChatModel, ChatRequest, complete};
use futures_util::StreamExt;

/// Checks the promises of [`ChatModel`] with a request that the model answers.
///
/// Makes the same request several times: to the end, dropped before it is begun, dropped after its first piece, to
/// the end again, and as a whole. Waits as long as the model takes; give the test a deadline where the model may hang.
///
/// # Panics
///
/// At the first promise that is broken, and if the model fails.
pub async fn chat_model(model: &dyn ChatModel, request: ChatRequest) {
    let identity = model.identity();
    streams_a_whole_reply(model, &request).await;
    can_be_dropped_at_any_moment(model, &request).await;
    streams_a_whole_reply(model, &request).await;
    complete(model, &request).await.unwrap();
    assert_eq!(model.identity(), identity, "a model stays the one it is");
}

async fn streams_a_whole_reply(model: &dyn ChatModel, request: &ChatRequest) {
    let mut reply = Protocol::default();
    let mut stream = model.stream(request);
    while let Some(delta) = stream.next().await {
        reply.take(&delta.unwrap());
    }
    assert!(reply.finished, "a stream that ends says `Finished` before");
}

async fn can_be_dropped_at_any_moment(model: &dyn ChatModel, request: &ChatRequest) {
    drop(model.stream(request));
    let mut stream = model.stream(request);
    let first = stream.next().await;
    assert!(first.is_some(), "a reply has at least one piece");
}

/// A reply as far as it has come.
#[derive(Default)]
struct Protocol {
    begun: HashSet<usize>,
    ids: HashSet<String>,
    finished: bool,
}

impl Protocol {
    fn take(&mut self, delta: &ChatDelta) {
        let after_the_end = matches!(delta, ChatDelta::Usage(_) | ChatDelta::Info(_));
        assert!(
            !self.finished || after_the_end,
            "nothing but `Usage` and `Info` comes after `Finished`: {delta:?}"
        );
        match delta {
            ChatDelta::CallStart { index, id, name } => {
                assert!(self.begun.insert(*index), "call {index} begins once");
                assert!(self.ids.insert(id.to_string()), "{id} names one call");
                assert!(!id.as_str().is_empty(), "a call has an id");
                assert!(!name.is_empty(), "a call names a tool");
            }
            ChatDelta::CallArguments { index, .. } => assert!(
                self.begun.contains(index),
                "arguments of call {index} come after its `CallStart`"
            ),
            ChatDelta::Finished(_) => self.finished = true,
            _ => {}
        }
    }
}
