//! The task that manages the residents.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use dormouse_classify::{ClassifyConfig, MessageVerdict, classify, find_mention};
use dormouse_contracts::{AssistantId, BoxFuture, Perception, SenseErrorKind, Timestamp};
use dormouse_engine::{Awaiting, Handle};
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::{
    select,
    sync::{Semaphore, mpsc, oneshot},
    task::{Id, JoinError, JoinHandle, JoinSet, spawn_blocking},
    time::sleep,
};

use super::{
    FIRST_RETRY, LONGEST_RETRY, Order, Reply, Summary,
    at_rest::{AtRest, RestPlace, WORTH_A_FILE},
    living::{Left, Rested, Visit, live},
    moving_in::Begins,
};
use crate::{host::Shared, pump::pause};

/// How many assistants may be woken at the same time. Waking opens a file and reads a part of the log.
const WAKING: usize = 16;

/// After this many deliveries that call for no answer, an assistant is woken anyway to take them in. It reads each of them from
/// the world again.
const KEPT_IN_WORLD: u64 = 256;

/// All residents of a host.
pub(super) struct Keeper {
    shared: Arc<Shared>,
    residents: BTreeMap<AssistantId, Slot>,
    /// The residents that are put away and wake at a known moment, the earliest first.
    due: BTreeSet<(Timestamp, AssistantId)>,
    /// Each future waits for the world of one resident that is put away.
    listening: FuturesUnordered<BoxFuture<'static, Option<AssistantId>>>,
    living: JoinSet<Left>,
    /// The assistant of each task. Needed after a panic, when the task cannot name its assistant.
    tasks: HashMap<Id, AssistantId>,
    waking: Arc<Semaphore>,
    /// Where residents at rest are kept for the next start; absent until there are enough of them.
    rest: Option<RestPlace>,
    /// How many were put away since these were written.
    unwritten: usize,
}

/// One resident.
struct Slot {
    place: Place,
    /// What the next start needs to know of it, if it is put away and nothing else has to be known.
    at_rest: Option<AtRest>,
    wakes: u64,
    /// How many times in a row it could not be woken, or ended by itself.
    failures: u32,
    /// Why it could not be woken the last time.
    failure: Option<String>,
}

enum Place {
    /// Put away.
    Away {
        due: Option<Timestamp>,
        /// Dropped when it wakes, which cancels the future that waits for its world.
        _listens: Option<oneshot::Sender<()>>,
    },
    /// Awake; its task accepts visits.
    Awake(mpsc::UnboundedSender<Visit>),
    /// Its task accepts no more visits, but has not ended yet. These visits are handled after that.
    Leaving(Vec<Visit>),
}

