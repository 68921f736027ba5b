//! What goes on besides the visit itself: the assistant's life, its senses, and telling about both.

use std::sync::Arc;

use dormouse_engine::{Assistant, Handle, Recorded, RunError};
use dormouse_providers::ModelSwitch;
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};

use super::{
    PlayError,
    pump::{Pump, PumpError},
    telling::{self, Audience},
    terminal,
};
use crate::{describe, dialects::Learning, item::Item, screen::Screen};

/// Everything that runs. Dropping it ends all of it at once, as a crash would.
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
    Telling,
}

impl Tasks {
    /// Lets the assistant live, and tells its events.
    pub(super) fn start(
        assistant: Assistant,
        pump: Pump,
        events: mpsc::Receiver<Arc<Recorded>>,
        (audience, learning): (Audience, Option<Learning>),
        screen: Screen,
    ) -> Self {
        let mut set = JoinSet::new();
        set.spawn(async { Ended::Assistant(assistant.run().await) });
        let pump = set.spawn(async { Ended::Pump(pump.run().await) });
        set.spawn(async move {
            telling::tell(events, audience, learning, screen).await;
            Ended::Telling
        });
        Self { set, pump }
    }

    /// Tells when the assistant takes its time, too, for somebody at a terminal.
    pub(super) fn follow_status(&mut self, handle: Handle, name: String, screen: Screen) {
        self.set.spawn(async move {
            terminal::follow_status(handle, &name, screen).await;
            Ended::Telling
        });
    }

    /// Prints that the answer takes longer, once for each wait. `busy` is printed while a call is under way.
    pub(super) fn tell_slow(
        &mut self,
        mut handle: Handle,
        name: String,
        busy: String,
        screen: Screen,
    ) {
        self.set.spawn(async move {
            let mut told = None;
            loop {
                let status = handle.status();
                if status.slow_since.is_some() && status.slow_since != told {
                    let held = describe::held(&name, &status);
                    let text = held.unwrap_or_else(|| busy.clone());
                    screen.show(Item::Notice { text }).await;
                }
                told = status.slow_since;
                if handle.status_changed().await.is_none() {
                    return Ended::Telling;
                }
            }
        });
    }

    /// Says when the log cannot be written, and when it can be again.
    pub(super) fn report_stalls(&mut self, mut handle: Handle, name: String, screen: Screen) {
        self.set.spawn(async move {
            let mut was_stalled = false;
            loop {
                let stall = telling::stall(&handle.status().activity, &name, was_stalled);
                if let Some(text) = stall {
                    was_stalled = !was_stalled;
                    screen.show(Item::Notice { text }).await;
                }
                if handle.status_changed().await.is_none() {
                    return Ended::Telling;
                }
            }
        });
    }

    /// Tells when another model answers than before.
    pub(super) fn tell_switches(
        &mut self,
        mut switches: mpsc::UnboundedReceiver<ModelSwitch>,
        screen: Screen,
    ) {
        self.set.spawn(async move {
            while let Some(switch) = switches.recv().await {
                let text = describe::switch(&switch);
                screen.show(Item::Notice { text }).await;
            }
            Ended::Telling
        });
    }

    /// Waits until something has ended that should go on.
    pub(super) async fn failed(&mut self) -> PlayError {
        loop {
            match self.set.join_next().await {
                Some(Ok(Ended::Assistant(Err(error)))) => return error.into(),
                Some(Ok(Ended::Pump(Err(error)))) => return error.into(),
                Some(Err(error)) => return PlayError::Task(error),
                Some(Ok(Ended::Assistant(Ok(())))) | None => return PlayError::Ended,
                // These end when the assistant does, whose own end says why.
                Some(Ok(Ended::Pump(Ok(())) | Ended::Telling)) => {}
            }
        }
    }

    /// Waits until the assistant, which was asked to, has ended, and everything is told.
    pub(super) async fn end(&mut self) {
        // It waits for the world, which may say nothing more. What it has not handed over comes at the next start.
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
