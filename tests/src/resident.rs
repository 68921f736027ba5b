//! An assistant that lives in the test's own process.

use dormouse_contracts::{Perception, ToolSpec};
use dormouse_engine::{Accepted, Assistant, AssistantConfig, Handle, Ports, Rest, RunError};
use tokio::{task::JoinSet, time::timeout};

use crate::LIMIT;

/// An assistant that is running. Dropping it is a crash.
#[derive(Debug)]
pub struct Resident {
    handle: Handle,
    run: JoinSet<Result<(), RunError>>,
}

impl Resident {
    /// Wakes an assistant and lets it run.
    ///
    /// # Panics
    ///
    /// If it cannot be woken.
    pub async fn wake(config: AssistantConfig, tools: Vec<ToolSpec>, ports: Ports) -> Self {
        let woken = Assistant::wake(config, tools, ports).await;
        let (assistant, handle) = woken.expect("the assistant wakes");
        let mut run = JoinSet::new();
        run.spawn(assistant.run());
        Self { handle, run }
    }

    /// How to talk to it.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Hands a message over.
    ///
    /// # Panics
    ///
    /// If it is not accepted.
    pub async fn hear(&self, perception: Perception) -> Accepted {
        let accepted = self.handle.perceive(perception).await;
        accepted.expect("the message is accepted")
    }

    /// Waits until everything accepted has been dealt with.
    ///
    /// # Panics
    ///
    /// If that takes longer than [`LIMIT`].
    pub async fn rest(&self) -> Rest {
        let rest = timeout(LIMIT, self.handle.at_rest()).await;
        rest.expect("the assistant comes to rest")
    }

    /// Lets it end and save its snapshot.
    ///
    /// # Panics
    ///
    /// If it does not end well within [`LIMIT`].
    pub async fn end(mut self) {
        self.handle.shut_down().await;
        let ended = timeout(LIMIT, self.run.join_next()).await;
        let ended = ended.expect("the assistant ends").expect("it was running");
        ended
            .expect("its task is not cancelled")
            .expect("the assistant ends well");
    }
}
