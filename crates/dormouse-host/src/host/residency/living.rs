//! The life of one assistant from waking until it is put away.

use std::{pin::pin, sync::Arc, time::Duration};

use dormouse_classify::ClassifyConfig;
use dormouse_contracts::{AssistantId, Seq, Timestamp};
use dormouse_engine::{Activity, Awaiting, Handle, Skip, State, Status, Switch, gate, next_reason};
use tokio::{
    select,
    sync::{Semaphore, broadcast, mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};

use super::{Reply, Resident};
use crate::host::{Running, Shared, Woken, error::HostError};

/// How many accepted messages are kept for a slow reader of [`Resident::accepted`].
const WATCHED: usize = 256;

/// How long the memory of an assistant that is put away may take to close its file.
const CLOSING: Duration = Duration::from_secs(5);

/// A memory that is so many events behind the log is closed without writing it. The assistant takes these events in again when it
/// wakes; that is faster than the syncs of a write each time.
const LEFT_BEHIND: u64 = 32;

/// The memory of an assistant that is awake is so many events behind the log on disk, at most.
const BEHIND: u64 = 64;

/// A request to the task of an assistant.
pub(super) enum Visit {
    /// A caller wants to keep it awake.
    Stay(Reply),
    /// Somebody looks at it without keeping it awake. Not answered once it is put away.
    Look(oneshot::Sender<Handle>),
    /// It is put away now.
    End,
}

/// What is kept of an assistant that is put away.
#[derive(Clone, Debug)]
pub(super) struct Rested {
    /// The end of its log.
    pub(super) seq: Seq,
    /// The last delivery of the world that it heard.
    pub(super) heard: u64,
    /// When it wakes by itself, if something is due.
    pub(super) due: Option<Timestamp>,
    /// How it classifies messages. Most assistants share the same value.
    pub(super) classify: Arc<ClassifyConfig>,
    /// The events that its commitments wait for, if there are any.
    pub(super) awaiting: Option<Box<Awaiting>>,
    /// Whether it has given or taken tasks that are not done.
    pub(super) has_tasks: bool,
    /// Whether it is archived, and so no longer a resident.
    pub(super) is_archived: bool,
}

impl Rested {
    /// What to keep of an assistant in this state. It will wake with the present configuration, which may have changed
    /// since it was last awake: it may be switched on, pursue other goals, or answer other messages.
    pub(super) fn of(shared: &Shared, key: &AssistantId, mut state: State) -> Self {
        let config = shared.config.of(key, &state);
        state.configuration.settings.switch = match config.assistant.enabled {
            true => Switch::Enabled,
            false => Switch::Disabled,
        };
        state.configuration.settings.goals = config.goals.settings();
        let classify = config.classify.config();
        Self {
            seq: state.seq,
            has_tasks: state.delegations.open().next().is_some(),
            heard: state.delivered.last(shared.world.id()).unwrap_or_default(),
            due: due(&state, shared.clock.now()),
            awaiting: Awaiting::of(&state).map(Box::new),
            is_archived: state.roster.archived.is_some(),
            classify: match classify == *shared.classify {
                true => Arc::clone(&shared.classify),
                false => Arc::new(classify),
            },
        }
    }
}

/// How the task of an assistant ended.
pub(super) struct Left {
    /// `None` if it could not be woken, or has ended by itself.
    pub(super) rested: Option<Rested>,
    /// Why it could not be woken.
    pub(super) failure: Option<String>,
    /// Visits that came too late.
    pub(super) visits: Vec<Visit>,
}

/// When a put-away assistant in this state has to be woken, if nothing else wakes it.
pub(crate) fn due(state: &State, now: Timestamp) -> Option<Timestamp> {
    match gate(state, now) {
        // An assistant that is not awake has no running tick. So the tick in this state was interrupted, by a kill or
        // because it began while the assistant was put away.
        Ok(_) | Err(Skip::Collision) => Some(now),
        Err(skip) => next_reason(state, skip, now),
    }
}

/// Wakes an assistant and lets it live until it is put away.
pub(super) async fn live(
    shared: Arc<Shared>,
    key: AssistantId,
    mut visits: mpsc::UnboundedReceiver<Visit>,
    waking: Arc<Semaphore>,
    is_one_of_many: bool,
) -> Left {
    let woken = {
        // The semaphore is never closed.
        let _place = waking.acquire().await.ok();
        let behind = if is_one_of_many { BEHIND } else { 0 };
        shared.prepare(&key, behind).await
    };
    let mut failure = None;
    let rested = match woken {
        Ok(woken) => Box::pin(attend(&shared, woken, &mut visits, is_one_of_many)).await,
        Err(error) => {
            let is_archived = matches!(error, HostError::Archived { .. });
            failure = (!is_archived).then(|| dormouse_text::error_chain(&error));
            report(&key, error, &mut visits);
            is_archived.then_some(Rested {
                seq: Seq::ZERO,
                heard: 0,
                due: None,
                classify: Arc::clone(&shared.classify),
                awaiting: None,
                has_tasks: false,
                is_archived,
            })
        }
    };
    visits.close();
    let mut late = Vec::new();
    while let Ok(visit) = visits.try_recv() {
        late.push(visit);
    }
    Left {
        rested,
        failure,
        visits: late,
    }
}

/// Reports to the first caller why the assistant could not be woken. The others try again.
fn report(key: &AssistantId, error: HostError, visits: &mut mpsc::UnboundedReceiver<Visit>) {
    match visits.try_recv() {
        // The caller may have stopped waiting.
        Ok(Visit::Stay(reply)) => drop(reply.send(Err(error))),
        _ => {
            let error = dormouse_text::error_chain(&error);
            tracing::error!(assistant = %key, error, "it cannot be woken; trying again later");
        }
    }
}

/// Handles visits until the assistant has been at rest long enough, or has to end.
async fn attend(
    shared: &Shared,
    woken: Woken,
    visits: &mut mpsc::UnboundedReceiver<Visit>,
    is_one_of_many: bool,
) -> Option<Rested> {
    let (memory, character) = (woken.memory.clone(), woken.character.clone());
    let key = woken.key.clone();
    let (name, slow_after) = (woken.name.clone(), woken.slow_after);
    let accepted = broadcast::Sender::new(WATCHED);
    let watched = accepted.clone();
    let mut running = woken.start(Box::new(move |perception, accepted| {
        if watched.receiver_count() > 0 {
            // The last reader may have left a moment ago.
            drop(watched.send((perception.clone(), *accepted)));
        }
        Box::pin(std::future::ready(()))
    }));
    let mut handle = running.handle().clone();
    let mut stays: Option<(mpsc::WeakSender<()>, mpsc::Receiver<()>)> = None;
    // Since when nothing has happened, except visits that only look at it.
    let mut rested_at: Option<Instant> = None;
    loop {
        let may_leave = stays.is_none() && is_at_rest(&handle.status());
        rested_at = match may_leave {
            true => rested_at.or_else(|| Some(Instant::now())),
            false => None,
        };
        let rested = rested_at.and_then(|at| at.checked_add(shared.put_away_after));
        select! {
            visit = visits.recv() => match visit {
                // The caller may have stopped waiting.
                Some(Visit::Look(reply)) => drop(reply.send(handle.clone())),
                Some(Visit::Stay(reply)) => {
                    let stay = stays.as_ref().and_then(|(stay, _)| stay.upgrade());
                    let stay = stay.unwrap_or_else(|| {
                        let (stay, left) = mpsc::channel(1);
                        stays = Some((stay.downgrade(), left));
                        stay
                    });
                    let resident = Resident {
                        key: key.clone(),
                        handle: handle.clone(),
                        memory: memory.clone(),
                        character: character.clone(),
                        name: name.clone(),
                        world: Arc::clone(&shared.world),
                        slow_after,
                        pumped: running.pumped(),
                        accepted: accepted.clone(),
                        _stay: stay,
                    };
                    // If the caller has stopped waiting, it does not keep the assistant awake.
                    drop(reply.send(Ok(resident)));
                }
                // The host may be closed, so the memory is left for other readers.
                Some(Visit::End) | None => return put_away(shared, &key, running, Running::end).await,
            },
            () = left(&mut stays) => stays = None,
            failed = running.failed() => {
                let error = dormouse_text::error_chain(&failed);
                tracing::error!(assistant = %key, error, "it has ended; it is woken again later");
                return None;
            }
            Some(_) = handle.status_changed() => rested_at = None,
            // A message may have come in the same moment.
            () = until(rested) => {
                if is_at_rest(&handle.status()) {
                    break;
                }
                rested_at = None;
            }
        }
    }
    // Of a few residents, everything is on disk when they are put away: somebody may read their files next.
    let (rested, behind) = match is_one_of_many {
        true => (
            put_away(shared, &key, running, Running::put_away).await,
            LEFT_BEHIND,
        ),
        false => (put_away(shared, &key, running, Running::end).await, 0),
    };
    // The next task of this assistant opens the file of its memory again, so it must be closed here.
    closed(&key, memory.close_behind(behind), visits).await;
    rested
}

/// Waits until nobody has the memory open any more. Visits that come meanwhile wait for a while, and then fail because
/// it cannot be opened.
async fn closed(
    key: &AssistantId,
    closing: impl Future<Output = ()>,
    visits: &mpsc::UnboundedReceiver<Visit>,
) {
    let mut closing = pin!(closing);
    loop {
        if timeout(CLOSING, &mut closing).await.is_ok() {
            return;
        }
        if !visits.is_empty() {
            tracing::warn!(assistant = %key, "somebody keeps its memory open; it cannot be woken meanwhile");
            return;
        }
    }
}

/// Lets it `end`, and returns what to keep of it until it wakes.
async fn put_away<E: Future<Output = ()>>(
    shared: &Shared,
    key: &AssistantId,
    running: Running,
    end: impl FnOnce(Running) -> E,
) -> Option<Rested> {
    // What the world delivers from here on wakes it again.
    running.stop_perceiving();
    let state = running.handle().inspect().await?;
    let pumped = running.pumped().borrow().done;
    end(running).await;
    let rested = Rested::of(shared, key, state);
    Some(Rested {
        // The log does not contain ignored deliveries, so the pump may be ahead of it.
        heard: pumped.max(rested.heard),
        ..rested
    })
}

/// Waits until this moment, for ever without one.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Waits until nobody wants to keep it awake any more.
async fn left(stays: &mut Option<(mpsc::WeakSender<()>, mpsc::Receiver<()>)>) {
    match stays {
        Some((_, left)) => drop(left.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether nothing is under way, and nobody who waits has to be notified before the next due time.
fn is_at_rest(status: &Status) -> bool {
    match &status.activity {
        Activity::Idle
        | Activity::Disabled
        | Activity::Stopped(_)
        | Activity::Asleep {
            is_working: false, ..
        } => true,
        Activity::Waiting(_)
        | Activity::OverBudget { .. }
        | Activity::WorldUnreachable { .. }
        | Activity::Paused(_) => status.waiting == 0 || status.slow_since.is_some(),
        _ => false,
    }
}
