//! A model of JetStream, of the network to it, and of what goes wrong with both.
//!
//! It has what the log relies on, and what is known to go wrong: the expected sequence is checked by the leader alone, against
//! what it has stored and what is under way; a proposal that is under way when the leader changes is lost or stored, and its
//! writer hears nothing; a leader that was replaced answers reads for a while; other servers lag behind; records expire by the
//! clock of the leader. With [`Flaws::unchecked`] a proposal of the old leader is stored after the new leader has stored
//! another one, without a check (nats-server #8469).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout_at},
};

use super::random::Dice;
use crate::{
    api::{ATTEMPT, ApiError, ServerError, StreamMessage, StreamRequests},
    frame::{Hash, Sealed},
};

/// The stream of events and the one of hosts.
pub(super) const STREAMS: [&str; 2] = ["LIVES", "HOSTS"];

/// What is wrong with the servers or with the code, so that the simulation has to find it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flaws {
    /// Proposals of an old leader are stored without a check.
    pub(super) unchecked: bool,
    /// Appends name no expected sequence: who has the lease writes.
    pub(super) expects_nothing: bool,
    /// The servers do not know a message again, and the writer does not, either.
    pub(super) new_ids: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) seq: u64,
    pub(super) subject: String,
    pub(super) payload: Bytes,
    at: Instant,
    lifetime: Option<Duration>,
}

#[derive(Clone, Debug)]
struct Proposal {
    stream: usize,
    subject: String,
    payload: Bytes,
    id: Option<Hash>,
    expected: u64,
    lifetime: Option<Duration>,
}

#[derive(Debug, Default)]
struct Stream {
    last: u64,
    messages: Vec<Stored>,
    /// The messages with an id, which the servers know again for longer than a schedule takes.
    ids: BTreeMap<Hash, u64>,
}

/// The way from a host to the servers and back.
#[derive(Clone, Debug)]
struct Way {
    paused_until: Instant,
    /// Until when requests are lost, and until when answers are.
    no_requests_until: Instant,
    no_answers_until: Instant,
}

pub(super) struct State {
    pub(super) dice: Dice,
    streams: [Stream; 2],
    under_way: BTreeMap<u64, Proposal>,
    next_proposal: u64,
    leaderless_until: Instant,
    changed_at: Instant,
    /// How far the leader's clock is ahead of time, or behind it.
    clock: (Duration, Duration),
    ways: Vec<Way>,
    /// In how many of 1,000 cases a request or an answer is lost, or a request comes twice.
    lossy: u64,
    flaws: Flaws,
    /// What happened, as a number: equal schedules have equal ones.
    pub(super) trace: u64,
    pub(super) requests: u64,
    pub(super) leaders: u64,
}

/// The servers, and the requests that are on their way.
#[derive(Clone)]
pub(super) struct Servers {
    state: Arc<Mutex<State>>,
    tasks: Arc<Mutex<JoinSet<()>>>,
}

impl State {
    /// What one of the streams has from a sequence on, without what came in the last `lag`.
    fn seen(
        &self,
        stream: usize,
        from: u64,
        lag: Duration,
    ) -> impl DoubleEndedIterator<Item = &Stored> {
        let messages = &self.streams[stream].messages;
        let first = messages.partition_point(|it| it.seq < from);
        let now = Instant::now();
        messages[first..]
            .iter()
            .filter(move |it| it.at + lag <= now)
    }

    /// The leader removes what has expired by its clock.
    fn expire(&mut self) {
        let (now, (ahead, behind)) = (Instant::now(), self.clock);
        self.streams[1].messages.retain(|it| {
            let expires = it.lifetime.map(|lifetime| it.at + lifetime + behind);
            expires.is_none_or(|at| at >= now + ahead)
        });
    }

    fn is_leaderless(&self) -> bool {
        Instant::now() < self.leaderless_until
    }

    /// By how much the leader's answers may be old.
    fn leader_lag(&mut self) -> Duration {
        let since = Instant::now() - self.changed_at;
        let is_old = since < Duration::from_secs(1) && self.dice.happens(300);
        if is_old { since } else { Duration::ZERO }
    }

