//! An assistant that lives in the test's own process.

use std::{fmt, sync::Arc};

use dormouse_contracts::{AssistantId, EventLog, Perception, Seq, TokenCounter, ToolSpec};
use dormouse_engine::{
    Accepted, Assistant, AssistantConfig, Handle, Ports, Rest, RunError, decide_again,
};
use tokio::{task::JoinSet, time::timeout};

use crate::LIMIT;

/// An assistant that is running. Dropping it is a crash.
pub struct Resident {
    key: AssistantId,
    log: Arc<dyn EventLog>,
    counter: Arc<dyn TokenCounter>,
    handle: Handle,
    run: JoinSet<Result<(), RunError>>,
}

impl fmt::Debug for Resident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resident")
            .field("key", &self.key)
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

impl Resident {
    /// Wakes an assistant and lets it run.
    ///
    /// # Panics
    ///
    /// If it cannot be woken.
    pub async fn wake(config: AssistantConfig, tools: Vec<ToolSpec>, ports: Ports) -> Self {
        let key = config.key.clone();
        let (log, counter) = (ports.log.clone(), ports.counter.clone());
        let woken = Box::pin(Assistant::wake(config, tools, ports)).await;
        let (assistant, handle) = woken.expect("the assistant wakes");
        let mut run = JoinSet::new();
        run.spawn(assistant.run());
        Self {
            key,
            log,
            counter,
            handle,
            run,
        }
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

    /// Lets it end and save its snapshot, and decides its life again.
    ///
    /// # Panics
    ///
    /// If a decision of its life is different when it is made again, or if it does not end well within [`LIMIT`].
    pub async fn end(mut self) {
        self.put_away().await;
        let counter = |_: &_| self.counter.clone();
        let again = decide_again(&*self.log, &self.key, Seq(u64::MAX), counter).await;
        again.expect("every decision follows from the log");
    }

    /// Lets it end and save its snapshot. What it did is not compared with anything: after each visit of a long life, that
    /// would read the life from its beginning again.
    ///
    /// # Panics
    ///
    /// If it does not end well within [`LIMIT`].
    pub async fn put_away(&mut self) {
        self.handle.shut_down().await;
        let ended = timeout(LIMIT, self.run.join_next()).await;
        let ended = ended.expect("the assistant ends").expect("it was running");
        ended
            .expect("its task is not cancelled")
            .expect("the assistant ends well");
    }
}
