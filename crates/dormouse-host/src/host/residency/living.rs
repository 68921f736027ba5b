//! The life of one assistant from waking until it is put away.

use std::{pin::pin, sync::Arc, time::Duration};

use dormouse_classify::ClassifyConfig;
use dormouse_contracts::{AssistantId, Timestamp};
use dormouse_engine::{Activity, Awaiting, Handle, Skip, State, Status, Switch, gate, next_reason};
use dormouse_memory::Memory;
use tokio::{
    select,
    sync::{Semaphore, broadcast, mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};

use super::{Reply, Resident};
use crate::host::{Running, Shared, Woken, error::HostError};

/// How many accepted messages are kept for a reader who watches them and is slow.
const WATCHED: usize = 256;

/// How long the memory of an assistant that is put away may take to close its file.
const CLOSING: Duration = Duration::from_secs(5);

/// Something that the task of an assistant is asked for.
pub(super) enum Visit {
    /// Somebody wants to keep it awake.
    Stay(Reply),
    /// Somebody looks at it without keeping it awake. Not answered once it is put away.
    Look(oneshot::Sender<Handle>),
    /// It is put away now.
    End,
}

/// What is known of somebody who is put away.
#[derive(Clone, Debug)]
pub(super) struct Rested {
    /// The last delivery of the world that it heard.
    pub(super) heard: u64,
    /// When it wakes by itself, if something is due.
    pub(super) due: Option<Timestamp>,
    /// What a message is to it. Most share one.
    pub(super) classify: Arc<ClassifyConfig>,
    /// What it waits for, if it waits for anything that may happen.
    pub(super) awaiting: Option<Box<Awaiting>>,
    /// Whether it does not live here any more.
    pub(super) is_archived: bool,
}

impl Rested {
    /// What there is to know of an assistant in this state, which wakes under the present configuration: it may be switched on,
    /// pursue other goals or listen to other messages since it lived last.
    pub(super) fn of(shared: &Shared, key: &AssistantId, mut state: State) -> Self {
        let config = shared.config.of(key, &state);
        state.configuration.settings.switch = match config.assistant.enabled {
            true => Switch::Enabled,
            false => Switch::Disabled,
        };
        state.configuration.settings.goals = config.goals.settings();
        let classify = config.classify.config();
        Self {
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

/// How a life ended.
pub(super) struct Left {
    /// `None` if it could not be woken, or has ended by itself.
    pub(super) rested: Option<Rested>,
    /// Visits that came too late.
    pub(super) visits: Vec<Visit>,
}

/// When a put-away assistant in this state has to be woken, if nothing else wakes it.
pub(crate) fn due(state: &State, now: Timestamp) -> Option<Timestamp> {
    match gate(state, now) {
        // Nobody is in a tick who is not awake: it was broken off, by a kill or because it began in the moment of putting away.
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
) -> Left {
    let woken = {
        // The semaphore is never closed.
        let _place = waking.acquire().await.ok();
        shared.prepare(&key).await
    };
    let rested = match woken {
        Ok(woken) => Box::pin(attend(&shared, woken, &mut visits)).await,
        Err(error) => {
            let is_archived = matches!(error, HostError::Archived { .. });
            report(&key, error, &mut visits);
            is_archived.then_some(Rested {
                heard: 0,
                due: None,
                classify: Arc::clone(&shared.classify),
                awaiting: None,
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
        visits: late,
    }
}

/// Tells the first one who asked why it could not be woken. The others try again.
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

/// Lives with visitors until it is at rest long enough, or has to end.
async fn attend(
    shared: &Shared,
    woken: Woken,
    visits: &mut mpsc::UnboundedReceiver<Visit>,
) -> Option<Rested> {
    let (memory, character) = (woken.memory.clone(), woken.character.clone());
    let key = woken.key.clone();
    let (name, slow_after) = (woken.name.clone(), woken.slow_after);
    let accepted = broadcast::Sender::new(WATCHED);
    let watched = accepted.clone();
    let mut running = woken.start(Box::new(move |perception, accepted| {
        if watched.receiver_count() > 0 {
            // The last one may have left just now.
            drop(watched.send((perception.clone(), *accepted)));
        }
        Box::pin(std::future::ready(()))
    }));
    let mut handle = running.handle().clone();
    let mut stays: Option<(mpsc::WeakSender<()>, mpsc::Receiver<()>)> = None;
    // Since when nothing has happened but that somebody looked at it.
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
                    // The caller may have stopped waiting, and then does not stay.
                    drop(reply.send(Ok(resident)));
                }
                Some(Visit::End) | None => return put_away(shared, &key, running).await,
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
    let rested = put_away(shared, &key, running).await;
    // Who wakes it next opens the file of its memory again.
    closed(&key, memory, visits).await;
    rested
}

/// Waits until nobody has the memory open any more. Somebody who comes meanwhile waits for a while, then learns that it
/// cannot be opened.
async fn closed(key: &AssistantId, memory: Memory, visits: &mpsc::UnboundedReceiver<Visit>) {
    let mut closing = pin!(memory.close());
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

/// Lets it end, and returns what has to be known of it until it wakes.
async fn put_away(shared: &Shared, key: &AssistantId, running: Running) -> Option<Rested> {
    // What the world delivers from here on wakes it again.
    running.stop_perceiving();
    let state = running.handle().inspect().await?;
    let pumped = running.pumped().borrow().done;
    running.end().await;
    let rested = Rested::of(shared, key, state);
    Some(Rested {
        // What was ignored is not in the log.
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

/// Whether nothing is under way, and nothing has to be said to people who wait before the next due time.
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
