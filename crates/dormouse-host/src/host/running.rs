//! A running assistant: its actor, the pump of its perceptions, and learning from its models.

use std::sync::Arc;

use dormouse_contracts::BoxFuture;
use dormouse_engine::{Assistant, Event, Handle, RunError};
use tokio::{
    sync::watch,
    task::{AbortHandle, JoinError, JoinSet},
};

use super::Shared;
use crate::{
    pump::{Pump, PumpError, Pumped},
    tail::Tail,
};

/// The tasks of one assistant. Dropping this ends all of them at once, as a crash would.
#[derive(Debug)]
pub struct Running {
    tasks: JoinSet<Ended>,
    pump: AbortHandle,
    carrier: AbortHandle,
    pumped: watch::Receiver<Pumped>,
    handle: Handle,
}

/// Which task has ended.
#[derive(Debug)]
enum Ended {
    Assistant(Result<(), RunError>),
    Pump(Result<(), PumpError>),
    /// The task that follows the log.
    Follower,
}

/// Why an assistant has ended although nobody asked it to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndedError {
    /// Events can no longer be appended to its log.
    #[error("the assistant has ended")]
    Assistant(#[from] RunError),
    /// What its character perceives cannot be delivered any more.
    #[error("messages could not be handed to the assistant")]
    Pump(#[from] PumpError),
    /// One of its tasks panicked.
    #[error("a part of the program has failed")]
    Task(#[source] JoinError),
    /// Somebody asked it to end.
    #[error("the assistant ended unexpectedly")]
    Asked,
}

impl Running {
    pub(super) fn start(
        shared: &Arc<Shared>,
        (assistant, handle): (Assistant, Handle),
        (pump, pumped): (Pump, watch::Receiver<Pumped>),
        (events, carrier): (Tail, BoxFuture<'static, ()>),
    ) -> Self {
        let mut tasks = JoinSet::new();
        let living = Box::pin(assistant.run());
        tasks.spawn(async { Ended::Assistant(living.await) });
        let pump = tasks.spawn(async { Ended::Pump(pump.run().await) });
        let carrier = tasks.spawn(async {
            carrier.await;
            Ended::Follower
        });
        let shared = Arc::clone(shared);
        tasks.spawn(async move {
            learn(&shared, events).await;
            Ended::Follower
        });
        Self {
            tasks,
            pump,
            carrier,
            pumped,
            handle,
        }
    }

    /// How many of its perceptions were handed over.
    #[must_use]
    pub fn pumped(&self) -> watch::Receiver<Pumped> {
        self.pumped.clone()
    }

    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits until a task has ended that should keep running. Dropping the future has no effect.
    pub async fn failed(&mut self) -> EndedError {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Ended::Assistant(Err(error)))) => return error.into(),
                Some(Ok(Ended::Pump(Err(error)))) => return error.into(),
                Some(Err(error)) => return EndedError::Task(error),
                Some(Ok(Ended::Assistant(Ok(())))) | None => return EndedError::Asked,
                // These end when the assistant does; its own result says why.
                Some(Ok(Ended::Pump(Ok(())) | Ended::Follower)) => {}
            }
        }
    }

    /// Stops handing over perceptions. The remaining ones come again at the next start.
    pub(super) fn stop_perceiving(&self) {
        self.pump.abort();
    }

    /// Asks the assistant to end. Waits until it has saved its snapshot, and until all its replies have been used for
    /// learning.
    pub async fn end(self) {
        self.stop_carrying();
        self.handle.shut_down().await;
        self.ended().await;
    }

    /// The same, for an assistant that is to wake again. Its memory may be behind the log.
    pub(super) async fn put_away(self) {
        self.stop_carrying();
        self.handle.put_away().await;
        self.ended().await;
    }

    fn stop_carrying(&self) {
        // The pump waits for the world, which may report nothing more.
        self.stop_perceiving();
        // The carrier may wait for another assistant that is ending, too. What it did not carry is carried when one of
        // the two wakes.
        self.carrier.abort();
    }

    async fn ended(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            match ended {
                Ok(Ended::Assistant(Err(error))) => {
                    tracing::error!(%error, "the assistant ended with an error");
                }
                Err(error) if !error.is_cancelled() => {
                    tracing::error!(%error, "a part of the program has failed");
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// Learns from each reply in the log, until the assistant has ended.
pub(super) async fn learn(shared: &Shared, mut events: Tail) {
    loop {
        match events.next_of(|kind| kind == "replied").await {
            Ok(Some(recorded)) => {
                if let Event::Replied(replied) = &recorded.event {
                    shared.learn(replied, recorded.at);
                }
            }
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "nothing more is learnt about models until the assistant is woken again");
                break;
            }
        }
    }
    shared.save_learnt();
}