impl Keeper {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            residents: BTreeMap::new(),
            due: BTreeSet::new(),
            listening: FuturesUnordered::new(),
            living: JoinSet::new(),
            tasks: HashMap::new(),
            waking: Arc::new(Semaphore::new(WAKING)),
            rest: None,
            unwritten: 0,
        }
    }

    /// Manages the residents until the host is closed or dropped.
    pub(super) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Order>) {
        loop {
            let due = self.until(self.due.first().map(|(at, _)| *at));
            select! {
                order = inbox.recv() => match order {
                    None | Some(Order::Close) => break,
                    Some(order) => self.obey(order),
                },
                Some(left) = self.living.join_next_with_id() => self.take_back(left),
                Some(stirred) = self.listening.next() => {
                    if let Some(key) = stirred {
                        self.wake(&key, None);
                    }
                }
                () = due => self.wake_due(),
            }
        }
        // No assistant is woken any more. Dropping the inbox tells callers that the host is closed.
        drop(inbox);
        for slot in self.residents.values() {
            if let Place::Awake(visits) = &slot.place {
                // A task that has already ended does not need the request.
                drop(visits.send(Visit::End));
            }
        }
        while let Some(left) = self.living.join_next_with_id().await {
            match left {
                Ok((id, Left { rested, .. })) => {
                    let slot = self.tasks.remove(&id);
                    let slot = slot.and_then(|key| self.residents.get_mut(&key));
                    if let (Some(slot), Some(rested)) = (slot, rested) {
                        slot.at_rest = AtRest::of(&self.shared, &rested);
                        self.unwritten += 1;
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "an assistant could not be put away properly");
                }
            }
        }
        if self.unwritten > 0
            && let Some(written) = self.write_at_rest()
        {
            // Nothing else is left to do, and a failure is logged there.
            drop(written.await);
        }
    }

    /// Begins to write what the next start needs to know of those at rest; `None` if there are too few residents.
    fn write_at_rest(&mut self) -> Option<JoinHandle<()>> {
        if self.residents.len() < WORTH_A_FILE {
            return None;
        }
        self.unwritten = 0;
        let all = self.residents.iter();
        let all = all.filter_map(|(key, slot)| Some((key.clone(), slot.at_rest?)));
        let all = all.collect();
        let place = self.rest.get_or_insert_with(|| RestPlace::of(&self.shared));
        Some(spawn_blocking(place.write(all)))
    }

    /// Counts one that was put away. Once that are half of all, they are written, so a start after a crash reads few logs.
    fn count_at_rest(&mut self) {
        self.unwritten += 1;
        if 2 * self.unwritten >= self.residents.len().max(2 * WORTH_A_FILE) {
            // A failure is logged there.
            drop(self.write_at_rest());
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::TakeIn(key, begins, reply) => {
                self.take_in(key, begins);
                answer(reply, ());
            }
            Order::Wake(key, reply) => self.wake(&key, Some(reply)),
            Order::LookAt(key, reply) => self.look_at(&key, reply),
            Order::PutAway(key, reply) => {
                self.put_away(&key);
                answer(reply, ());
            }
            Order::List(reply) => answer(reply, self.summaries()),
            // `run` ends the loop on this order.
            Order::Close => {}
        }
    }

    /// An assistant that already lives here stays as it is.
    fn take_in(&mut self, key: AssistantId, begins: Begins) {
        if self.residents.contains_key(&key) {
            return;
        }
        match begins {
            Begins::Awake => self.wake(&key, None),
            Begins::PutAway(rested) => {
                self.put(key, 0, rested);
                self.count_at_rest();
            }
            Begins::AsBefore(rested) => self.put(key, 0, rested),
        }
    }

    /// Puts an awake assistant away now, even if others want to keep it awake.
    fn put_away(&self, key: &AssistantId) {
        if let Some(Slot { place, .. }) = self.residents.get(key)
            && let Place::Awake(visits) = place
        {
            // A task that is already leaving does not need the request.
            drop(visits.send(Visit::End));
        }
    }

    /// Lets somebody look at an assistant that is awake. If it is not awake, the reply is dropped, and it does not
    /// wake.
    fn look_at(&self, key: &AssistantId, reply: oneshot::Sender<Handle>) {
        if let Some(Slot { place, .. }) = self.residents.get(key)
            && let Place::Awake(visits) = place
        {
            // A task that is already leaving drops the request.
            drop(visits.send(Visit::Look(reply)));
        }
    }

    fn summaries(&self) -> Vec<Summary> {
        let summary = |(key, slot): (&AssistantId, &Slot)| Summary {
            key: key.clone(),
            is_awake: !matches!(slot.place, Place::Away { .. }),
            due: match &slot.place {
                Place::Away { due, .. } => *due,
                Place::Awake(_) | Place::Leaving(_) => None,
            },
            wakes: slot.wakes,
            failure: match &slot.place {
                Place::Away { .. } => slot.failure.clone(),
                Place::Awake(_) | Place::Leaving(_) => None,
            },
        };
        self.residents.iter().map(summary).collect()
    }

    /// Wakes an assistant. `reply` goes to a caller that wants to keep it awake.
    fn wake(&mut self, key: &AssistantId, reply: Option<Reply>) {
        let mut visit = reply.map(Visit::Stay);
        let slot = self.residents.entry(key.clone()).or_insert_with(|| Slot {
            place: Place::Away {
                due: None,
                _listens: None,
            },
            at_rest: None,
            wakes: 0,
            failures: 0,
            failure: None,
        });
        slot.at_rest = None;
        match &mut slot.place {
            Place::Awake(visits) => {
                if let Some(visit) = visit.take()
                    && let Err(returned) = visits.send(visit)
                {
                    slot.place = Place::Leaving(vec![returned.0]);
                }
                return;
            }
            Place::Leaving(late) => {
                late.extend(visit);
                return;
            }
            Place::Away { due, .. } => {
                if let Some(due) = due {
                    self.due.remove(&(*due, key.clone()));
                }
            }
        }
        let (visits, taken) = mpsc::unbounded_channel();
        if let Some(visit) = visit {
            // `taken` is still here, so this does not fail.
            drop(visits.send(visit));
        }
        slot.place = Place::Awake(visits);
        slot.wakes += 1;
        let task = live(
            Arc::clone(&self.shared),
            key.clone(),
            taken,
            Arc::clone(&self.waking),
            self.residents.len() >= WORTH_A_FILE,
        );
        let task = self.living.spawn(task);
        self.tasks.insert(task.id(), key.clone());
    }

    fn wake_due(&mut self) {
        let now = self.shared.clock.now();
        while let Some((at, key)) = self.due.first().cloned()
            && at <= now
        {
            self.due.pop_first();
            self.wake(&key, None);
        }
    }

    /// Puts away an assistant whose task has ended, or removes it if it is archived.
    fn take_back(&mut self, left: Result<(Id, Left), JoinError>) {
        let id = left.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(key) = self.tasks.remove(&id) else {
            return;
        };
        let (rested, failure, visits) = match left {
            Ok((
                _,
                Left {
                    rested,
                    failure,
                    visits,
                },
            )) => (rested, failure, visits),
            Err(error) => {
                tracing::error!(%error, assistant = %key, "an assistant's task has died");
                (None, Some("its task has died".to_owned()), Vec::new())
            }
        };
        let slot = self.residents.get_mut(&key);
        let failures = slot.as_ref().map_or(0, |slot| slot.failures);
        let late = match slot.map(|slot| &mut slot.place) {
            Some(Place::Leaving(late)) => std::mem::take(late),
            _ => Vec::new(),
        };
        match rested {
            Some(Rested {
                is_archived: true, ..
            }) => drop(self.residents.remove(&key)),
            Some(rested) => {
                self.put(key.clone(), 0, rested);
                self.count_at_rest();
            }
            None => {
                self.put_failed(key.clone(), failures + 1);
                if let Some(slot) = self.residents.get_mut(&key) {
                    slot.failure = failure;
                }
            }
        }
        // These visits came while it was being put away.
        for visit in visits.into_iter().chain(late) {
            match visit {
                Visit::Stay(reply) => self.wake(&key, Some(reply)),
                Visit::Look(_) | Visit::End => {}
            }
        }
    }

    fn put(&mut self, key: AssistantId, failures: u32, rested: Rested) {
        let at_rest = AtRest::of(&self.shared, &rested);
        let Rested {
            heard,
            due,
            classify,
            awaiting,
            ..
        } = rested;
        let (listens, woken) = oneshot::channel();
        let listen = listen(
            Arc::clone(&self.shared),
            key.clone(),
            heard,
            (classify, awaiting),
            woken,
        );
        self.listening.push(Box::pin(listen));
        self.settle(key, failures, due, Some(listens), at_rest);
    }

    /// Puts away an assistant that could not be woken, or whose task ended by itself. It is woken again only after a
    /// pause, even if deliveries wait in its world.
    fn put_failed(&mut self, key: AssistantId, failures: u32) {
        let pause = FIRST_RETRY.saturating_mul(1 << failures.saturating_sub(1).min(16));
        let due = self.shared.clock.now().plus(pause.min(LONGEST_RETRY));
        self.settle(key, failures, Some(due), None, None);
    }

    fn settle(
        &mut self,
        key: AssistantId,
        failures: u32,
        due: Option<Timestamp>,
        listens: Option<oneshot::Sender<()>>,
        at_rest: Option<AtRest>,
    ) {
        if let Some(due) = due {
            self.due.insert((due, key.clone()));
        }
        let wakes = self.residents.get(&key).map_or(0, |slot| slot.wakes);
        let place = Place::Away {
            due,
            _listens: listens,
        };
        let slot = Slot {
            place,
            at_rest,
            wakes,
            failures,
            failure: None,
        };
        self.residents.insert(key, slot);
    }

    /// Waits until this moment of the host's clock.
    fn until(&self, at: Option<Timestamp>) -> impl Future<Output = ()> + use<> {
        let left = at.map(|at| at.since(self.shared.clock.now()));
        async move {
            match left {
                // A timer of zero length fires only in the next millisecond, and frequent orders could restart it again
                // and again before that.
                Some(Duration::ZERO) => {}
                Some(left) => sleep(left).await,
                None => std::future::pending().await,
            }
        }
    }
}

