//! Talking to a running assistant.

use std::sync::Arc;

use dormouse_classify::Classification;
use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, BoxFuture, Perception, Seq, Timestamp,
    Trust,
};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    beats::Beats,
    event::{ApprovalAnswered, StopCause},
    state::{Pause, State},
    status::{Activity, Status},
};

/// The result of handing over a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accepted {
    /// It is on disk and will be handled according to its classification.
    Logged {
        /// Its place in the log.
        seq: Seq,
        /// How it is classified.
        classification: Classification,
        /// How far it is believed.
        trust: Trust,
    },
    /// The assistant does not react to it, and nothing was written.
    Ignored {
        /// How it is classified, and by which rule.
        classification: Classification,
    },
    /// Its sender says too much: it is only counted.
    Dropped {
        /// How it is classified.
        classification: Classification,
    },
    /// It was accepted before, and nothing was written.
    Duplicate,
}

/// Why a message was not accepted. It was not written, and may be sent again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PerceiveError {
    /// Too many messages wait for an answer.
    #[error("{waiting} messages wait for an answer already: send this one again later")]
    Full {
        /// How many wait.
        waiting: usize,
    },
    /// The log cannot be written at the moment.
    #[error("the log cannot be written at the moment ({cause}): send this one again later")]
    Storage {
        /// Why: which file, and what the operating system says.
        cause: String,
    },
    /// An earlier delivery of the same world was refused. Duplicates are recognised by their number, so the refused one
    /// has to be accepted first.
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
    /// The name of the person who clears it is blank.
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

/// No retry was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RetryError {
    /// The name of the person who requests it is blank.
    #[error("say who wants the model to be asked again")]
    Unnamed,
    /// Nothing waits for the model: it may be asked already.
    #[error("nothing waits for the model: there is no pause to end")]
    NotWaiting,
    /// The log cannot be written at the moment.
    #[error("the log cannot be written at the moment: try again later")]
    Storage,
    /// The assistant is not running.
    #[error("the assistant is not running")]
    Gone,
}

/// Nothing was stopped: the emergency stop is on already, or the assistant is not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopError {
    /// The name of the person who stops it is blank.
    #[error("say who triggers the emergency stop")]
    Unnamed,
    /// It is stopped already.
    #[error("the emergency stop is already on")]
    AlreadyOn,
    /// The log cannot be written at the moment.
    #[error("the log cannot be written at the moment: try again later")]
    Storage,
    /// The assistant is not running.
    #[error("the assistant is not running")]
    Gone,
}

/// An act was neither confirmed nor refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The name of the person who answers is blank.
    #[error("say who confirms or refuses it")]
    Unnamed,
    /// No act with this number waits for an answer: it never did, was answered, or is too old.
    #[error(
        "no act {0} waits to be confirmed: it was answered, is too old, or was never asked for"
    )]
    NotWaiting(Seq),
    /// The log cannot be written at the moment.
    #[error("the log cannot be written at the moment: try again later")]
    Storage,
    /// The assistant is not running.
    #[error("the assistant is not running")]
    Gone,
}

/// The history was not reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResetError {
    /// The name of the person who resets it is blank.
    #[error("say who resets the history")]
    Unnamed,
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
    /// Every accepted message has been handled.
    Settled,
    /// The emergency stop is on; accepted messages wait in the log.
    Stopped(StopCause),
    /// Its model or its world cannot be reached for now; accepted messages wait, and resume without help.
    Waiting,
    /// It is switched off; accepted messages wait in the log.
    Disabled,
    /// Its budgets allow no further call of its model before this moment; accepted messages wait, and resume without help.
    OverBudget(Timestamp),
    /// The services of its model asked for a pause; accepted messages wait in the log, and resume without help.
    Paused(Pause),
    /// It is not running any more.
    Gone,
}

