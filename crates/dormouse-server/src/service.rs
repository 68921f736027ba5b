//! What all requests share.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    AppendErrorKind, AppendRequest, AssistantId, Author, Clock, Seq, Timestamp,
};
use dormouse_engine::{Event, State, restore};
use dormouse_host::{Host, Resident, roster::RosterDecision};
use dormouse_resilience::{RateLimit, RateLimiter};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};

use crate::{
    guard::Caller,
    idempotency::Replies,
    metrics::Metrics,
    pages::Invitation,
    problem::{Problem, ProblemCode},
    tokens::TokenStore,
};

/// How often a change is decided again because the assistant wrote to its log meanwhile.
const ATTEMPTS: u32 = 16;

/// What all requests share.
pub(crate) type Shared = Arc<Service>;

/// The bounds of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestLimits {
    /// The most bytes of a body.
    pub(crate) body_bytes: usize,
    /// How long headers, or a body, may take to come.
    pub(crate) patience: Duration,
    /// How long a request waits for an answer of an assistant.
    pub(crate) answer_wait: Duration,
    /// How many requests each token may make.
    pub(crate) rate: RateLimit,
}

/// What all requests share.
pub(crate) struct Service {
    pub(crate) host: Host,
    pub(crate) tokens: TokenStore,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: RequestLimits,
    /// The names under which this service may be called.
    pub(crate) hosts: BTreeSet<String>,
    pub(crate) metrics: Metrics,
    pub(crate) replies: Replies,
    /// Places for streams of events.
    pub(crate) streams: Arc<Semaphore>,
    /// Set when the service ends.
    pub(crate) ending: watch::Receiver<bool>,
    /// What each token, and everybody without one, has left to ask.
    limiters: Mutex<HashMap<String, RateLimiter>>,
    /// Whom the next link signs in.
    pub(crate) invitation: Mutex<Option<Invitation>>,
    /// The name of the cookie of the pages.
    pub(crate) cookie: String,
    /// Requests that are carried out to their end even if the client goes away.
    pub(crate) kept: Mutex<JoinSet<()>>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("hosts", &self.hosts)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Service {
    pub(crate) fn new(
        host: Host,
        clock: Arc<dyn Clock>,
        (limits, hosts): (RequestLimits, BTreeSet<String>),
        (streams, port): (usize, u16),
        ending: watch::Receiver<bool>,
    ) -> Self {
        Self {
            tokens: TokenStore::in_folder(host.folder().path()),
            host,
            clock,
            limits,
            hosts,
            metrics: Metrics::default(),
            replies: Replies::default(),
            streams: Arc::new(Semaphore::new(streams)),
            ending,
            limiters: Mutex::default(),
            invitation: Mutex::default(),
            // Browsers send a cookie to each port of a host.
            cookie: format!("dormouse_{port}"),
            kept: Mutex::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What this token has left to ask; everybody without a token shares one limit.
    pub(crate) fn limiter(&self, token: &str) -> RateLimiter {
        let mut limiters = lock(&self.limiters);
        let new = || RateLimiter::new(self.limits.rate);
        limiters.entry(token.to_owned()).or_insert_with(new).clone()
    }

    /// The state of an assistant at the end of its log. Nobody is woken.
    pub(crate) async fn state(&self, key: &AssistantId) -> Result<State, Problem> {
        let state = restore(self.host.log(), key).await?;
        match state.seq {
            Seq::ZERO => Err(unknown(key)),
            _ => Ok(state),
        }
    }

    /// The assistant, awake as long as this is kept.
    pub(crate) async fn awake(&self, key: &AssistantId) -> Result<Resident, Problem> {
        self.exists(key)?;
        Ok(self.host.wake(key).await?)
    }

    /// Waking somebody whom the log does not know would create it.
    pub(crate) fn exists(&self, key: &AssistantId) -> Result<Seq, Problem> {
        match self.host.log().end_of(key)? {
            Seq::ZERO => Err(unknown(key)),
            last => Ok(last),
        }
    }

    /// Appends the events that `decide` makes of the state, in order with the assistant's own. They are decided again if it wrote
    /// meanwhile. Returns the last event; without events nothing is written.
    pub(crate) async fn change(
        &self,
        key: &AssistantId,
        decide: impl Fn(&State) -> Result<Vec<Event>, Problem>,
    ) -> Result<Option<Seq>, Problem> {
        let resident = self.awake(key).await?;
        let mut attempts = 1;
        loop {
            let state = resident.handle().inspect().await;
            let ended = || ProblemCode::Unavailable.because("the assistant has ended");
            let state = state.ok_or_else(ended)?;
            let events = decide(&state)?;
            if events.is_empty() {
                return Ok(None);
            }
            let now = self.now();
            let events: Result<_, _> = events.iter().map(|event| event.encode(now)).collect();
            let request = AppendRequest {
                assistant: key.clone(),
                expected: state.seq,
                events: events.map_err(|error| Problem::internal(&error))?,
            };
            match resident.handle().append(request).await {
                Ok(seq) => return Ok(Some(seq)),
                Err(error)
                    if matches!(error.kind(), AppendErrorKind::Conflict { .. })
                        && attempts < ATTEMPTS =>
                {
                    attempts += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Caller {
    /// The caller as the author of a change.
    pub(crate) fn author(&self) -> Author {
        Author::Operator(self.token.name.clone())
    }

    /// The same with a reason.
    pub(crate) fn decision(&self, reason: Option<String>, what: &str) -> RosterDecision {
        RosterDecision {
            author: self.author(),
            reason: reason.unwrap_or_else(|| format!("{what} over HTTP")),
        }
    }
}

/// Waits until the service ends.
pub(crate) async fn over(ending: &mut watch::Receiver<bool>) {
    // Without a sender it has ended.
    drop(ending.wait_for(|ends| *ends).await);
}

fn unknown(key: &AssistantId) -> Problem {
    ProblemCode::UnknownAssistant.because(format!("there is no assistant {key}"))
}

/// What was changed under a lock is whole, so a panic elsewhere does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
