//! Carries tasks and their results between the logs of assistants.
//!
//! What is to be carried follows from the two logs alone: what one has and the other lacks. So a carrier that was killed between
//! them goes on where it was, and nothing is carried twice: each log knows the keys of its tasks. Nobody asks again and again: a
//! carrier looks when its assistant wakes, and when that writes an event about tasks.

use std::sync::Arc;

use dormouse_contracts::{
    Append, AppendErrorKind, AppendRequest, AssistantId, EffectKey, ReadEvents, Seq,
};
use dormouse_engine::{
    DelegateCandidate, DelegateChosen, DelegationEnded, DelegationFailure, EndedBy, Event,
    GivenTask, Handle, State, TakenTask, TaskCancelled, TaskCost, TaskEnd, TaskOutcome,
    TaskReceived, choose_delegate,
};

use super::{Host, Shared, error::HostError, residency::Resident};
use crate::{
    roster::{self, RosterError},
    tail::Tail,
};

/// How often something is decided again because the assistant wrote to its log meanwhile.
const ATTEMPTS: u32 = 16;

/// How assistants are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// They are woken, and write their logs themselves.
    Waking,
    /// Nobody is awake, and nobody wakes.
    AtRest,
}

/// Carries what concerns one assistant.
struct Carrier<'a> {
    shared: &'a Arc<Shared>,
    key: &'a AssistantId,
    reach: Reach,
}

/// The way to the log of an assistant.
enum Door {
    /// Through the assistant, which is not put away meanwhile.
    Awake {
        handle: Handle,
        /// Absent for one that does not live here, and is not put away.
        _stay: Option<Resident>,
    },
    /// It is not awake.
    AtRest,
}

/// Carries what concerns an assistant until it ends: first what is left from before, if there is something, then what each event
/// calls for. A failure is logged; it is tried again when the assistant wakes.
pub(super) async fn carry(
    shared: Arc<Shared>,
    key: AssistantId,
    before: Option<Seq>,
    mut events: Tail,
) {
    let carrier = Carrier {
        shared: &shared,
        key: &key,
        reach: Reach::Waking,
    };
    let mut since = before;
    loop {
        if let Some(since) = since
            && let Err(error) = Box::pin(carrier.carry(since)).await
        {
            let error = dormouse_text::error_chain(&error);
            tracing::warn!(assistant = %key, error, "a task of assistants could not be carried; it is tried again later");
        }
        since = loop {
            match events.next().await {
                Ok(Some(recorded)) if is_to_be_carried(&recorded.event) => {
                    break Some(Seq(recorded.seq.0.saturating_sub(1)));
                }
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, assistant = %key, "no task is carried until the assistant is woken again");
                    return;
                }
            }
        };
    }
}

/// Where to begin with what an assistant in this state has left from before; `None` if it has nothing to do with tasks.
pub(super) fn left_from_before(state: &State) -> Option<Seq> {
    let tasks = &state.delegations;
    let is_any = tasks.given().len() + tasks.taken_tasks().len() > 0;
    is_any.then_some(Seq::ZERO)
}

fn is_to_be_carried(event: &Event) -> bool {
    match event {
        Event::TaskDelegated(_) | Event::TaskAnswered(_) => true,
        Event::DelegationEnded(ended) => ended.by == EndedBy::Itself,
        _ => false,
    }
}

impl<W> Host<W> {
    /// Carries the tasks and results of an assistant between the logs while nobody is awake, and returns whose logs have something
    /// new: they have something to do now. For somebody who lets assistants [live through](Host::live_through) one after the other;
    /// those who live here need no help.
    ///
    /// # Errors
    ///
    /// [`HostError`] if a log cannot be read or written. Calling it again goes on.
    pub async fn carry_tasks(&self, key: &AssistantId) -> Result<Vec<AssistantId>, HostError> {
        let carrier = Carrier {
            shared: &self.shared,
            key,
            reach: Reach::AtRest,
        };
        Box::pin(carrier.carry(Seq::ZERO)).await
    }
}