#[derive(Debug)]
pub(crate) enum Command {
    Perceive(
        Box<Perception>,
        oneshot::Sender<Result<Accepted, PerceiveError>>,
    ),
    /// Who stops it, and why.
    Stop(String, String, oneshot::Sender<Result<(), StopError>>),
    AnswerApproval(ApprovalAnswered, oneshot::Sender<Result<(), ApprovalError>>),
    ResetHistory(String, oneshot::Sender<Result<(), ResetError>>),
    ClearStop(String, oneshot::Sender<Result<(), ClearError>>),
    Retry(String, oneshot::Sender<Result<(), RetryError>>),
    Append(
        Box<AppendRequest>,
        oneshot::Sender<Result<Seq, AppendError>>,
    ),
    Inspect(oneshot::Sender<State>),
    Shutdown,
    PutAway,
}

/// A handle to a running assistant. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) status: watch::Receiver<Status>,
    pub(crate) beats: Arc<Beats>,
}

impl Handle {
    /// Hands a message over. If this returns `Logged`, the message is on disk and survives a crash; it will be answered
    /// once. Dropping the future may leave the message accepted or not; sending it again is safe, because a delivery is
    /// recognised by its number. Hand over the deliveries of one world in order, from one task: a delivery that arrives
    /// after a later one counts as a duplicate.
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

