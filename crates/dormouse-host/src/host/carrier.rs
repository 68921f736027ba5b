//! Carries tasks and their results between the logs of assistants.
//!
//! The two logs alone decide what to carry: what one log has and the other lacks. So a carrier that was killed in
//! between continues where it stopped, and nothing is carried twice, because each log knows the keys of its tasks.
//! There is no polling: a carrier looks when its assistant wakes, and when its assistant writes an event about tasks.

use std::sync::Arc;

use dormouse_contracts::{Append, AssistantId, EffectKey, ReadEvents, Seq};
use dormouse_engine::{
    DelegateCandidate, DelegateChosen, DelegationEnded, DelegationFailure, EndedBy, Event,
    GivenTask, Handle, ReplayError, State, TakenTask, TaskCancelled, TaskCost, TaskEnd,
    TaskOutcome, TaskReceived, append_decided, choose_delegate,
};
use tokio::{select, time::sleep};

use super::{Host, Shared, error::HostError, residency::Resident};
use crate::{
    pump::pause,
    roster::{self, RosterError},
    tail::Tail,
};

/// How assistants are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// They are woken, and write to their logs themselves.
    Waking,
    /// No assistant is awake, and none is woken.
    AtRest,
}

/// Carries the tasks and results of one assistant.
struct Carrier<'a> {
    shared: &'a Arc<Shared>,
    key: &'a AssistantId,
    reach: Reach,
}

/// Who does a task.
enum Choice {
    /// This assistant. The choice is in the log.
    Somebody(AssistantId),
    Nobody(DelegationFailure),
    /// Nobody: the task is over, or the assistant that gave it is stopped.
    NotNow,
}

/// How to write to the log of an assistant.
enum Door {
    /// Through the awake assistant, which is not put away meanwhile.
    Awake {
        handle: Handle,
        /// Absent for an assistant that is not a resident, because such a one is never put away.
        _stay: Option<Resident>,
    },
    /// It is not awake.
    AtRest,
}

/// Carries for one assistant until it ends: first what is left over from before, then what each new event requires.
/// What could not be carried is tried again after a pause. Until it is carried or too late, it keeps the assistant
/// awake.
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
    let mut due = before;
    let (mut failures, mut stay) = (0, None);
    loop {
        if let Some(since) = due {
            match Box::pin(carrier.carry(since)).await {
                Ok(_) => (due, failures, stay) = (None, 0, None),
                Err(error) => {
                    if failures == 0 {
                        let error = dormouse_text::error_chain(&error);
                        tracing::warn!(assistant = %key, error, "a task of assistants could not be carried; it is tried again");
                    }
                    // A carrier stops with its assistant, so the assistant must stay awake.
                    if stay.is_none() {
                        stay = carrier.door(&key).await.ok();
                    }
                }
            }
        }
        let again = due.map(|_| pause(failures));
        let event = select! {
            event = next_to_carry(&mut events) => event,
            () = sleep(again.unwrap_or_default()), if again.is_some() => {
                failures = failures.saturating_add(1);
                continue;
            }
        };
        match event {
            Ok(Some(seq)) => {
                let before = Seq(seq.0.saturating_sub(1));
                due = Some(due.map_or(before, |since| since.min(before)));
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, assistant = %key, "no task is carried until the assistant is woken again");
                return;
            }
        }
    }
}

/// The next event that requires carrying; `None` if the assistant has ended.
async fn next_to_carry(events: &mut Tail) -> Result<Option<Seq>, ReplayError> {
    while let Some(recorded) = events.next_of(|kind| CARRIED.contains(&kind)).await? {
        if is_to_be_carried(&recorded.event) {
            return Ok(Some(recorded.seq));
        }
    }
    Ok(None)
}

/// From which event an assistant in this state has something left to carry; `None` if it has no open tasks.
pub(super) fn left_from_before(state: &State) -> Option<Seq> {
    let tasks = &state.delegations;
    let is_any = tasks.given().len() + tasks.taken_tasks().len() > 0;
    is_any.then_some(Seq::ZERO)
}

/// The kinds of events that may require carrying.
const CARRIED: [&str; 4] = [
    "task_delegated",
    "task_answered",
    "delegation_ended",
    "emergency_stop_cleared",
];

