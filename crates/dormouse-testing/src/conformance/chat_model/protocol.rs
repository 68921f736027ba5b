//! The part of a reply that has arrived.

use std::collections::HashSet;

use dormouse_contracts::{ChatDelta, ChatModel, ChatRequest, ModelError};
use futures_util::StreamExt;

/// The part of a reply that has arrived. Panics if a piece breaks the order that the port promises.
#[derive(Debug, Default)]
pub(super) struct Protocol {
    begun: HashSet<usize>,
    ids: HashSet<String>,
    finished: bool,
    pub(super) deltas: Vec<ChatDelta>,
}

impl Protocol {
    /// Reads a model's complete reply, and checks that its pieces are in the promised order. If the model fails, the
    /// failure must be the last item.
    pub(super) async fn read(
        model: &dyn ChatModel,
        request: &ChatRequest,
    ) -> Result<Vec<ChatDelta>, ModelError> {
        let mut reply = Self::default();
        let mut stream = model.stream(request);
        while let Some(delta) = stream.next().await {
            match delta {
                Ok(delta) => reply.take(delta),
                Err(error) => {
                    assert!(
                        stream.next().await.is_none(),
                        "nothing comes after a failure"
                    );
                    return Err(error);
                }
            }
        }
        assert!(reply.finished, "a stream that ends says `Finished` before");
        Ok(reply.deltas)
    }

    pub(super) fn take(&mut self, delta: ChatDelta) {
        let after_the_end = matches!(delta, ChatDelta::Usage(_) | ChatDelta::Info(_));
        assert!(
            !self.finished || after_the_end,
            "nothing but `Usage` and `Info` comes after `Finished`: {delta:?}"
        );
        match &delta {
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
        self.deltas.push(delta);
    }
}