/// Waits until the world has a delivery that calls for an answer or that a commitment waits for, or `KEPT_IN_WORLD`
/// other deliveries. `None` if the assistant was woken otherwise, or has never been in this world. Deliveries that call
/// for no answer wait in the world: otherwise each arrival would wake everybody in the room.
async fn listen(
    shared: Arc<Shared>,
    key: AssistantId,
    heard: u64,
    (classify, awaiting): (Arc<ClassifyConfig>, Option<Box<Awaiting>>),
    mut woken: oneshot::Receiver<()>,
) -> Option<AssistantId> {
    let character = shared.world.character(&key).ok()?;
    let (mut failures, mut seen) = (0, heard);
    loop {
        let found = select! {
            _woken = &mut woken => return None,
            found = shared.world.await_perceptions(&character, seen) => found,
        };
        match found {
            Ok(perceived) => {
                let last = perceived.last();
                seen = last.map_or(seen, |last| last.attested.delivery.number);
                let is_awaited = |it: &Perception| {
                    awaiting
                        .as_ref()
                        .is_some_and(|awaiting| awaiting.is_met_by(it))
                };
                let calls = |it: &Perception| calls_for_it(it, &key, &classify) || is_awaited(it);
                if perceived.iter().any(calls) || seen.saturating_sub(heard) >= KEPT_IN_WORLD {
                    return Some(key);
                }
            }
            Err(error) if error.kind() == SenseErrorKind::NotPresent => return None,
            Err(error) => {
                tracing::warn!(%error, assistant = %key, "its senses could not be read; trying again");
                let pause: Duration = pause(failures);
                select! {
                    _woken = &mut woken => return None,
                    // Boxed: this future is kept for each resident that is put away, and hardly ever has a pause.
                    () = Box::pin(sleep(pause)) => failures += 1,
                }
            }
        }
    }
}

/// Whether the assistant would begin a turn for this perception.
fn calls_for_it(perception: &Perception, key: &AssistantId, config: &ClassifyConfig) -> bool {
    let mention = find_mention(&perception.words, key);
    classify(&perception.attested, mention, config).verdict == MessageVerdict::Trigger
}

/// Sends an answer. The caller may have stopped waiting for it.
fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    drop(reply.send(value));
}
