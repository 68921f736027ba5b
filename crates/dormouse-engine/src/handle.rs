//! Talking to a running assistant.

use dormouse_classify::Classification;
use dormouse_contracts::{Perception, Seq, Trust};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    event::StopCause,
    state::State,
    status::{Activity, Status},
};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accepted {
    /// It is on disk, at this place, and will be dealt with by its classification.
    Logged {
        /// Its place in the log.
        seq: Seq,
        /// What it is to the assistant.
        classification: Classification,
        /// How far it is believed.
        trust: Trust,
    },
    /// It is nothing to the assistant, and nothing was written.
    Ignored {
        /// What it is to the assistant, and by which rule.
        classification: Classification,
    },
    /// It was accepted before, and nothing was written.
    Duplicate,
}

/// Why a message was not accepted. It was not written, and may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PerceiveError {
    /// Too many messages wait for an answer.
    #[error("{waiting} messages wait for an answer already: send this one again later")]
    Full {
        /// How many wait.
        waiting: usize,
    },
    /// The log cannot be written at the moment.
    #[error("the log cannot be written at the moment: send this one again later")]
    Storage,
    /// An earlier delivery of the same world was refused. Duplicates are known by their number, so that one has to
    /// be accepted first.
    #[error("delivery {refused} was refused before this one: send that one again first")]
    Behind {
        /// The number of the delivery that was refused.
        refused: u64,
    },
    /// The assistant is not running.
    #[error("the assistant is not running")]
    Gone,
}

/// Nothing was cleared: the emergency stop is not on, or the assistant is not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClearError {
    /// Nobody is named as the one who clears it.
    #[error("say who clears the emergency stop")]
    Unnamed,
    /// There is nothing to clear.
    #[error("the emergency stop is not active")]
    NotActive,
    /// The log cannot be written at the moment.
    #[error("the log cannot be written at the moment: try again later")]
    Storage,
    /// The assistant is not running.
    #[error("the assistant is not running")]
    Gone,
}

/// How an assistant came to rest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rest {
    /// Every accepted message has been dealt with.
    Settled,
    /// The emergency stop is on; accepted messages wait in the log.
    Stopped(StopCause),
    /// It is switched off; accepted messages wait in the log.
    Disabled,
    /// It is not running any more.
    Gone,
}

#[derive(Debug)]
pub(crate) enum Command {
    Perceive(
        Box<Perception>,
        oneshot::Sender<Result<Accepted, PerceiveError>>,
    ),
    ClearStop(String, oneshot::Sender<Result<(), ClearError>>),
    Inspect(oneshot::Sender<State>),
    Shutdown,
}

/// A running assistant, to whoever talks to it. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) status: watch::Receiver<Status>,
}

impl Handle {
    /// Hands a message over. When this answers `Logged`, the message is on disk and survives a crash; it will be
    /// answered once. Dropping the future may leave the message accepted or not; sending it again is safe, since a
    /// delivery is known by its number. Hand over the deliveries of one world in their order, from one task: one that
    /// comes after a later one counts as a duplicate.
    ///
    /// # Errors
    ///
    /// [`PerceiveError`]; the message was not accepted.
    pub async fn perceive(&self, perception: Perception) -> Result<Accepted, PerceiveError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Perceive(Box::new(perception), reply);
        if self.commands.send(command).await.is_err() {
            return Err(PerceiveError::Gone);
        }
        answer.await.unwrap_or(Err(PerceiveError::Gone))
    }

    /// Clears the emergency stop, saying who clears it. What was waiting goes on at once.
    ///
    /// # Errors
    ///
    /// [`ClearError`]; the stop is as it was.
    pub async fn clear_stop(&self, cleared_by: impl Into<String>) -> Result<(), ClearError> {
        let cleared_by = cleared_by.into();
        if cleared_by.trim().is_empty() {
            return Err(ClearError::Unnamed);
        }
        let (reply, answer) = oneshot::channel();
        if self
            .commands
            .send(Command::ClearStop(cleared_by, reply))
            .await
            .is_err()
        {
            return Err(ClearError::Gone);
        }
        answer.await.unwrap_or(Err(ClearError::Gone))
    }

    /// A copy of the whole state, or nothing if the assistant is not running.
    pub async fn inspect(&self) -> Option<State> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Inspect(reply)).await.ok()?;
        answer.await.ok()
    }

    /// The assistant at a glance, as it is now.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Waits until the status changes, and answers it; nothing if the assistant is not running any more.
    pub async fn status_changed(&mut self) -> Option<Status> {
        self.status.changed().await.ok()?;
        Some(self.status.borrow_and_update().clone())
    }

    /// Waits until every message accepted so far has been dealt with, or cannot be for now.
    pub async fn at_rest(&self) -> Rest {
        let mut status = self.status.clone();
        let rest = status
            .wait_for(|status| match status.activity {
                Activity::Stopped(_) | Activity::Disabled => true,
                _ => status.waiting == 0,
            })
            .await;
        match rest {
            Err(_) => Rest::Gone,
            Ok(status) => match &status.activity {
                Activity::Stopped(cause) => Rest::Stopped(cause.clone()),
                Activity::Disabled => Rest::Disabled,
                _ => Rest::Settled,
            },
        }
    }

    /// Asks the assistant to save a snapshot and end. What is under way is dropped, and taken up by the next start.
    pub async fn shut_down(&self) {
        // An assistant that has ended already needs no asking.
        drop(self.commands.send(Command::Shutdown).await);
    }
}
