//! What all requests share.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dormouse_contracts::{AssistantId, Author, Clock, Seq, Timestamp};
use dormouse_engine::{Event, State, append_decided, restore};
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
    problem::{Problem, ProblemCode},
    tokens::TokenStore,
};

/// What all requests share.
pub(crate) type Shared = Arc<Service>;

/// The bounds of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestLimits {
    /// The most bytes of a body.
    pub(crate) body_bytes: usize,
    /// How long headers, or a body, may take to arrive.
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
    /// The remaining requests of each token, and of all callers without one.
    limiters: Mutex<HashMap<String, RateLimiter>>,
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
        streams: usize,
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
            kept: Mutex::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The rate limiter of this token. All callers without a token share one.
    pub(crate) fn limiter(&self, token: &str) -> RateLimiter {
        let mut limiters = lock(&self.limiters);
        let new = || RateLimiter::new(self.limits.rate);
        limiters.entry(token.to_owned()).or_insert_with(new).clone()
    }

    /// The state of an assistant at the end of its log. The assistant is not woken.
    pub(crate) async fn state(&self, key: &AssistantId) -> Result<State, Problem> {
        let state = restore(self.host.log(), key).await?;
        match state.seq {
            Seq::ZERO => Err(unknown(key)),
            _ => Ok(state),
        }
    }

    /// Wakes the assistant. It stays awake while the result is kept.
    pub(crate) async fn awake(&self, key: &AssistantId) -> Result<Resident, Problem> {
        self.exists(key)?;
        Ok(self.host.wake(key).await?)
    }

    /// Checks that an assistant exists. Waking an unknown assistant would create it.
    pub(crate) fn exists(&self, key: &AssistantId) -> Result<Seq, Problem> {
        match self.host.log().end_of(key)? {
            Seq::ZERO => Err(unknown(key)),
            last => Ok(last),
        }
    }

    /// Appends the events that `decide` returns for the state. If the assistant wrote to its log meanwhile, `decide` is
    /// called again. Returns the last event; without events nothing is written.
    pub(crate) async fn change(
        &self,
        key: &AssistantId,
        decide: impl Fn(&State) -> Result<Vec<Event>, Problem>,
    ) -> Result<Option<Seq>, Problem> {
        let resident = self.awake(key).await?;
        let handle = resident.handle();
        let look = || async {
            let ended = || ProblemCode::Unavailable.because("the assistant has ended");
            handle.inspect().await.ok_or_else(ended)
        };
        let decided = append_decided(handle, key, &*self.clock, look, decide).await?;
        Ok((!decided.events.is_empty()).then_some(decided.through))
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
    // If the sender is gone, the service has ended.
    drop(ending.wait_for(|ends| *ends).await);
}

fn unknown(key: &AssistantId) -> Problem {
    ProblemCode::UnknownAssistant.because(format!("there is no assistant {key}"))
}

/// No change under a lock can be left half done, so a poisoned lock does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
