//! The tasks that run next to the player's input: the assistant, its perceptions, and the notices about both.

use std::sync::Arc;

use dormouse_engine::{Assistant, Handle, Recorded, RunError};
use dormouse_providers::ModelSwitch;
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};

use super::{
    error::PlayError,
    event_notices::{self, Addressee},
    memory_notices::MemoryNotices,
    pump::{Pump, PumpError},
    terminal,
};
use crate::{describe, dialects::Learning, item::Item, screen::Screen};

/// The running tasks. Dropping this ends all of them at once, as a crash would.
#[derive(Debug)]
pub(super) struct Tasks {
    set: JoinSet<Ended>,
    pump: AbortHandle,
}

/// What has ended.
#[derive(Debug)]
enum Ended {
    Assistant(Result<(), RunError>),
    Pump(Result<(), PumpError>),
    Notices,
}

impl Tasks {
    /// Starts the assistant, the pump, and the printing of events.
    pub(super) fn start(
        assistant: Assistant,
        pump: Pump,
        events: mpsc::Receiver<Arc<Recorded>>,
        (addressee, learning, memory): (Addressee, Option<Learning>, MemoryNotices),
        screen: Screen,
    ) -> Self {
        let mut set = JoinSet::new();
        set.spawn(async { Ended::Assistant(assistant.run().await) });
        let pump = set.spawn(async { Ended::Pump(pump.run().await) });
        set.spawn(async move {
            event_notices::print_events(events, addressee, learning, memory, screen).await;
            Ended::Notices
        });
        Self { set, pump }
    }

    /// Also says when the assistant is thinking, for a player at a terminal.
    pub(super) fn follow_status(&mut self, handle: Handle, name: String, screen: Screen) {
        self.set.spawn(async move {
            terminal::follow_status(handle, &name, screen).await;
            Ended::Notices
        });
    }

    /// Prints that the answer takes longer, once for each wait. `busy` is printed while a call is under way.
    pub(super) fn report_slowness(
        &mut self,
        mut handle: Handle,
        name: String,
        busy: String,
        screen: Screen,
    ) {
        self.set.spawn(async move {
            let mut reported = None;
            loop {
                let status = handle.status();
                if status.slow_since.is_some() && status.slow_since != reported {
                    let held = describe::held(&name, &status);
                    let text = held.unwrap_or_else(|| busy.clone());
                    screen.show(Item::Notice { text }).await;
                }
                reported = status.slow_since;
                if handle.status_changed().await.is_none() {
                    return Ended::Notices;
                }
            }
        });
    }

    /// Says when the log cannot be written, and when it can be written again.
    pub(super) fn report_stalls(&mut self, mut handle: Handle, name: String, screen: Screen) {
        self.set.spawn(async move {
            let mut was_stalled = false;
            loop {
                let stall = event_notices::log_stall(&handle.status().activity, &name, was_stalled);
                if let Some(text) = stall {
                    was_stalled = !was_stalled;
                    screen.show(Item::Notice { text }).await;
                }
                if handle.status_changed().await.is_none() {
                    return Ended::Notices;
                }
            }
        });
    }

    /// Says when another model answers than before.
    pub(super) fn report_switches(
        &mut self,
        mut switches: mpsc::UnboundedReceiver<ModelSwitch>,
        screen: Screen,
    ) {
        self.set.spawn(async move {
            while let Some(switch) = switches.recv().await {
                let text = describe::switch(&switch);
                screen.show(Item::Notice { text }).await;
            }
            Ended::Notices
        });
    }

    /// Waits until a task has ended that should keep running.
    pub(super) async fn failed(&mut self) -> PlayError {
        loop {
            match self.set.join_next().await {
                Some(Ok(Ended::Assistant(Err(error)))) => return error.into(),
                Some(Ok(Ended::Pump(Err(error)))) => return error.into(),
                Some(Err(error)) => return PlayError::Task(error),
                Some(Ok(Ended::Assistant(Ok(())))) | None => return PlayError::Ended,
                // These tasks end when the assistant does; its own result says why.
                Some(Ok(Ended::Pump(Ok(())) | Ended::Notices)) => {}
            }
        }
    }

    /// Waits until the assistant, which was asked to end, has ended and its events are printed.
    pub(super) async fn end(&mut self) {
        // The pump waits for the world, which may report nothing more. Perceptions that were not handed over come again
        // at the next start.
        self.pump.abort();
        while let Some(ended) = self.set.join_next().await {
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