    fn store(&mut self, proposal: Proposal) -> u64 {
        let Proposal {
            stream,
            subject,
            payload,
            id,
            lifetime,
            ..
        } = proposal;
        let messages = &mut self.streams[stream];
        messages.last += 1;
        let seq = messages.last;
        if let Some(id) = id {
            messages.ids.insert(id, seq);
        }
        // The stream of hosts keeps the last value of each key.
        if stream == 1 {
            messages.messages.retain(|it| it.subject != subject);
        }
        messages.messages.push(Stored {
            seq,
            subject,
            payload,
            at: Instant::now(),
            lifetime,
        });
        self.note(seq);
        seq
    }

    pub(super) fn note(&mut self, what: u64) {
        let at = self.changed_at.elapsed().as_micros();
        self.trace =
            (self.trace ^ what ^ u64::try_from(at).unwrap()).wrapping_mul(0x0100_0000_01b3);
    }

    /// The leader judges a proposal. Returns the answer, or the number under which the proposal is under way.
    fn propose(&mut self, proposal: Proposal) -> Result<Result<u64, ApiError>, u64> {
        self.requests += 1;
        if self.is_leaderless() {
            return Ok(Err(ApiError::NoResponders));
        }
        self.expire();
        if let Some(id) = proposal.id {
            if let Some(seq) = self.streams[proposal.stream].ids.get(&id) {
                return Ok(Ok(*seq));
            }
            let mut under_way = self.under_way.values();
            if under_way.any(|it| it.id == Some(id)) {
                return Ok(refused(409, 10158));
            }
        }
        let same =
            |it: &&Proposal| (it.stream, &it.subject) == (proposal.stream, &proposal.subject);
        if !self.flaws.expects_nothing || proposal.stream == 1 {
            if self.under_way.values().any(|it| same(&it)) {
                return Ok(refused(400, 10164));
            }
            let mut seen = self.seen(proposal.stream, 0, Duration::ZERO).rev();
            let last = seen.find(|it| it.subject == proposal.subject);
            if last.map_or(0, |it| it.seq) != proposal.expected {
                return Ok(refused(400, 10071));
            }
        }
        self.next_proposal += 1;
        self.under_way.insert(self.next_proposal, proposal);
        Err(self.next_proposal)
    }
}

fn refused<T>(code: u16, err_code: u32) -> Result<T, ApiError> {
    Err(ApiError::Server(ServerError {
        code,
        err_code,
        description: String::new(),
    }))
}

