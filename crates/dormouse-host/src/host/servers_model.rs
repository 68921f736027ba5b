//! The model that servers of tools may ask while an assistant calls them.

use std::{future::pending, sync::Weak};

use dormouse_contracts::{
    Append, AssistantId, BoxError, BoxFuture, ChatReply, ChatRequest, ModelName, complete,
};
use dormouse_engine::{Event, Handle, OverBudget, State, append_decided, reserve_for_server};
use dormouse_mcp::ModelForServers;
use dormouse_providers::count_request;
use dormouse_resilience::deadline;

use super::{Shared, error::HostError};
use crate::{roster, tail::Tail};

/// The models of a host, within the budgets of the process and of the assistant.
pub(super) struct ServersModel {
    /// The host owns the servers that ask.
    pub(super) shared: Weak<Shared>,
}

/// Why a server does not get a reply.
#[derive(Debug, thiserror::Error)]
enum NotAsked {
    #[error("the emergency stop of the assistant is on")]
    Stopped,
    #[error("the model did not answer in time")]
    Late,
}

impl ModelForServers for ServersModel {
    fn write<'a>(
        &'a self,
        assistant: &'a AssistantId,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<(ModelName, ChatReply), BoxError>> {
        Box::pin(async move {
            let shared = self.shared.upgrade().ok_or(HostError::Closed)?;
            let handle = shared.if_awake(assistant).await;
            // From here on no stop is missed.
            let tail = handle
                .as_ref()
                .map(|handle| Tail::of_running(&shared.log, assistant, handle));
            let bounded = shared.reserved(assistant, handle.as_ref(), request).await?;
            let model = &*shared.models.model;
            let reply = deadline(shared.models.timeout, complete(model, &bounded));
            let reply = tokio::select! {
                biased;
                () = stopped(tail) => return Err(NotAsked::Stopped.into()),
                reply = reply => reply.map_err(|_late| NotAsked::Late)??,
            };
            Ok((model.identity().1.clone(), reply))
        })
    }
}

/// Waits until the emergency stop of the assistant is on, or the assistant ends. After that nobody waits for the call.
async fn stopped(tail: Option<Tail>) {
    let Some(mut tail) = tail else {
        return pending().await;
    };
    while let Ok(Some(recorded)) = tail.next().await {
        if let Event::EmergencyStopTriggered(_) = recorded.event {
            return;
        }
    }
}

impl Shared {
    /// The request, limited to what is reserved for it in the log of the assistant, if it has a budget.
    async fn reserved(
        &self,
        assistant: &AssistantId,
        handle: Option<&Handle>,
        request: &ChatRequest,
    ) -> Result<ChatRequest, BoxError> {
        let prompt = count_request(&*self.models.counter, request).total();
        let reply = request.max_tokens.unwrap_or_default();
        let log: &dyn Append = match handle {
            Some(handle) => handle,
            None => &self.log,
        };
        let look = || async {
            let awake = match handle {
                Some(handle) => handle.inspect().await,
                None => None,
            };
            match awake {
                Some(state) => Ok::<State, BoxError>(state),
                None => Ok(roster::known(&self.log, assistant).await?),
            }
        };
        let decide = |state: &State| {
            if state.stop.is_on() {
                return Err(NotAsked::Stopped.into());
            }
            let reserved = reserve_for_server(state, prompt, reply, self.clock.now());
            let reserved = reserved.map_err(|error: OverBudget| BoxError::from(error))?;
            Ok(reserved.map(Event::CallReserved).into_iter().collect())
        };
        let decided = append_decided(log, assistant, &*self.clock, look, decide).await?;
        let mut bounded = request.clone();
        if let Some(Event::CallReserved(reserved)) = decided.events.first() {
            bounded.max_tokens = Some(reserved.reply_tokens);
        }
        Ok(bounded)
    }
}