fn is_to_be_carried(event: &Event) -> bool {
    match event {
        Event::TaskDelegated(_) | Event::TaskAnswered(_) => true,
        Event::DelegationEnded(ended) => ended.by == EndedBy::Itself,
        // A task that was given just before the stop still needs a delegate.
        Event::EmergencyStopCleared(_) => true,
        _ => false,
    }
}

impl<W: ?Sized> Host<W> {
    /// Carries the tasks and results of an assistant between the logs while no assistant is awake. Returns the
    /// assistants whose logs have something new, because they have something to do now. Use it together with
    /// [`Host::live_through`]; residents do not need it.
    ///
    /// # Errors
    ///
    /// [`HostError`] if a log cannot be read or written. Call it again to continue.
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
    /// Carries everything that is open, and the results of tasks that ended after `since`. Returns the assistants whose
    /// logs have something new.
    ///
    /// # Errors
    ///
    /// The first error that occurred. Everything else was carried: an unreadable log does not hold up the other tasks.
    async fn carry(&self, since: Seq) -> Result<Vec<AssistantId>, HostError> {
        let state = self.read(self.key).await?;
        let now = self.shared.clock.now();
        let mut carried = Vec::new();
        for given in state.delegations.given() {
            // An expired task ends by itself in both logs.
            if given.delegated.task.expires_at <= now {
                continue;
            }
            match given.ended {
                None if state.stop.is_on() => {}
                None => carried.push(Box::pin(self.hand_over(given)).await),
                Some(end) if end.seq > since => carried.push(self.call_off(given, end).await),
                Some(_) => {}
            }
        }
        for taken in state.delegations.taken_tasks() {
            let ended = taken.ended.filter(|end| end.seq > since);
            if ended.is_some() && taken.task.expires_at > now {
                carried.push(self.answer(taken).await);
            }
        }
        let stirred = carried.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(stirred.into_iter().flatten().collect())
    }

    /// Finds a delegate for a task, hands the task over, and fetches the result if there is one already.
    async fn hand_over(&self, given: &GivenTask) -> Result<Option<AssistantId>, HostError> {
        let delegate = match &given.delegate {
            Some(delegate) => delegate.clone(),
            None => match self.choose(given).await? {
                Choice::Somebody(delegate) => delegate,
                Choice::Nobody(failure) => return self.end(given.key(), failure).await,
                Choice::NotNow => return Ok(None),
            },
        };
        let there = match self.read(&delegate).await {
            Ok(state) if state.roster.archived.is_none() => state,
            Ok(_) | Err(HostError::Roster(RosterError::Unknown { .. })) => {
                return self.end(given.key(), DelegationFailure::Lost).await;
            }
            Err(error) => return Err(error),
        };
        if there
            .delegations
            .taken(given.key())
            .is_some_and(TakenTask::is_open)
        {
            // If the delegate was put away by a restart, it continues with the task.
            drop(self.door(&delegate).await?);
            return Ok(None);
        }
        match there.delegations.end_of_taken(given.key()) {
            Some(end) => match self.outcome(&delegate, end).await? {
                Some(ended) => self.append_end(self.key, ended).await,
                None => self.end(given.key(), DelegationFailure::Lost).await,
            },
            None => {
                let task = &given.delegated.task;
                let received = |state: &State| {
                    let is_new = !state.delegations.has_taken(&task.key);
                    is_new.then(|| Event::TaskReceived(TaskReceived { task: task.clone() }))
                };
                self.stir(&delegate, received).await
            }
        }
    }

    /// Chooses a delegate, and records the choice before the delegate gets the task.
    async fn choose(&self, given: &GivenTask) -> Result<Choice, HostError> {
        let (candidates, unread) = self.candidates().await?;
        let found = choose_delegate(&given.delegated, &candidates);
        let may_be_meant = |key: &AssistantId| match found {
            Ok(_) => given.delegated.to.as_deref() == Some(key.as_str()),
            Err(failure) => failure == DelegationFailure::NoneFound,
        };
        if let Some((_, error)) = unread.into_iter().find(|(key, _)| may_be_meant(key)) {
            return Err(error);
        }
        let delegate = match found {
            Ok(delegate) => delegate.clone(),
            Err(failure) => return Ok(Choice::Nobody(failure)),
        };
        let is_free = |state: &State| {
            let given = state.delegations.given_task(given.key());
            given.is_some_and(|given| given.is_open() && given.delegate.is_none())
        };
        let chosen = |state: &State| {
            (is_free(state) && !state.stop.is_on()).then(|| {
                Event::DelegateChosen(DelegateChosen {
                    key: given.key().clone(),
                    delegate: delegate.clone(),
                })
            })
        };
        Ok(match self.append(self.key, chosen).await? {
            true => Choice::Somebody(delegate),
            // The task ended meanwhile, or another carrier of the same assistant handles it.
            false => Choice::NotNow,
        })
    }