impl Servers {
    pub(super) fn new(seed: u64, hosts: usize, flaws: Flaws) -> Self {
        let now = Instant::now();
        let way = Way {
            paused_until: now,
            no_requests_until: now,
            no_answers_until: now,
        };
        let state = State {
            dice: Dice::new(seed),
            streams: [Stream::default(), Stream::default()],
            under_way: BTreeMap::new(),
            next_proposal: 0,
            leaderless_until: now,
            changed_at: now,
            clock: (Duration::ZERO, Duration::ZERO),
            ways: vec![way; hosts],
            lossy: 0,
            flaws,
            trace: seed,
            requests: 0,
            leaders: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            tasks: Arc::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    pub(super) fn wire(&self, host: usize, stream: usize) -> Wire {
        let servers = self.clone();
        Wire {
            servers,
            host,
            stream,
        }
    }

    pub(super) fn pause(&self, host: usize, time: Duration) {
        self.state().ways[host].paused_until = Instant::now() + time;
    }

    /// Cuts a host off: its requests are lost, or only the answers.
    pub(super) fn cut_off(&self, host: usize, time: Duration) {
        let mut state = self.state();
        let only_answers = state.dice.happens(300);
        let until = Instant::now() + time;
        state.ways[host].no_answers_until = until;
        if !only_answers {
            state.ways[host].no_requests_until = until;
        }
    }

    pub(super) fn set_lossy(&self, per_mille: u64) {
        self.state().lossy = per_mille;
    }

    /// Another server leads. Its clock may be an hour ahead or behind.
    pub(super) fn change_leader(&self, pause: Duration) {
        let mut guard = self.state();
        let state = &mut *guard;
        let now = Instant::now();
        state.leaders += 1;
        state.changed_at = now;
        state.leaderless_until = now + pause;
        let hour = Duration::from_secs(3_600);
        state.clock = match state.dice.below(4) {
            0 => (hour, Duration::ZERO),
            1 => (Duration::ZERO, hour),
            _ => (Duration::ZERO, Duration::ZERO),
        };
        for (_, proposal) in std::mem::take(&mut state.under_way) {
            match state.dice.below(3) {
                0 => {}
                1 if state.flaws.unchecked => {
                    let late = pause + state.dice.millis(1, 4_000);
                    let servers = self.clone();
                    self.spawn(async move {
                        sleep(late).await;
                        servers.state().store(proposal);
                    });
                }
                _ => {
                    state.store(proposal);
                }
            }
        }
    }

    /// From now on nothing goes wrong.
    pub(super) fn calm(&self) {
        let mut state = self.state();
        let now = Instant::now();
        state.lossy = 0;
        state.leaderless_until = now;
        state.clock = (Duration::ZERO, Duration::ZERO);
        for way in &mut state.ways {
            way.paused_until = now;
            way.no_requests_until = now;
            way.no_answers_until = now;
        }
    }

    /// Everything that is stored of one subject of the events.
    pub(super) fn stored(&self, subject: &str) -> Vec<Stored> {
        let state = self.state();
        let messages = state.streams[0].messages.iter();
        messages
            .filter(|it| it.subject == subject)
            .cloned()
            .collect()
    }

    async fn publish(&self, proposal: Proposal) -> Result<u64, ApiError> {
        let number = match self.state().propose(proposal) {
            Ok(answer) => return answer,
            Err(number) => number,
        };
        let time = {
            let mut state = self.state();
            let often = if state.flaws.unchecked { 300 } else { 30 };
            let is_slow = state.dice.happens(often);
            state.dice.millis(1, if is_slow { 1_500 } else { 12 })
        };
        sleep(time).await;
        let stored = {
            let mut state = self.state();
            let proposal = state.under_way.remove(&number);
            let fails = state.lossy > 0 && state.dice.happens(10);
            proposal.map(|it| (state.store(it), fails))
        };
        match stored {
            Some((_, true)) => refused(500, 10077),
            Some((seq, false)) => Ok(seq),
            // The leader has changed meanwhile: nobody answers.
            None => std::future::pending().await,
        }
    }

    async fn find(
        &self,
        stream: usize,
        subject: &str,
        from: Option<u64>,
    ) -> Result<Option<StreamMessage>, ApiError> {
        let mut state = self.state();
        state.requests += 1;
        if state.is_leaderless() {
            return Err(ApiError::NoResponders);
        }
        let lag = state.leader_lag();
        state.expire();
        let mut seen = state.seen(stream, from.unwrap_or(0), lag);
        let found = match from {
            Some(_) => seen.find(|it| it.subject == subject),
            None => seen.rev().find(|it| it.subject == subject),
        };
        Ok(found.map(message))
    }

    async fn batch(
        &self,
        stream: usize,
        subject: &str,
        from: u64,
        count: usize,
    ) -> Result<Vec<StreamMessage>, ApiError> {
        let mut state = self.state();
        state.requests += 1;
        let is_late = state.dice.happens(200);
        let lag = if is_late {
            state.dice.millis(0, 800)
        } else {
            Duration::ZERO
        };
        let all = subject.strip_suffix('>');
        let matches = |it: &&Stored| match all {
            Some(prefix) => it.subject.starts_with(prefix),
            None => it.subject == subject,
        };
        let seen = state.seen(stream, from, lag).filter(matches);
        Ok(seen.take(count).map(message).collect())
    }
}

fn message(stored: &Stored) -> StreamMessage {
    StreamMessage {
        seq: stored.seq,
        subject: stored.subject.clone(),
        payload: stored.payload.clone(),
    }
}

/// The requests of one host for one stream.
#[derive(Clone)]
pub(super) struct Wire {
    servers: Servers,
    host: usize,
    stream: usize,
}

impl Wire {
    /// Waits while the host is paused.
    async fn awake(&self) {
        loop {
            let until = self.servers.state().ways[self.host].paused_until;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    /// How long a request or an answer takes; `None` if it is lost.
    fn delay(&self, is_answer: bool) -> Option<Duration> {
        let mut state = self.servers.state();
        let (now, lossy) = (Instant::now(), state.lossy);
        let way = &state.ways[self.host];
        let cut_off_until = if is_answer {
            way.no_answers_until
        } else {
            way.no_requests_until
        };
        if now < cut_off_until || state.dice.happens(lossy) {
            return None;
        }
        let is_slow = state.dice.happens(lossy);
        Some(state.dice.millis(0, if is_slow { 3_000 } else { 4 }))
    }

    /// Sends a request and waits for the answer. A request that was sent is carried out even if the host dies.
    async fn ask<T, F>(&self, request: impl Fn(Servers) -> F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ApiError>> + Send + 'static,
    {
        self.awake().await;
        let deadline = Instant::now() + ATTEMPT;
        let (reply, answer) = oneshot::channel();
        if let Some(delay) = self.delay(false) {
            let carried_out = request(self.servers.clone());
            self.servers.spawn(async move {
                sleep(delay).await;
                // The host may be dead.
                drop(reply.send(carried_out.await));
            });
            let again = {
                let mut state = self.servers.state();
                let lossy = state.lossy;
                state
                    .dice
                    .happens(lossy)
                    .then(|| state.dice.millis(1, 3_000))
            };
            if let Some(later) = again {
                let carried_out = request(self.servers.clone());
                self.servers.spawn(async move {
                    sleep(later).await;
                    drop(carried_out.await);
                });
            }
        }
        let answer = timeout_at(deadline, answer).await;
        let way = self.delay(true);
        let answer = match (answer, way) {
            (Ok(Ok(answer)), Some(delay)) if Instant::now() + delay < deadline => {
                sleep(delay).await;
                answer
            }
            _ => {
                sleep_until(deadline).await;
                Err(ApiError::Silence(None))
            }
        };
        self.awake().await;
        answer
    }

    async fn propose(&self, proposal: Proposal) -> Result<u64, ApiError> {
        self.ask(move |servers| {
            let proposal = proposal.clone();
            async move { servers.publish(proposal).await }
        })
        .await
    }
}

impl StreamRequests for Wire {
    fn stream(&self) -> &str {
        STREAMS[self.stream]
    }

    fn max_payload(&self) -> usize {
        1024 * 1024
    }

    async fn publish(
        &self,
        subject: &str,
        message: &Sealed,
        expected: u64,
    ) -> Result<u64, ApiError> {
        let knows_ids = !self.servers.state().flaws.new_ids;
        let proposal = Proposal {
            stream: self.stream,
            subject: subject.to_owned(),
            payload: message.bytes.clone().into(),
            id: knows_ids.then_some(message.hash),
            expected,
            lifetime: None,
        };
        self.propose(proposal).await
    }

    async fn put(
        &self,
        subject: &str,
        value: Bytes,
        expected: u64,
        lifetime: Option<Duration>,
    ) -> Result<u64, ApiError> {
        let proposal = Proposal {
            stream: self.stream,
            subject: subject.to_owned(),
            payload: value,
            id: None,
            expected,
            lifetime,
        };
        self.propose(proposal).await
    }

    async fn last(&self, subject: &str) -> Result<Option<StreamMessage>, ApiError> {
        let (stream, subject) = (self.stream, subject.to_owned());
        self.ask(move |servers| {
            let subject = subject.clone();
            async move { servers.find(stream, &subject, None).await }
        })
        .await
    }

    async fn next(&self, subject: &str, from: u64) -> Result<Option<StreamMessage>, ApiError> {
        let (stream, subject) = (self.stream, subject.to_owned());
        self.ask(move |servers| {
            let subject = subject.clone();
            async move { servers.find(stream, &subject, Some(from)).await }
        })
        .await
    }

    async fn batch(
        &self,
        subject: &str,
        from: u64,
        count: usize,
        _bytes: usize,
    ) -> Result<Vec<StreamMessage>, ApiError> {
        let (stream, subject) = (self.stream, subject.to_owned());
        self.ask(move |servers| {
            let subject = subject.clone();
            async move { servers.batch(stream, &subject, from, count).await }
        })
        .await
    }
}
