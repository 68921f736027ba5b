//! What a handle asks of a running assistant.

use std::ops::ControlFlow;

use super::{Assistant, RunError, Saved, answer};
use crate::{
    event::{EmergencyStopCleared, EmergencyStopTriggered, Event, RetryRequested, StopCause},
    handle::{ClearError, Command, RetryError, StopError},
    status::Activity,
};

impl Assistant {
    /// Carries out a command, and the commands that were taken from the mailbox with it.
    pub(super) async fn obey(&mut self, mut command: Command) -> Result<ControlFlow<()>, RunError> {
        loop {
            let next = match command {
                Command::Perceive(perception, reply) => self.hear((*perception, reply)).await?,
                Command::Stop(by, reply) => {
                    let stopped = self.stop(by).await?;
                    self.publish();
                    answer(reply, stopped);
                    None
                }
                Command::ClearStop(by, reply) => {
                    let cleared = self.clear_stop(by).await?;
                    self.publish();
                    answer(reply, cleared);
                    None
                }
                Command::Retry(by, reply) => {
                    let requested = self.request_retry(by).await?;
                    self.publish();
                    answer(reply, requested);
                    None
                }
                Command::Inspect(reply) => {
                    self.flush().await?;
                    answer(reply, self.state.clone());
                    None
                }
                Command::Shutdown => return Ok(ControlFlow::Break(())),
            };
            match next {
                Some(next) => command = next,
                None => return Ok(ControlFlow::Continue(())),
            }
        }
    }

    async fn stop(&mut self, stopped_by: String) -> Result<Result<(), StopError>, RunError> {
        if self.state.stop.is_on() {
            return Ok(Err(StopError::AlreadyOn));
        }
        let cause = StopCause::Operator(stopped_by);
        self.note_waking();
        let event = Event::EmergencyStopTriggered(EmergencyStopTriggered { cause });
        Ok(match self.commit(vec![event]).await? {
            Saved::Yes => Ok(()),
            Saved::No => Err(StopError::Storage),
        })
    }

    async fn clear_stop(&mut self, cleared_by: String) -> Result<Result<(), ClearError>, RunError> {
        if !self.state.stop.is_on() {
            return Ok(Err(ClearError::NotActive));
        }
        self.note_waking();
        let event = Event::EmergencyStopCleared(EmergencyStopCleared { cleared_by });
        Ok(match self.commit(vec![event]).await? {
            Saved::Yes => {
                self.progress.activity = Activity::Idle;
                Ok(())
            }
            Saved::No => Err(ClearError::Storage),
        })
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
}