    /// Returns the possible delegates: all assistants in the log, except this one and archived ones. Returns also those
    /// whose logs cannot be read.
    async fn candidates(
        &self,
    ) -> Result<(Vec<DelegateCandidate>, Vec<(AssistantId, HostError)>), HostError> {
        let (mut candidates, mut unread) = (Vec::new(), Vec::new());
        for (key, _) in self.shared.log.assistants()? {
            if key == *self.key {
                continue;
            }
            let state = match self.read(&key).await {
                Ok(state) if state.roster.archived.is_none() => state,
                Ok(_) => continue,
                Err(error) => {
                    unread.push((key, error));
                    continue;
                }
            };
            let assistant = self.shared.config.read_for(&key, &state).0.assistant;
            let open = state.delegations.taken_tasks();
            candidates.push(DelegateCandidate {
                name: assistant.name(),
                tags: state.roster.tags.iter().cloned().collect(),
                is_stopped: state.stop.is_on(),
                is_asleep: !assistant.enabled || state.sleep.is_asleep(),
                tasks: open.filter(|taken| taken.is_open()).count(),
                key,
            });
        }
        Ok((candidates, unread))
    }

    /// Ends a task for which no delegate was found.
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
            // A late answer is not needed any more. It remains in the log of the delegate.
            given
                .is_open()
                .then(|| Event::DelegationEnded(ended.clone()))
        };
        self.stir(whose, end).await
    }

    /// Informs the delegate that the result of a task is not needed any more.
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
            // An assistant is not woken without a reason.
            Ok(_) | Err(HostError::Roster(RosterError::Unknown { .. })) => return Ok(None),
            Err(error) => return Err(error),
        }
        let cancelled = |state: &State| {
            is_open(state).then(|| {
                Event::TaskCancelled(TaskCancelled {
                    key: key.clone(),
                    cause,
                })
            })
        };
        self.stir(delegate, cancelled).await
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
        let end = taken.ended.map(|end| end.seq).filter(|_| waits);
        match end {
            Some(end) => match self.outcome(self.key, end).await? {
                Some(ended) => self.append_end(from, ended).await,
                None => Ok(None),
            },
            None => Ok(None),
        }
    }

    /// The result of a task that ended with this event in the log of its delegate; `None` if that is not a result.
    async fn outcome(
        &self,
        delegate: &AssistantId,
        end: Seq,
    ) -> Result<Option<DelegationEnded>, HostError> {
        let before = Seq(end.0.saturating_sub(1));
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

    /// Calls [`append`](Self::append). Returns the assistant if something was written and it is not the carrier's own.
    async fn stir(
        &self,
        key: &AssistantId,
        decide: impl Fn(&State) -> Option<Event>,
    ) -> Result<Option<AssistantId>, HostError> {
        let is_written = self.append(key, decide).await?;
        Ok((is_written && key != self.key).then(|| key.clone()))
    }

    /// Decides on the state of an assistant, and appends the resulting events. Returns whether there were any.
    async fn append(
        &self,
        key: &AssistantId,
        decide: impl Fn(&State) -> Option<Event>,
    ) -> Result<bool, HostError> {
        let door = self.door(key).await?;
        let log: &dyn Append = match &door {
            Door::Awake { handle, .. } => handle,
            Door::AtRest => &self.shared.log,
        };
        let look = || async {
            match &door {
                Door::Awake { handle, .. } => handle.inspect().await.ok_or(HostError::Closed),
                Door::AtRest => self.read(key).await,
            }
        };
        let decide = |state: &State| Ok(decide(state).into_iter().collect());
        let decided = append_decided(log, key, &*self.shared.clock, look, decide).await?;
        Ok(!decided.events.is_empty())
    }
}

/// Whether a task that failed in this way used no tokens, because nobody began it.
fn is_free(failure: DelegationFailure) -> bool {
    !matches!(
        failure,
        DelegationFailure::Lost | DelegationFailure::TimedOut | DelegationFailure::Cancelled
    )
}