    /// Sends a command and waits for its answer; nothing if the assistant is not running.
    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.ok()?;
        answer.await.ok()
    }

    /// Triggers the emergency stop in the name of `stopped_by`, for a `reason` that may be blank. When this returns, the
    /// stop is on disk and the work under way has ended; messages are accepted and kept until somebody clears the stop.
    /// The assistant then says once that it is stopped ([`AssistantConfig::stop_notice`]).
    ///
    /// [`AssistantConfig::stop_notice`]: crate::AssistantConfig::stop_notice
    ///
    /// # Errors
    ///
    /// [`StopError`]; the assistant continues as before.
    pub async fn stop(
        &self,
        stopped_by: impl Into<String>,
        reason: impl Into<String>,
    ) -> Result<(), StopError> {
        let (stopped_by, reason) = (stopped_by.into(), reason.into());
        if stopped_by.trim().is_empty() {
            return Err(StopError::Unnamed);
        }
        let answer = self
            .ask(|reply| Command::Stop(stopped_by, reason, reply))
            .await;
        answer.unwrap_or(Err(StopError::Gone))
    }

    /// Confirms or refuses an act that waits for confirmation. The assistant handles the answer like a message.
    ///
    /// # Errors
    ///
    /// [`ApprovalError`]; the act waits as before.
    pub async fn answer_approval(&self, answered: ApprovalAnswered) -> Result<(), ApprovalError> {
        if answered.by.trim().is_empty() {
            return Err(ApprovalError::Unnamed);
        }
        let answer = self
            .ask(|reply| Command::AnswerApproval(answered, reply))
            .await;
        answer.unwrap_or(Err(ApprovalError::Gone))
    }

    /// Resets the history in the name of `reset_by`: prompts show no earlier turn, errors from before do not count, and the
    /// emergency stop is cleared if it is on. Log and memory keep everything.
    ///
    /// # Errors
    ///
    /// [`ResetError`]; everything is as it was.
    pub async fn reset_history(&self, reset_by: impl Into<String>) -> Result<(), ResetError> {
        let reset_by = reset_by.into();
        if reset_by.trim().is_empty() {
            return Err(ResetError::Unnamed);
        }
        let answer = self
            .ask(|reply| Command::ResetHistory(reset_by, reply))
            .await;
        answer.unwrap_or(Err(ResetError::Gone))
    }

    /// Clears the emergency stop in the name of `cleared_by`. Waiting messages continue at once.
    ///
    /// # Errors
    ///
    /// [`ClearError`]; the stop is as it was.
    pub async fn clear_stop(&self, cleared_by: impl Into<String>) -> Result<(), ClearError> {
        let cleared_by = cleared_by.into();
        if cleared_by.trim().is_empty() {
            return Err(ClearError::Unnamed);
        }
        let answer = self
            .ask(|reply| Command::ClearStop(cleared_by, reply))
            .await;
        answer.unwrap_or(Err(ClearError::Gone))
    }

    /// Ends every pause that services of the model asked for, and the wait after a failure, in the name of
    /// `requested_by`. Waiting messages continue at once. This does not affect other reasons not to call a service,
    /// such as a guard around it.
    ///
    /// # Errors
    ///
    /// [`RetryError`]; everything is as it was.
    pub async fn retry(&self, requested_by: impl Into<String>) -> Result<(), RetryError> {
        let requested_by = requested_by.into();
        if requested_by.trim().is_empty() {
            return Err(RetryError::Unnamed);
        }
        let answer = self.ask(|reply| Command::Retry(requested_by, reply)).await;
        answer.unwrap_or(Err(RetryError::Gone))
    }

    /// Appends events of an operator to its log, in order with its own: changes of its memory, and of what it knows about
    /// people and things. Nobody else may append to the log of an assistant that runs.
    ///
    /// # Errors
    ///
    /// [`AppendErrorKind::Conflict`] if it has written since `expected`: it is on disk, so read it and decide again.
    /// [`AppendErrorKind::Unacceptable`] for an event that only the assistant may write, [`AppendErrorKind::Closed`] if the
    /// assistant is not running, and [`AppendErrorKind::Unknown`] if its log did not say whether it has them: the same request finds
    /// out. Nothing was written otherwise.
    pub async fn append(&self, request: AppendRequest) -> Result<Seq, AppendError> {
        let request = Box::new(request);
        let answer = self.ask(|reply| Command::Append(request, reply)).await;
        answer.unwrap_or_else(|| Err(AppendError::new(AppendErrorKind::Closed, None)))
    }

    /// A copy of the whole state, or nothing if the assistant is not running.
    pub async fn inspect(&self) -> Option<State> {
        self.ask(Command::Inspect).await
    }

    /// The present status of the assistant.
    #[must_use]
    pub fn status(&self) -> Status {
        Status {
            skipped: self.beats.skipped(),
            ..self.status.borrow().clone()
        }
    }

    /// Waits until the status changes, and returns it; `None` if the assistant is not running any more.
    pub async fn status_changed(&mut self) -> Option<Status> {
        self.status.changed().await.ok()?;
        self.status.mark_unchanged();
        Some(self.status())
    }

    /// Waits until an event after this one is on disk; false if the assistant is not running any more. Costs much less than
    /// looking at each status.
    pub async fn has_written_after(&mut self, seq: Seq) -> bool {
        let written = self.status.wait_for(|status| status.seq > seq).await;
        written.is_ok()
    }

    /// Waits until every message accepted so far has been handled, or cannot be handled for now. A stopped assistant is
    /// at rest once it has announced the stop in its world.
    pub async fn at_rest(&self) -> Rest {
        let mut status = self.status.clone();
        let rest = status
            .wait_for(|status| match status.activity {
                Activity::Stopped(_) => !status.is_announcing,
                Activity::Disabled | Activity::Paused(_) | Activity::OverBudget { .. } => true,
                _ => status.waiting == 0 || status.is_out,
            })
            .await;
        match rest {
            Err(_) => Rest::Gone,
            Ok(status) => match &status.activity {
                Activity::Stopped(cause) => Rest::Stopped(cause.clone()),
                Activity::Disabled => Rest::Disabled,
                Activity::Paused(pause) => Rest::Paused(pause.clone()),
                Activity::OverBudget { until } => Rest::OverBudget(*until),
                _ if status.waiting > 0 => Rest::Waiting,
                _ => Rest::Settled,
            },
        }
    }

    /// Asks the assistant to save a snapshot and end. Work under way is dropped; the next start resumes it.
    pub async fn shut_down(&self) {
        // An assistant that has ended already needs no asking.
        drop(self.commands.send(Command::Shutdown).await);
    }

    /// The same, for an assistant that is to wake again. Its memory is not brought to the end of the log, and it saves no snapshot
    /// if the last one is only a few events older: the next start reads these events anyway.
    pub async fn put_away(&self) {
        drop(self.commands.send(Command::PutAway).await);
    }
}

/// The log of a running assistant, for operators. It writes itself what is appended.
impl Append for Handle {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(self.append(request))
    }
}
