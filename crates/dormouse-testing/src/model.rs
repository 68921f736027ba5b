//! A chat model that follows a script, and is as strict as a provider about requests.

mod pieces;
mod script;
mod strict;
mod turn;
mod violation;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_contracts::{
    BoxFuture, BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelName,
    ProviderId,
};
use futures_util::{StreamExt, stream};

use pieces::{Ending, Pieces};
use script::Script;
pub use script::ScriptError;
pub use turn::ScriptedTurn;
pub use violation::Violation;

/// A [`ChatModel`] that takes its replies from a script, one [`ScriptedTurn`] per request.
///
/// It checks every request as a strict provider does. It rejects a faulty one without using up a turn, and records it
/// in [`violations`](Self::violations). A request counts as made when its stream is first polled. A clone is another
/// handle to the same script.
///
/// ```
/// # use dormouse_contracts::{ChatRequest, Message, complete};
/// # use dormouse_testing::{ScriptedModel, ScriptedTurn};
/// # use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([ScriptedTurn::call("say", json!({"message": "Hello!"}))]);
/// let request = ChatRequest {
///     messages: vec![Message::User { content: "Hello?".to_owned() }],
///     ..ChatRequest::default()
/// };
/// let reply = complete(&model, &request).await?;
/// assert_eq!(reply.tool_calls[0].arguments, r#"{"message":"Hello!"}"#);
/// assert_eq!(model.requests(), [request]);
/// model.assert_finished();
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedModel {
    provider: ProviderId,
    model: ModelName,
    script: Arc<Mutex<Script>>,
}

impl ScriptedModel {
    /// A model that answers with these turns, in order, and rejects every request after them.
    #[must_use]
    pub fn new(turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        let turns = turns.into_iter().map(Arc::new).collect();
        Self {
            provider: ProviderId::try_new("scripted").unwrap(),
            model: ModelName::try_new("scripted").unwrap(),
            script: Arc::new(Mutex::new(Script::new(turns))),
        }
    }

    /// A model that answers every request with the same turn.
    #[must_use]
    pub fn looping(turn: ScriptedTurn) -> Self {
        Self::new([]).then_for_ever(turn)
    }

    /// Sets the answer to every request after the end of the script.
    #[must_use]
    pub fn then_for_ever(self, turn: ScriptedTurn) -> Self {
        self.script().for_ever = Some(Arc::new(turn));
        self
    }

    /// Appends a turn to the script.
    pub fn push(&self, turn: ScriptedTurn) {
        self.script().push(Arc::new(turn));
    }

    /// Every request so far, including rejected ones, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script().requests.clone()
    }

    /// How many turns of the script are not used yet. The answer after its end does not count.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.script().turns.len()
    }

    /// All faults of the requests so far, in order.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        self.script().violations.clone()
    }

    /// Checks that every turn was used, and that every request was valid.
    ///
    /// # Panics
    ///
    /// If a turn was not used, if there were more requests than turns, or if a request was wrong.
    #[track_caller]
    pub fn assert_finished(&self) {
        let script = self.script();
        let (unused, unscripted) = (script.turns.len(), script.unscripted);
        let violations = script.violations.clone();
        // The lock is released first, so that a failed check does not poison it for the other handles.
        drop(script);
        assert!(violations.is_empty(), "wrong requests: {violations:?}");
        assert_eq!(unscripted, 0, "requests after the end of the script");
        assert_eq!(unused, 0, "turns of the script that were not used");
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refusal(&self, error: ScriptError) -> ModelError {
        let provider = self.provider.clone();
        ModelError::new(provider, ModelErrorKind::Refused, Some(Box::new(error)))
    }

    async fn answer(&self, request: &ChatRequest) -> Result<Pieces, ModelError> {
        let turn = self.script().take(request);
        let turn = turn.map_err(|error| self.refusal(error))?;
        // The turn runs without the lock, because it may wait for long, and its function may use this model.
        Ok(self.play(&turn, request).await)
    }

    fn play<'a>(
        &'a self,
        turn: &'a ScriptedTurn,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Pieces> {
        Box::pin(async move {
            match turn {
                ScriptedTurn::With(decide) => self.play(&decide(request), request).await,
                ScriptedTurn::Wait(gate, turn) => {
                    gate.passed().await;
                    self.play(turn, request).await
                }
                ScriptedTurn::Calls(calls) => {
                    let first = self.script().reserve(calls.len(), request);
                    pieces::pieces(turn, request, first)
                }
                other => pieces::pieces(other, request, 0),
            }
        })
    }
}

impl ChatModel for ScriptedModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let answer = stream::once(self.answer(request));
        Box::pin(answer.flat_map(|answer| {
            let (pieces, ending) = match answer {
                Ok((pieces, ending)) => {
                    let failed = |kind| ModelError::new(self.provider.clone(), kind, None);
                    let pieces = pieces.into_iter().map(|piece| piece.map_err(failed));
                    (pieces.collect(), ending)
                }
                Err(refusal) => (vec![Err(refusal)], Ending::Ends),
            };
            stream::iter(pieces).chain(match ending {
                Ending::Ends => stream::empty().left_stream(),
                Ending::Hangs => stream::pending().right_stream(),
            })
        }))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}

#[cfg(test)]
mod tests;
