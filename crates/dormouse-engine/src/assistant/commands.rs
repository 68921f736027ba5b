//! The commands that a handle sends to a running assistant.

use std::ops::ControlFlow;

use dormouse_contracts::{AppendError, AppendErrorKind, AppendRequest, BoxError, Seq, StoredEvent};

use super::{Assistant, RunError, Saved, answer};
use crate::{
    clearing::{clear_stop, reset_history, trigger_stop},
    event::{ApprovalAnswered, Event, RetryRequested},
    handle::{ApprovalError, ClearError, Command, ResetError, RetryError, StopError},
    state::Approval,
    status::Activity,
};

impl Assistant {
    /// Carries out a command, and the commands that were taken from the mailbox with it.
    pub(super) async fn obey(&mut self, mut command: Command) -> Result<ControlFlow<()>, RunError> {
        loop {
            let next = match command {
                Command::Perceive(perception, reply) => self.hear((*perception, reply)).await?,
                Command::Stop(by, reason, reply) => {
                    let stopped = self.stop(by, reason).await?;
                    self.publish();
                    answer(reply, stopped);
                    None
                }
                Command::ClearStop(by, reply) => {
                    let cleared = self.clear_stop(&by).await?;
                    self.publish();
                    answer(reply, cleared);
                    None
                }
                Command::AnswerApproval(answered, reply) => {
                    let done = self.answer_approval(answered).await?;
                    self.publish();
                    answer(reply, done);
                    None
                }
                Command::ResetHistory(by, reply) => {
                    let reset = self.reset_history(&by).await?;
                    self.publish();
                    answer(reply, reset);
                    None
                }
                Command::Retry(by, reply) => {
                    let requested = self.request_retry(by).await?;
                    self.publish();
                    answer(reply, requested);
                    None
                }
                Command::Append(request, reply) => {
                    let appended = self.append(*request).await?;
                    self.publish();
                    answer(reply, appended);
                    None
                }
                Command::Inspect(reply) => {
                    self.flush().await?;
                    answer(reply, self.state.clone());
                    None
                }
                Command::Shutdown => return Ok(ControlFlow::Break(())),
                Command::PutAway => {
                    self.progress.is_put_away = true;
                    return Ok(ControlFlow::Break(()));
                }
            };
            match next {
                Some(next) => command = next,
                None => return Ok(ControlFlow::Continue(())),
            }
        }
    }

    async fn stop(
        &mut self,
        stopped_by: String,
        reason: String,
    ) -> Result<Result<(), StopError>, RunError> {
        let Some(event) = trigger_stop(&self.state, &stopped_by, &reason) else {
            return Ok(Err(StopError::AlreadyOn));
        };
        self.note_waking();
        Ok(match self.commit(vec![event]).await? {
            Saved::Yes => Ok(()),
            Saved::No => Err(StopError::Storage),
        })
    }

    async fn clear_stop(&mut self, cleared_by: &str) -> Result<Result<(), ClearError>, RunError> {
        let Some(event) = clear_stop(&self.state, cleared_by) else {
            return Ok(Err(ClearError::NotActive));
        };
        Ok(match self.commit_and_go_on(vec![event]).await? {
            Saved::Yes => Ok(()),
            Saved::No => Err(ClearError::Storage),
        })
    }

    async fn answer_approval(
        &mut self,
        answered: ApprovalAnswered,
    ) -> Result<Result<(), ApprovalError>, RunError> {
        let now = self.ports.clock.now();
        let number = answered.approval;
        let is_it = |approval: &Approval| approval.seq == number;
        if !self.state.approvals.waiting(now).any(is_it) {
            return Ok(Err(ApprovalError::NotWaiting(number)));
        }
        self.note_waking();
        let event = Event::ApprovalAnswered(answered);
        Ok(match self.commit(vec![event]).await? {
            Saved::Yes => Ok(()),
            Saved::No => Err(ApprovalError::Storage),
        })
    }

    async fn reset_history(&mut self, reset_by: &str) -> Result<Result<(), ResetError>, RunError> {
        let events = reset_history(&self.state, reset_by);
        Ok(match self.commit_and_go_on(events).await? {
            Saved::Yes => Ok(()),
            Saved::No => Err(ResetError::Storage),
        })
    }

    /// Writes an operator's decision. If the assistant was stopped until now, it decides at once what to do next.
    async fn commit_and_go_on(&mut self, events: Vec<Event>) -> Result<Saved, RunError> {
        let was_stopped = self.state.stop.is_on();
        self.note_waking();
        let saved = self.commit(events).await?;
        if was_stopped && saved == Saved::Yes {
            self.progress.activity = Activity::Idle;
        }
        Ok(saved)
    }

    async fn request_retry(
        &mut self,
        requested_by: String,
    ) -> Result<Result<(), RetryError>, RunError> {
        if !self.state.waits_for_a_model(self.ports.clock.now()) {
            return Ok(Err(RetryError::NotWaiting));
        }
        self.note_waking();
        let event = Event::RetryRequested(RetryRequested { requested_by });
        Ok(match self.commit(vec![event]).await? {
            Saved::Yes => {
                self.progress.activity = Activity::Idle;
                Ok(())
            }
            Saved::No => Err(RetryError::Storage),
        })
    }

    /// Appends an operator's events, if the operator has seen all of its own.
    async fn append(
        &mut self,
        AppendRequest {
            expected, events, ..
        }: AppendRequest,
    ) -> Result<Result<Seq, AppendError>, RunError> {
        let refused = |kind, why: Option<BoxError>| Ok(Err(AppendError::new(kind, why)));
        let doubted = self.progress.doubted.take();
        let is_again = doubted.as_ref() == Some(&(expected, events.clone()));
        self.note_waking();
        // Otherwise an operator who reads the log would not see events that the state already includes.
        if self.flush().await? == Saved::No {
            self.progress.doubted = doubted;
            return match is_again {
                true => refused(AppendErrorKind::Unknown, None),
                false => refused(AppendErrorKind::Storage, None),
            };
        }
        if is_again {
            return Ok(Ok(expected.plus(events.len() as u64)));
        }
        let actual = self.state.seq;
        if expected != actual {
            return refused(AppendErrorKind::Conflict { expected, actual }, None);
        }
        let sent = events.clone();
        let decoded = events.into_iter().map(|event| {
            Event::decode(&StoredEvent {
                seq: actual,
                at: event.at,
                kind: event.kind.to_owned(),
                schema: event.schema,
                payload: event.payload,
            })
        });
        let events: Vec<Event> = match decoded.collect() {
            Ok(events) => events,
            Err(error) => return refused(AppendErrorKind::Unacceptable, Some(error.into())),
        };
        if !events.iter().all(Event::is_by_operator) {
            let why = "only the assistant itself writes such an event";
            return refused(AppendErrorKind::Unacceptable, Some(why.into()));
        }
        let changes_settings = |event: &Event| matches!(event, Event::SettingChanged(_));
        let changes_settings = events.iter().any(changes_settings);
        Ok(match self.commit(events).await? {
            Saved::Yes => {
                if changes_settings {
                    self.read_configuration_again();
                }
                Ok(self.state.seq)
            }
            // They are in the state, and the operator can ask again.
            Saved::No if self.progress.unwritten.is_in_doubt() => {
                self.progress.doubted = Some((expected, sent));
                if changes_settings {
                    self.read_configuration_again();
                }
                Err(AppendError::new(AppendErrorKind::Unknown, None))
            }
            Saved::No => Err(AppendError::new(AppendErrorKind::Storage, None)),
        })
    }
}