impl Carrier<'_> {
    /// Carries everything that is to be carried, of what ended only what ended after `since`. Returns whose logs have
    /// something new.
    async fn carry(&self, since: Seq) -> Result<Vec<AssistantId>, HostError> {
        let state = self.read(self.key).await?;
        let now = self.shared.clock.now();
        let mut stirred = Vec::new();
        for given in state.delegations.given() {
            // What is too late ends by itself, on both sides.
            if given.delegated.task.expires_at <= now {
                continue;
            }
            match given.ended {
                None => stirred.extend(Box::pin(self.hand_over(given)).await?),
                Some(end) if end.seq > since => stirred.extend(self.call_off(given, end).await?),
                Some(_) => {}
            }
        }
        for taken in state.delegations.taken_tasks() {
            let ended = taken.ended.filter(|end| end.seq > since);
            if ended.is_some() && taken.task.expires_at > now {
                stirred.extend(self.answer(taken).await?);
            }
        }
        Ok(stirred)
    }

    /// Finds somebody for a task, hands it over, and fetches the result if there is one already.
    async fn hand_over(&self, given: &GivenTask) -> Result<Option<AssistantId>, HostError> {
        let delegate = match &given.delegate {
            Some(delegate) => delegate.clone(),
            None => match self.choose(given).await? {
                Ok(delegate) => delegate,
                Err(failure) => return self.end(given.key(), failure).await,
            },
        };
        let there = match self.read(&delegate).await {
            Ok(state) if state.roster.archived.is_none() => state,
            Ok(_) | Err(HostError::Roster(RosterError::Unknown { .. })) => {
                return self.end(given.key(), DelegationFailure::Lost).await;
            }
            Err(error) => return Err(error),
        };
        match there.delegations.taken(given.key()) {
            Some(taken) if taken.is_open() => {
                // It goes on with it, if it was put away by a restart.
                drop(self.door(&delegate).await?);
                Ok(None)
            }
            Some(taken) => match self.outcome(&delegate, taken).await? {
                Some(ended) => self.append_end(self.key, ended).await,
                None => self.end(given.key(), DelegationFailure::Lost).await,
            },
            None => {
                let task = &given.delegated.task;
                let received = |state: &State| {
                    let is_new = state.delegations.taken(&task.key).is_none();
                    is_new.then(|| Event::TaskReceived(TaskReceived { task: task.clone() }))
                };
                self.append(&delegate, received).await
            }
        }
    }

    /// Chooses somebody and writes that down, before anybody else learns of it.
    async fn choose(
        &self,
        given: &GivenTask,
    ) -> Result<Result<AssistantId, DelegationFailure>, HostError> {
        let candidates = self.candidates().await?;
        let delegate = match choose_delegate(&given.delegated, &candidates) {
            Ok(delegate) => delegate.clone(),
            Err(failure) => return Ok(Err(failure)),
        };
        let chosen = |state: &State| {
            let given = state.delegations.given_task(given.key())?;
            (given.is_open() && given.delegate.is_none()).then(|| {
                Event::DelegateChosen(DelegateChosen {
                    key: given.key().clone(),
                    delegate: delegate.clone(),
                })
            })
        };
        self.append(self.key, chosen).await?;
        Ok(Ok(delegate))
    }

    /// Everybody in the log but the assistant itself and those who are archived.
    async fn candidates(&self) -> Result<Vec<DelegateCandidate>, HostError> {
        let mut candidates = Vec::new();
        for (key, _) in self.shared.log.assistants()? {
            if key == *self.key {
                continue;
            }
            let state = self.read(&key).await?;
            if state.roster.archived.is_some() {
                continue;
            }
            let assistant = self.shared.config.read_for(&key, &state).0.assistant;
            let open = state.delegations.taken_tasks();
            candidates.push(DelegateCandidate {
                name: assistant.name(),
                tags: state.roster.tags.iter().cloned().collect(),
                is_stopped: state.stop.is_on(),
                is_asleep: !assistant.enabled,
                tasks: open.filter(|taken| taken.is_open()).count(),
                key,
            });
        }
        Ok(candidates)
    }

    /// Ends a task of the assistant that nobody does.
    async fn end(
        &self,
        key: &EffectKey,
        failure: DelegationFailure,
    ) -> Result<Option<AssistantId>, HostError> {
        let ended = DelegationEnded {
            key: key.clone(),
            by: EndedBy::Carrier,
            outcome: TaskOutcome::Failed(failure),
            took: Some(TaskCost::default()).filter(|_| is_free(failure)),
        };
        self.append_end(self.key, ended).await
    }

    async fn append_end(
        &self,
        whose: &AssistantId,
        ended: DelegationEnded,
    ) -> Result<Option<AssistantId>, HostError> {
        let end = |state: &State| {
            let given = state.delegations.given_task(&ended.key)?;
            // Nobody waits for a late answer any more; the log of the delegate has it.
            given
                .is_open()
                .then(|| Event::DelegationEnded(ended.clone()))
        };
        self.append(whose, end).await
    }

    /// Lets the delegate of a task know that nobody waits for it any more.
    async fn call_off(
        &self,
        given: &GivenTask,
        end: TaskEnd,
    ) -> Result<Option<AssistantId>, HostError> {
        let is_own = matches!(
            end.failure,
            Some(DelegationFailure::Cancelled | DelegationFailure::TimedOut)
        );
        let (Some(delegate), Some(cause), true) = (&given.delegate, end.failure, is_own) else {
            return Ok(None);
        };
        let key = given.key();
        let is_open = |state: &State| {
            let taken = state.delegations.taken(key);
            taken.is_some_and(TakenTask::is_open)
        };
        match self.read(delegate).await {
            Ok(there) if is_open(&there) && there.roster.archived.is_none() => {}
            // Nobody is woken for nothing.
            _ => return Ok(None),
        }
        let cancelled = |state: &State| {
            is_open(state).then(|| {
                Event::TaskCancelled(TaskCancelled {
                    key: key.clone(),
                    cause,
                })
            })
        };
        self.append(delegate, cancelled).await
    }

    /// Carries the answer to a task to the one who gave it.
    async fn answer(&self, taken: &TakenTask) -> Result<Option<AssistantId>, HostError> {
        let Some(from) = taken.from() else {
            return Ok(None);
        };
        let waits = match self.read(from).await {
            Ok(there) => {
                let given = there.delegations.given_task(&taken.task.key);
                given.is_some_and(GivenTask::is_open) && there.roster.archived.is_none()
            }
            Err(HostError::Roster(RosterError::Unknown { .. })) => false,
            Err(error) => return Err(error),
        };
        match self.outcome(self.key, taken).await? {
            Some(ended) if waits => self.append_end(from, ended).await,
            _ => Ok(None),
        }
    }

    /// What the log of a delegate says of the end of a task.
    async fn outcome(
        &self,
        delegate: &AssistantId,
        taken: &TakenTask,
    ) -> Result<Option<DelegationEnded>, HostError> {
        let Some(end) = taken.ended else {
            return Ok(None);
        };
        let before = Seq(end.seq.0.saturating_sub(1));
        let stored = self.shared.log.read(delegate, before, 1).await?;
        let Some(Ok(Event::TaskAnswered(answered))) = stored.first().map(Event::decode) else {
            return Ok(None);
        };
        Ok(Some(DelegationEnded {
            key: answered.key,
            by: EndedBy::Carrier,
            outcome: answered.outcome,
            took: Some(answered.took),
        }))
    }

    async fn read(&self, key: &AssistantId) -> Result<State, HostError> {
        Ok(roster::known(&self.shared.log, key).await?)
    }

    async fn door(&self, key: &AssistantId) -> Result<Door, HostError> {
        if self.reach == Reach::AtRest {
            return Ok(Door::AtRest);
        }
        if let Some(handle) = self.shared.alone(key)
            && handle.inspect().await.is_some()
        {
            return Ok(Door::Awake {
                handle,
                _stay: None,
            });
        }
        let resident = self.shared.wake(key).await?;
        Ok(Door::Awake {
            handle: resident.handle().clone(),
            _stay: Some(resident),
        })
    }

    /// Appends what is decided on the state of an assistant, if anything is. Returns the assistant if something was, and it is
    /// another one.
    async fn append(
        &self,
        key: &AssistantId,
        decide: impl Fn(&State) -> Option<Event>,
    ) -> Result<Option<AssistantId>, HostError> {
        let door = self.door(key).await?;
        let mut attempts = 1;
        loop {
            let state = match &door {
                Door::Awake { handle, .. } => handle.inspect().await.ok_or(HostError::Closed)?,
                Door::AtRest => self.read(key).await?,
            };
            let Some(event) = decide(&state) else {
                return Ok(None);
            };
            let event = event.encode(self.shared.clock.now());
            let request = AppendRequest {
                assistant: key.clone(),
                expected: state.seq,
                events: vec![event.map_err(RosterError::from)?],
            };
            let appended = match &door {
                Door::Awake { handle, .. } => handle.append(request).await,
                Door::AtRest => self.shared.log.append(request).await,
            };
            match appended {
                Ok(_) => return Ok((key != self.key).then(|| key.clone())),
                Err(error)
                    if matches!(error.kind(), AppendErrorKind::Conflict { .. })
                        && attempts < ATTEMPTS =>
                {
                    attempts += 1;
                }
                Err(error) => return Err(RosterError::from(error).into()),
            }
        }
    }
}

/// Whether a task that ended so took nothing, because nobody began with it.
fn is_free(failure: DelegationFailure) -> bool {
    !matches!(
        failure,
        DelegationFailure::Lost | DelegationFailure::TimedOut | DelegationFailure::Cancelled
    )
}
