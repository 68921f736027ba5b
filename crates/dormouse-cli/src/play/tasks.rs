//! The tasks that run next to the player's input: the assistant, its perceptions, and the notices about both.

use dormouse_contracts::{Perception, Seq};
use dormouse_engine::{Accepted, Handle};
use dormouse_host::{Tail, dialects::LearningNotice};
use dormouse_providers::ModelSwitch;
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        mpsc, watch,
    },
    task::JoinSet,
};

use super::{
    event_notices::{self, Addressee},
    memory_notices::MemoryNotices,
    terminal,
};
use crate::{
    describe, dialects,
    grammar::counted,
    item::{Item, Message},
    screen::Screen,
};

/// The tasks that print. Each of them ends when the assistant does. Dropping this ends all of them at once.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    printing: JoinSet<()>,
    /// The last event to print. Set at the end of a visit if the assistant keeps running.
    last: watch::Sender<Option<Seq>>,
}

impl Tasks {
    /// Prints what happens to the assistant.
    pub(super) fn print_events(
        &mut self,
        events: Tail,
        addressee: Addressee,
        memory: MemoryNotices,
        screen: Screen,
    ) {
        self.printing.spawn(event_notices::print_events(
            events,
            addressee,
            memory,
            screen,
            self.last.subscribe(),
        ));
    }

    /// Prints each message that an already running assistant accepts from now on.
    pub(super) fn print_accepted(
        &mut self,
        mut accepted: broadcast::Receiver<(Perception, Accepted)>,
        screen: Screen,
    ) {
        self.printing.spawn(async move {
            loop {
                match accepted.recv().await {
                    Ok((perception, accepted)) => {
                        if let Some(message) = Message::new(&perception, &accepted) {
                            screen.show(Item::Message(message)).await;
                        }
                    }
                    Err(RecvError::Lagged(missed)) => {
                        let missed =
                            counted(missed, "accepted message is", "accepted messages are");
                        let text =
                            format!("{missed} not shown, because the output is read too slowly.");
                        screen.show(Item::Notice { text }).await;
                    }
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }

    /// Prints what was learnt about models.
    pub(super) fn report_learning(
        &mut self,
        mut learnt: mpsc::UnboundedReceiver<LearningNotice>,
        screen: Screen,
    ) {
        self.printing.spawn(async move {
            while let Some(notice) = learnt.recv().await {
                let text = dialects::learning(&notice);
                screen.show(Item::Notice { text }).await;
            }
        });
    }

    /// Also says when the assistant is thinking, for a player at a terminal.
    pub(super) fn follow_status(&mut self, handle: Handle, name: String, screen: Screen) {
        self.printing.spawn(async move {
            terminal::follow_status(handle, &name, screen).await;
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
        self.printing.spawn(async move {
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
                    return;
                }
            }
        });
    }

    /// Prints when the log cannot be written, and when it can be written again.
    pub(super) fn report_stalls(&mut self, mut handle: Handle, name: String, screen: Screen) {
        self.printing.spawn(async move {
            let mut was_stalled = false;
            loop {
                let stall = event_notices::log_stall(&handle.status().activity, &name, was_stalled);
                if let Some(text) = stall {
                    was_stalled = !was_stalled;
                    screen.show(Item::Notice { text }).await;
                }
                if handle.status_changed().await.is_none() {
                    return;
                }
            }
        });
    }

    /// Prints when another model takes over.
    pub(super) fn report_switches(
        &mut self,
        mut switches: mpsc::UnboundedReceiver<ModelSwitch>,
        screen: Screen,
    ) {
        self.printing.spawn(async move {
            while let Some(switch) = switches.recv().await {
                let text = describe::switch(&switch);
                screen.show(Item::Notice { text }).await;
            }
        });
    }

    /// Waits until everything about the assistant is printed. The assistant has ended.
    pub(super) async fn end(mut self) {
        while let Some(ended) = self.printing.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a part of the program has failed");
            }
        }
    }

    /// Waits until everything up to this event is printed. The assistant keeps running.
    pub(super) async fn end_at(mut self, last: Seq) {
        self.last.send_replace(Some(last));
        // Only the task that prints events ends by itself.
        drop(self.printing.join_next().await);
    }
}
